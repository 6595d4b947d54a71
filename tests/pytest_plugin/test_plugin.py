"""The plugin in sessions of pytest."""

import json
from fnmatch import fnmatchcase

import pytest

pytest_plugins = ["pytester"]

GOOD, BAD = '{"total": 1}', '{"total": 2}'
MARKED = """
import unittest
@pytest.mark.llmeval(data="cases.jsonl", evaluators=[JsonMatch()]{more})
def test_rows(sample, evaluate):
    evaluate()
"""
MUTE = """
from dataclasses import dataclass
from llmeval_integrations import Evaluator, JsonFields, Result
@dataclass(frozen=True)
class Mute(Evaluator):
    def check(self, sample):
        return Result.unscored("nobody can tell") if sample.output == "x" else Result(0.2)
"""
UNCALLED = MARKED.replace("evaluate()\n", "pass\n")
SKIP = ("--llmeval-unscored=skip", "-rs")
NO_VERDICT = "E *mute: gave a score (0.2) and no verdict; use an evaluator with a threshold, such as threshold"  # fmt: skip
NOTHING = "nothing was evaluated; write evaluate(sample.output)"


def rows(outputs):
    return [{"id": f"row {n}", "output": text, "reference": '{"total": 1}'} for n, text in enumerate(outputs)]  # fmt: skip


def one(call):
    """Write a test with one call."""
    return f"{MUTE}def test_invoice(evaluate):\n    {call}"


def marked(evaluators="JsonMatch()", rate=0.1):
    more = f", min_pass_rate={rate}"
    return MUTE + MARKED.format(more=more).replace("JsonMatch()", evaluators)


SESSIONS = [
    # An output passes, or fails with the reason and the difference.
    (one("assert evaluate('{\"total\": 1}', JsonSchema(SCHEMA)).passed is True"), (), (), {"passed": 1},
     ["*= evaluations =*", "evaluator *passed*", "json_schema *1 *100.0 %*"]),
    (one("evaluate(sample, JsonValidity())").replace("def test_invoice(", "@pytest.mark.parametrize('sample', ['{}', '[]'])\ndef test_invoice(sample, "), (), (), {"passed": 2}, []),
    (one("evaluate('{\"total\": 2}', JsonMatch(), reference={'total': 1})"), (), (), {"failed": 1},
     ["E *EvaluationFailure: json_match: mismatch: /total 2, expected 1", "E * /total  mismatch  2  expected 1",
      "E * output:", 'E *{"total": 2}', "FAILED *::test_invoice - EvaluationFailure: json_match: *"]),
    (one("evaluate({str(n): n for n in range(3000)}, JsonFields(), reference={str(n): -1 for n in range(3000)})"), (), (), {"failed": 1},
     ["E * /19  mismatch  19  expected *", "E * and more"]),
    (one("evaluate('\\x1b]0;title\\x07{', JsonValidity())"), (), (), {"failed": 1}, []),
    # A wrong call is an error of the test.
    (one("evaluate('{}', JsonMatch())"), (), (), {"failed": 1}, ["E *MissingFieldError: json_match needs a reference*"]),
    (one("evaluate('{}')"), (), (), {"failed": 1}, ["E *InvalidOptionError: evaluate(output) needs an evaluator*"]),
    (one("evaluate('{}', {'total': 1})"), (), (), {"failed": 1}, ["E *InvalidOptionError: expected an Evaluator *"]),
    # What is unscored fails unless it is to be skipped; a score without a verdict always does.
    (one("evaluate('x', Mute())"), (), SKIP, {"skipped": 1}, ["SKIPPED*mute: unscored: nobody can tell"]),
    (one("evaluate('y', Mute())"), (), SKIP, {"failed": 1}, [NO_VERDICT]),
    # Every row is a test.
    (MARKED.format(more=""), [GOOD, BAD, GOOD], ("-v",), {"passed": 2, "failed": 1},
     ["*test_rows*row 0*PASSED*", "json_match *3 *66.7 %*"]),
    # No pass rate allows for what is unscored, or for a row for which nothing was evaluated.
    (marked("Mute()"), ["x"], (), {"failed": 1}, []),
    (marked("Mute(), JsonMatch()"), ["x", "x"], (), {"failed": 2}, []),
    (UNCALLED.format(more=", min_pass_rate=0.1"), [GOOD, GOOD], (), {"failed": 2}, [NOTHING]),
    # Pytest gives no rows to a TestCase.
    (MARKED.format(more="").replace("def test_rows(sample, evaluate):", "class TestRows(unittest.TestCase):").replace("evaluate()", "def test_all(self): pass"),
     [GOOD], (), {"errors": 1}, ["*marked with llmeval, but it has no row: *does not work in a unittest.TestCase*"]),
    # a user's test that skips itself, inside the session that is tested
    (UNCALLED.format(more="").replace("pass\n", "pytest.skip()\n"), [GOOD], (), {"skipped": 1}, []),
]  # fmt: skip


