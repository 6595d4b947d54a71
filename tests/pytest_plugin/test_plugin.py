"""The plugin in sessions of its own, as a user's tests would meet it."""

import json
from fnmatch import fnmatchcase
from xml.etree import ElementTree

import pytest

pytest_plugins = ["pytester"]


def rows(outputs):
    return [{"id": f"row {n}", "output": text, "reference": '{"total": 1}'} for n, text in enumerate(outputs)]  # fmt: skip


def test_an_output_that_passes_passes(session):
    result = session("def test_invoice(evaluate):\n    assert evaluate('{\"total\": 1}', JsonSchema(SCHEMA)).passed is True")  # fmt: skip
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*= evaluations =*", "evaluator *passed*", "json_schema *1 *100.0 %*"]
    )


def test_one_that_does_not_fails_with_the_reason_and_the_difference(session):
    result = session("def test_invoice(evaluate):\n    evaluate('{\"total\": 2}', JsonMatch(), reference={'total': 1})")  # fmt: skip
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *EvaluationFailure: json_match: mismatch: /total 2, expected 1",
            "E * /total  mismatch  2  expected 1",
            "E * output:",
            'E *{"total": 2}',
        ]
    )
    result.stdout.fnmatch_lines(["FAILED *::test_invoice - EvaluationFailure: json_match: *"])
    text = result.stdout.str()
    assert "evaluating.py" not in text  # no frame of ours stands between the test and the reason


def test_a_wrong_call_is_an_error_and_no_failure_of_the_output(session):
    result = session("def test_invoice(evaluate):\n    evaluate('{}', JsonMatch())")
    assert "json_match.py" not in result.stdout.str()  # the test's line is wrong, not ours
    result.stdout.fnmatch_lines(["E *MissingFieldError: json_match needs a reference*"])
    result = session("def test_invoice(evaluate):\n    evaluate('{}')")
    result.stdout.fnmatch_lines(["E *InvalidOptionError: evaluate(output) needs an evaluator*"])
    result = session("def test_invoice(evaluate):\n    evaluate('{}', {'total': 1})")
    result.stdout.fnmatch_lines(["E *InvalidOptionError: expected an Evaluator *"])


UNSCORED = """
from dataclasses import dataclass
from llmeval_integrations import Evaluator, Result
@dataclass(frozen=True)
class Mute(Evaluator):
    def check(self, sample):
        return Result.unscored("nobody can tell")
def test_it(evaluate):
    evaluate("x", Mute())
"""


def test_what_is_unscored_fails_unless_it_is_to_be_skipped(session):
    session(UNSCORED).assert_outcomes(failed=1)
    result = session(UNSCORED, "--llmeval-unscored=skip", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*mute: unscored: nobody can tell"])


def shown(result):
    # The short summary repeats the message, on CI the whole of it, elsewhere its first line.
    return [line for line in result.outlines if line.startswith("E ")]


def test_of_many_differences_the_first_are_shown(session):
    code = "from llmeval_integrations import JsonFields\ndef test_it(evaluate):\n    evaluate({str(n): n for n in range(3000)}, JsonFields(), reference={str(n): -1 for n in range(3000)})"
    result = session(code)
    result.stdout.fnmatch_lines(["E * /19  mismatch  19  expected *", "E * and 2,980 more"])
    result.stdout.no_fnmatch_line("* /20  mismatch *")
    assert len(shown(result)) < 100


ONLY_A_SCORE = UNSCORED.replace('Result.unscored("nobody can tell")', "Result(0.2)")


@pytest.mark.parametrize("unscored", ["fail", "skip"])
def test_a_score_without_a_verdict_fails(session, unscored):
    result = session(ONLY_A_SCORE, f"--llmeval-unscored={unscored}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *mute: gave a score (0.2) and no verdict; use an evaluator with a threshold, such as threshold"])  # fmt: skip


