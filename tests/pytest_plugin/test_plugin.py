"""The plugin in sessions of pytest, and what counts in their figures."""

import json
import re
from importlib import import_module

import pytest

from llmeval_integrations.runs.numbers import percents
from llmeval_integrations.stats.intervals import Figures, Group, mean_interval, wilson

pytest_plugins = ["pytester"]

# Pytester takes away what a session imports, and second classes would be made.
import_module("llmeval_integrations.pytest_plugin.fixture")
for name in ("json_fields", "json_match", "json_schema", "json_validity"):
    import_module(f"llmeval_integrations.evaluators.{name}")

HEAD = """
import unittest
from dataclasses import dataclass
import pytest
from llmeval_integrations import Evaluator, JsonFields, JsonMatch, JsonSchema, JsonValidity, Result
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
@dataclass(frozen=True)
class Mute(Evaluator):
    def check(self, sample):
        return Result.unscored("nobody can tell") if sample.output == "x" else Result(0.2)
"""


@pytest.fixture
def session(pytester):
    """Write a test file and run it; gives pytest's result."""

    def session(code, *options, rows=()):
        (pytester.path / "test_it.py").write_text(f"{HEAD}{code}")
        (pytester.path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
        quiet = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:langsmith_plugin", *options)
        run = pytester.runpytest_subprocess if "-n" in options else pytester.runpytest_inprocess
        return run(*quiet)

    return session


GOOD, BAD = '{"total": 1}', '{"total": 2}'


def rows(outputs):
    """Give a row for each output; None stands for a row without one."""
    ids = ({"id": f"row {n}", "reference": '{"total": 1}'} for n in range(len(outputs)))
    return [{**row, **({"output": text} if text else {})} for row, text in zip(ids, outputs)]


def one(call):
    """Write a test with one call."""
    return f"def test_invoice(evaluate):\n    {call}"


def marked(evaluators="JsonMatch()", more="", body="evaluate()"):
    """Write a test of every row."""
    return f"""
@pytest.mark.llmeval(data="cases.jsonl", evaluators=[{evaluators}]{more})
def test_rows(sample, evaluate):
    {body}
"""


MANY, RATE = "JsonFields(), reference={str(n): -1 for n in range(3000)}", ", min_pass_rate=0.1"
SESSIONS = [
    # An output passes, or fails with the reason and the difference.
    (one("assert evaluate('{\"total\": 1}', JsonSchema(SCHEMA)).passed is True"), (), (), {"passed": 1},
     ["*= evaluations =*", "evaluator *passed*", "json_schema *100.0 %* 1"]),
    (one("evaluate(sample, JsonValidity())").replace("def test_invoice(", "@pytest.mark.parametrize('sample', ['{}', '[]'])\ndef test_invoice(sample, "), (), (), {"passed": 2}, []),
    (one("evaluate('{\"total\": 2}', JsonMatch(), reference={'total': 1})"), (), (), {"failed": 1},
     ["E *EvaluationFailure: json_match: mismatch: /total 2, expected 1", "E *- /total: 2 is wrong, expected 1",
      "E * output:", 'E *{"total": 2}', "FAILED *::test_invoice - EvaluationFailure: json_match: *"]),
    (one(f"evaluate({{str(n): n for n in range(3000)}}, {MANY})"), (), (), {"failed": 1},
     ["E * - /19: 19 is wrong, expected *", "E * - and * more"]),
    (one("evaluate('\\x1b]0;title\\x07{' + 3000 * ' ', JsonValidity())"), (), (), {"failed": 1}, ["E * ... (3,011 characters)"]),
    # A wrong call is an error of the test.
    (one("evaluate('{}', JsonMatch())"), (), (), {"failed": 1}, ["E *MissingFieldError: json_match needs a reference*"]),
    (one("evaluate()"), (), (), {"failed": 1}, ["E *InvalidOptionError: evaluate() needs an output*"]),
    (one("evaluate('{}', JsonMatch(), referense='{}')"), (), (), {"failed": 1},
     ["E *InvalidOptionError: evaluate has no option 'referense'; did you mean 'reference'*"]),
    (one("evaluate('{}')"), (), (), {"failed": 1}, ["E *InvalidOptionError: evaluate(output) needs an evaluator*"]),
    (one("evaluate('{}', {'total': 1})"), (), (), {"failed": 1}, ["E *InvalidOptionError: expected an Evaluator *"]),
    # What is unscored fails, and so does a score without a verdict.
    (one("evaluate('x', Mute())"), (), (), {"failed": 1}, ["E *mute: unscored: nobody can tell"]),
    (one("evaluate('y', Mute())"), (), (), {"failed": 1},
     ["E *mute: gave a score (0.2) and no verdict; use an evaluator with a threshold, such as threshold"]),
    # Every row is a test.
    (marked(), [GOOD, BAD, GOOD], ("-v",), {"passed": 2, "failed": 1},
     ["*test_rows*row 0*PASSED*", "json_match *66.7 %* 3"]),
    # No pass rate allows for what is unscored, or for a row for which nothing was evaluated.
    (marked("Mute()", RATE), ["x"], (), {"failed": 1}, []),
    (marked("Mute(), JsonMatch()", RATE), ["x", "x"], (), {"failed": 2}, []),
    (marked(more=RATE, body="pass"), [GOOD, GOOD], (), {"failed": 2}, ["nothing was evaluated; write evaluate(sample.output), *"]),
    (marked(body="evaluate(sample)"), [GOOD], (), {"failed": 1}, ["E *a Sample is not an output; pass its output*"]),
    # Pytest gives no rows to a TestCase.
    (marked(body="def test_all(self): pass").replace("def test_rows(sample, evaluate):", "class TestRows(unittest.TestCase):"),
     [GOOD], (), {"failed": 1}, ["nothing was evaluated; *, and no unittest.TestCase"]),
    # a user's test that skips itself, inside the session that is tested
    (marked(body="pytest.skip()"), [GOOD], (), {"skipped": 1}, []),
    # A marker of one parameter gives no rows.
    (one("evaluate('{}', JsonValidity())").replace("def test_invoice(", "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.llmeval('cases.jsonl'))])\ndef test_invoice(n, "), (), (), {"passed": 2}, []),
    # A wrong marker, no rows, and a row that is no sample are errors of the file.
    (marked(), [], (), {"errors": 1}, ["test_it.py::test_rows: *cases.jsonl has no rows"]),
    *((code, [GOOD, None], (), {"errors": 1}, [f"test_it.py::test_rows: {said}"]) for code, said in (
        (marked(more=", min_pass_rat=1"), "*the marker has no option 'min_pass_rat'; did you mean 'min_pass_rate'*"),
        (marked().replace('data="cases.jsonl", ', ""), "*missing 1 required positional argument: 'data'"),
        (marked(more=", min_pass_rate=95"), "*min_pass_rate=95 is not *"),
        (marked().replace("cases.jsonl", "none.jsonl"), "*cannot read *none.jsonl*"),
        (marked("'json_mach'"), "*did you mean 'json_match'*"),
        (marked().replace("sample, ", ""), "*needs the arguments `sample`, which is its row, *"),
        (marked(), "*cases.jsonl, row 2: *"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("code", "outputs", "options", "outcomes", "lines"), SESSIONS)
def test_the_outcome_of_a_session(session, code, outputs, options, outcomes, lines):
    result = session(code, *options, rows=rows(outputs))
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines_random(lines)
    # No frame of ours stands between the test and the reason.
    ours = ("fixture.py", "plugin.py", "json_match.py", "entries are hidden", "\x1b")
    assert not any(each in result.stdout.str() for each in ours)
    assert len([line for line in result.outlines if line.startswith("E ")]) < 100


@pytest.mark.parametrize(
    ("rate", "code", "workers"), [(0.75, 0, ()), (0.8, 1, ()), (0.8, 1, ("-n", "2"))]
)
def test_single_rows_may_fail_if_the_pass_rate_is_reached(session, workers, rate, code):
    test = marked(more=f", min_pass_rate={rate}")
    result = session(test, "-rfx", *workers, rows=rows([GOOD, BAD, GOOD, GOOD]))
    result.assert_outcomes(passed=3, xfailed=1)
    assert result.ret == code
    result.stdout.fnmatch_lines(["*allowed by min_pass_rate*/total 2, expected 1*"])
    missed = "FAILED test_it.py::test_rows: json_match passed 0.75, under min_pass_rate=0.8"
    assert (missed in result.outlines) is (code == 1)


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
        changed = code.replace("all in all", "on the whole")
        kept, frozen = "--llmeval-cache=replies.sqlite", "--llmeval-frozen"
        session(code, kept).assert_outcomes(passed=1)
        session(code, kept, frozen).assert_outcomes(passed=1)
        session(changed, kept, frozen).assert_outcomes(failed=1)
        assert len(server.requests) == 1


def test_the_plugin_loads_its_modules_on_demand(pytester):
    pytester.makepyfile(
        "import sys\ndef test_it():\n    ours = 'llmeval_integrations.pytest_plugin.'\n"
        "    loaded = {name.removeprefix(ours) for name in sys.modules if name.startswith(ours)}\n"
        "    assert loaded == {'plugin'}"
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


OFTEN = marked(more=", min_pass_rate=0.1", body="for _ in range(20 if sample.id == 'row 0' else 1): evaluate()")  # fmt: skip
AGAIN = """
from _pytest.runner import runtestprotocol
def pytest_runtest_protocol(item, nextitem):
    for is_last in (False, False, True):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            report.outcome = "rerun" if report.failed and not is_last else report.outcome
            item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
"""What pytest-rerunfailures does."""

RERUN = """
RUNS = []
def test_it(evaluate):
    RUNS.append(1)
    for _ in RUNS:
        evaluate('[1]' if len(RUNS) == 3 else '[1', JsonValidity())
"""
SUBTESTS = """
def test_it(subtests, evaluate):
    for text in ("[1]", "[", "[2]"):
        with subtests.test(text):
            evaluate(text, JsonValidity())
"""
IN_A_FIXTURE = """
@pytest.fixture
def output(request, evaluate):
    evaluate(request.param, JsonValidity())
    yield request.param
    evaluate("[2]", JsonValidity())
@pytest.mark.parametrize("output", ["[1]", "[1", "{"], indirect=True)
def test_it(output):
    pass
"""
# The fixture `subtests` came with pytest 9, and the plugin takes 8 as well.
NEW = pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="of pytest 9")


def lines_of(result):
    """Give the cells of each line of the summary."""
    lines = [re.split(r" {2,}", line) for line in result.outlines]
    heads = next(number for number, cells in enumerate(lines) if cells[0] == "evaluator")
    return [cells for cells in lines[heads + 1 :] if len(cells) == 5]


@pytest.mark.parametrize(
    ("plugin", "code", "counted"),
    [
        ("", OFTEN, ["json_match 91.3 % 23", "test_it.py::test_rows: json_match 91.3 % 23"]),
        (AGAIN, RERUN, ["json_validity 100.0 % 3"]),
        pytest.param("", SUBTESTS, ["json_validity 66.7 % 3"], marks=NEW),
        ("", IN_A_FIXTURE, ["json_validity 50.0 % 4"]),
    ],
    ids=["a row that is evaluated often", "the last of three runs", "subtests", "a fixture"],
)
def test_an_evaluation_counts_once(session, pytester, plugin, code, counted):
    pytester.makeconftest(plugin)
    result = session(code, rows=rows([GOOD, BAD, GOOD, BAD]))
    assert [f"{name} {rate} {count}" for name, rate, _, _, count in lines_of(result)] == counted


@pytest.mark.parametrize("options", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)])
def test_the_interval_respects_groups(session, options):
    single_rows = [{"output": "[1]" if n % 4 else "["} for n in range(40)]
    grouped = [{**row, "group": n % 8} for n, row in enumerate(single_rows)]
    code = marked("JsonValidity()", ", min_pass_rate=0.5")
    single, grouped = (
        lines_of(session(code, *options, rows=given))[-1] for given in (single_rows, grouped)
    )
    assert grouped[1::3] == single[1::3] == ["75.0 %", "40"]
    again = f"@pytest.mark.parametrize('again', range(5)){code}".replace(
        "sample,", "sample, again,"
    )
    assert lines_of(session(again, *options, rows=single_rows[:8]))[-1] == grouped
    alone, together = wilson(30, 40), mean_interval(Figures.of([1.0] * 30 + [0.0] * 10), [Group(5, 5)] * 6 + [Group(5, 0)] * 2)  # fmt: skip
    assert [single[2], grouped[2]] == [percents(alone), percents(together)]
    assert together[0] < alone[0] < alone[1] < together[1]
