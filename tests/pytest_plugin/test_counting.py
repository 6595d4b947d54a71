"""The evaluations that count in a session's figures."""

import re

import pytest

from llmeval_integrations.pytest_plugin.tally import Tallies
from llmeval_integrations.runs.numbers import percents
from llmeval_integrations.stats.intervals import Figures, Group, mean_interval, wilson

pytest_plugins = ["pytester"]

MARKED = """
@pytest.mark.llmeval(data="cases.jsonl", evaluators=[JsonValidity()], min_pass_rate={rate})
def test_rows(sample, evaluate):
"""
IN_PROCESSES = pytest.param(("-n", "2"), marks=pytest.mark.nightly)
ROWS = [{"output": text} for text in ("[1]", "[1", "[2]", "[2")]
OFTEN = (
    MARKED.format(rate=0.9)
    + """
    for _ in range(20 if sample.output == '[1]' else 1):
        evaluate()
"""
)
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
    return [cells for cells in lines[heads + 1 :] if len(cells) == 6]


@pytest.mark.parametrize(
    ("plugin", "code", "counted"),
    [
        ("", OFTEN, ["4", "50.0 %"]),
        (AGAIN, RERUN, ["3", "100.0 %"]),
        pytest.param("", SUBTESTS, ["3", "66.7 %"], marks=NEW),
        ("", IN_A_FIXTURE, ["4", "50.0 %"]),
    ],
    ids=["a row that is evaluated often", "the last of three runs", "subtests", "a fixture"],
)
def test_an_evaluation_counts_once(session, pytester, plugin, code, counted):
    pytester.makeconftest(plugin)
    result = session(code, rows=ROWS)
    names = ["json_validity", *(["test_it.py::test_rows: json_validity"] if code is OFTEN else [])]
    assert [cells[:3] for cells in lines_of(result)] == [[name, *counted] for name in names]
    missed = "FAILED test_it.py::test_rows: json_validity passed 50.0 %, under min_pass_rate=0.9"
    assert (missed in result.outlines) is (code is OFTEN)


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        ([(1.0, True), (1.0, True)], ["1", "100.0 %", "0", "1"]),
        ([(1.0, True), (0.0, False)], ["1", "0.0 %", "0", "0.5"]),
        ([(1.0, True), (None, None)], ["1", "-", "1", "-"]),
        ([(0.0, False), (None, None)], ["1", "0.0 %", "0", "0"]),
        ([(None, None), (None, None)], ["1", "-", "1", "-"]),
        ([(1.0, True), (0.5, None)], ["1", "-", "0", "0.75"]),
        ([(0.5, None)], ["1", "-", "0", "0.5"]),
    ],
)
def test_a_row_passes_if_all_its_evaluations_pass(said, becomes):
    tallies = Tallies()
    tallies.note("test_it[0]", "test_it", [("judge", *each) for each in said], 0.5, None)
    *_, line = tallies.lines()
    _, samples, passed, _, unscored, mean = re.split(r" {2,}", line)
    assert [samples, passed, unscored, mean] == becomes


@pytest.mark.parametrize("options", [(), IN_PROCESSES])
def test_the_interval_respects_groups(session, options):
    rows = [{"output": "[1]" if n % 4 else "[", "group": n % 8} for n in range(40)]
    code = MARKED.format(rate=0.5) + "    evaluate()"
    grouped, single = (
        lines_of(session(code, *options, rows=given))[-1]
        for given in (rows, [{"output": row["output"]} for row in rows])
    )
    assert grouped[1:3] == single[1:3] == ["40", "75.0 %"]
    alone, together = wilson(30, 40), mean_interval(Figures.of([1.0] * 30 + [0.0] * 10), [Group(5, 5)] * 6 + [Group(5, 0)] * 2)  # fmt: skip
    assert [single[3], grouped[3]] == [percents(alone), percents(together)]
    assert together[0] < alone[0] < alone[1] < together[1]