def test_an_async_test_uses_it_as_well(session):
    code = "import anyio\n@pytest.mark.anyio\nasync def test_it(evaluate):\n    await anyio.sleep(0)\n    evaluate('{}', JsonValidity())"  # fmt: skip
    pytest.importorskip("anyio")
    session(code, "-p", "anyio").assert_outcomes(passed=1)


MARKED = """
@pytest.mark.llmeval(data="cases.jsonl", evaluators=[JsonMatch()]{more})
def test_rows(sample):
    pass
"""
GOOD, BAD = '{"total": 1}', '{"total": 2}'


def test_every_row_is_a_test(session):
    result = session(MARKED.format(more=""), "-v", rows=rows([GOOD, BAD, GOOD]))
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*test_rows*row 0*PASSED*"])
    result.stdout.fnmatch_lines(["json_match *3 *66.7 %*"])
    assert "traceback entries are hidden" not in result.stdout.str()


@pytest.mark.parametrize(
    ("rate", "code", "workers"), [(0.75, 0, ()), (0.8, 1, ()), (0.8, 1, ("-n", "2"))]
)
def test_single_rows_may_fail_as_long_as_the_pass_rate_is_reached(session, workers, rate, code):
    if workers:
        pytest.importorskip("xdist")
    marked = MARKED.format(more=f", min_pass_rate={rate}")
    result = session(marked, "-rfx", *workers, rows=rows([GOOD, BAD, GOOD, GOOD]))
    result.assert_outcomes(passed=3, xfailed=1, failed=code)
    assert result.ret == code
    result.stdout.fnmatch_lines(["*allowed by min_pass_rate*/total 2, expected 1*"])
    missed = "test_it.py::test_rows: json_match passed 75.0 %, under min_pass_rate=0.8"
    assert (missed in result.outlines) is (code == 1)
    reported = [line for line in result.outlines if line.startswith("FAILED test_it.py::test_rows")]
    assert len(reported) == code
    assert "[125%]" not in result.stdout.str()


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)])
def test_junit_has_a_missed_pass_rate_as_a_failure(session, pytester, workers):
    if workers:
        pytest.importorskip("xdist")
    marked = MARKED.format(more=", min_pass_rate=0.8")
    session(marked, "--junitxml=junit.xml", *workers, rows=rows([GOOD, BAD]))
    cases = {
        each.get("name"): each
        for each in ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    }
    assert set(cases) == {"test_rows[row 0]", "test_rows[row 1]", "test_rows"}
    assert "passed 50.0 %" in cases["test_rows"].find("failure").get("message")
    assert cases["test_rows[row 1]"].find("failure") is None
    found = {each.get("name"): each.get("value") for each in cases["test_rows[row 1]"].iter("property")}  # fmt: skip
    assert found == {
        "llmeval.json_match.score": "0.0",
        "llmeval.json_match.passed": "False",
        "llmeval.json_match.label": "mismatch",
        "llmeval.json_match.reason": "/total 2, expected 1",
    }


def test_a_missed_pass_rate_is_no_test_to_run_again(session):
    marked = MARKED.format(more=", min_pass_rate=0.8")
    cached = ("-p", "cacheprovider")
    session(marked, *cached, rows=rows([GOOD, BAD])).assert_outcomes(passed=1, xfailed=1, failed=1)
    again = session(marked, *cached, "--lf", rows=rows([GOOD, GOOD]))
    assert "known failure" not in again.stdout.str()
    again.assert_outcomes(passed=2)


def test_no_pass_rate_allows_for_what_is_unscored(session):
    mute = UNSCORED.partition("def test_it")[0]
    marked = mute + MARKED.format(more=", min_pass_rate=0.1").replace("JsonMatch()", "Mute()")
    session(marked, rows=rows([GOOD])).assert_outcomes(failed=2)  # the row, and the rate of none
    both = mute + MARKED.format(more=", min_pass_rate=0.1").replace("[", "[Mute(), ")
    session(both, rows=rows([BAD, GOOD])).assert_outcomes(failed=3)