@pytest.mark.parametrize(("code", "outputs", "options", "outcomes", "lines"), SESSIONS)
def test_the_outcome_of_a_session(session, code, outputs, options, outcomes, lines):
    result = session(code, *options, rows=rows(outputs))
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines_random(lines)
    text = result.stdout.str()
    # No frame of ours stands between the test and the reason.
    assert not any(
        each in text for each in ("fixture.py", "json_match.py", "entries are hidden", "\x1b")
    )
    assert len([line for line in result.outlines if line.startswith("E ")]) < 100


@pytest.mark.parametrize(
    ("rate", "code", "workers"), [(0.75, 0, ()), (0.8, 1, ()), (0.8, 1, ("-n", "2"))]
)
def test_single_rows_may_fail_if_the_pass_rate_is_reached(session, workers, rate, code):
    if workers:
        pytest.importorskip("xdist")
    marked = MARKED.format(more=f", min_pass_rate={rate}")
    result = session(marked, "-rfx", *workers, rows=rows([GOOD, BAD, GOOD, GOOD]))
    result.assert_outcomes(passed=3, xfailed=1)
    assert result.ret == code
    result.stdout.fnmatch_lines(["*allowed by min_pass_rate*/total 2, expected 1*"])
    missed = "FAILED test_it.py::test_rows: json_match passed 75.0 %, under min_pass_rate=0.8"
    assert (missed in result.outlines) is (code == 1)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (MARKED.format(more=", min_pass_rat=1"), "*unexpected keyword argument 'min_pass_rat'*"),
        (MARKED.format(more="").replace('data="cases.jsonl", ', ""), "*missing 1 required positional argument: 'data'"),
        (MARKED.format(more=", min_pass_rate=95"), "*min_pass_rate=95 is not *"),
        (MARKED.format(more="").replace("cases.jsonl", "none.jsonl"), "*cannot read *none.jsonl*"),
        (MARKED.format(more="").replace("JsonMatch()", "'json_mach'"), "*did you mean 'json_match'*"),
        (MARKED.format(more="").replace("sample, ", ""), "*needs the arguments `sample`, which is its row, *"),
    ],
)  # fmt: skip
def test_a_wrong_marker_is_an_error(session, code, message):
    result = session(code, rows=rows([GOOD]))
    result.assert_outcomes(errors=1)
    assert any(fnmatchcase(line, f"test_it.py::test_rows: {message}") for line in result.outlines)
    assert ".py:" not in result.stdout.str().replace("test_it.py::test_rows", "")  # no frames


def test_a_row_without_an_output_is_named(session, pytester):
    result = session(MARKED.format(more=""), rows=[{"output": GOOD}, {"text": "x"}])
    assert any("cases.jsonl, row 2" in line for line in [*result.outlines, *result.errlines])


JUDGED = """
from llmeval_integrations.judges import PassFail, load_client
CLIENT = load_client({{"platform": "openai", "name": "m", "base_url": "{url}/v1", "api_key": "sk-1"}})
def test_judged(evaluate):
    evaluate("4", PassFail(CLIENT, question="Is it four, all in all?"))
"""


def test_a_judge_is_asked_once_and_a_frozen_one_never(session):
    pytest.importorskip("openai")
    from server import ModelServer, chat

    verdict = {"reasoning": "It is.", "verdict": "Pass", "confidence": "High"}
    with ModelServer() as server:
        server.plays(chat(json.dumps(verdict)))
        code = JUDGED.format(url=server.url)
        for options in (("--llmeval-cache=replies.sqlite",), ("--llmeval-cache=replies.sqlite", "--llmeval-frozen")):  # fmt: skip
            session(code, *options).assert_outcomes(passed=1)
        assert len(server.requests) == 1
        changed = code.replace("all in all", "on the whole")
        session(changed, "--llmeval-cache=replies.sqlite", "--llmeval-frozen").assert_outcomes(
            failed=1
        )
        assert len(server.requests) == 1


def test_the_plugin_loads_its_modules_on_demand(pytester):
    pytester.makepyfile(
        "import sys\ndef test_it():\n    ours = 'llmeval_integrations.pytest_plugin.'\n"
        "    loaded = {name.removeprefix(ours) for name in sys.modules if name.startswith(ours)}\n"
        "    assert loaded == {'plugin'}"
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