@pytest.mark.parametrize("rate", [1.0, 0.1])
def test_a_row_for_which_nothing_was_evaluated_fails(session, rate):
    code = MARKED.format(more=f", min_pass_rate={rate}").replace("(sample)", "(sample, evaluate)")
    result = session(code, rows=rows([GOOD, GOOD]))
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["nothing was evaluated: the test takes `evaluate` and does not call it; write evaluate(sample.output)"])  # fmt: skip
    skipped = code.replace("pass\n", "pytest.skip()\n")
    session(skipped, rows=rows([GOOD])).assert_outcomes(skipped=1)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (MARKED.format(more=", min_pass_rat=1"), "*unexpected keyword argument 'min_pass_rat'*"),
        (MARKED.format(more="").replace('data="cases.jsonl", ', ""), "*missing 1 required positional argument: 'data'"),
        (MARKED.format(more=", min_pass_rate=95"), "*min_pass_rate=95 is not *"),
        (MARKED.format(more="").replace("cases.jsonl", "none.jsonl"), "*cannot read *none.jsonl*"),
        (MARKED.format(more="").replace("JsonMatch()", "'json_mach'"), "*did you mean 'json_match'*"),
        (MARKED.format(more="").replace("(sample)", "()"), "*takes `sample`, the row that it is run for*"),
    ],
)  # fmt: skip
def test_a_wrong_marker_says_what_is_wrong(session, code, message):
    result = session(code, rows=rows([GOOD]))
    result.assert_outcomes(errors=1)
    assert any(fnmatchcase(line, f"test_it.py::test_rows: {message}") for line in result.outlines)
    assert ".py:" not in result.stdout.str().replace("test_it.py::test_rows", "")  # no frames


def test_a_row_that_is_none_is_named(session, pytester):
    result = session(MARKED.format(more=""), rows=[{"output": GOOD}, {"text": "x"}])
    assert any("cases.jsonl, row 2" in line for line in [*result.outlines, *result.errlines])


def test_an_output_of_a_model_moves_no_terminal(session):
    result = session("def test_it(evaluate):\n    evaluate('\\x1b[2J\\x1b]0;title\\x07{', JsonValidity())")  # fmt: skip
    assert "\x1b]0;" not in result.stdout.str()


JUDGED = """
from llmeval_integrations.judges import PassFail, load_client
CLIENT = load_client({{"platform": "openai", "name": "m", "base_url": "{url}/v1", "api_key": "sk-1"}})
def test_judged(evaluate):
    evaluate("4", PassFail(CLIENT, question="Is it four, all in all?"))
"""


def test_judges_are_asked_once_and_then_not_at_all(session):
    pytest.importorskip("openai")
    from server import ModelServer, chat

    verdict = {"reasoning": "It is.", "verdict": "Pass", "confidence": "High"}
    with ModelServer() as server:
        server.plays(chat(json.dumps(verdict)))
        code = JUDGED.format(url=server.url)
        for options in (("--llmeval-cache=replies.sqlite",), ("--llmeval-cache=replies.sqlite", "--llmeval-frozen")):  # fmt: skip
            session(code, *options).assert_outcomes(passed=1)
        assert len(server.requests) == 1
        result = session(code, "--llmeval-cache=replies.sqlite", "--llmeval-frozen", "-k", "judged")
        result.assert_outcomes(passed=1)
        changed = code.replace("all in all", "on the whole")
        session(changed, "--llmeval-cache=replies.sqlite", "--llmeval-frozen").assert_outcomes(
            failed=1
        )
        assert len(server.requests) == 1


def test_the_plugin_loads_nothing_of_its_own_before_a_test_needs_it(pytester):
    pytester.makepyfile(
        "import sys\ndef test_it():\n    ours = 'llmeval_integrations.pytest_plugin.'\n"
        "    loaded = {name.removeprefix(ours) for name in sys.modules if name.startswith(ours)}\n"
        "    assert loaded <= {'plugin'}"
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
