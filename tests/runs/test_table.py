"""A run as a table that no output can forge."""

import re
from dataclasses import dataclass
from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import (
    Evaluator,
    JsonFields,
    JsonMatch,
    JsonValidity,
    LengthPenalty,
    Result,
)
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.stored import read_run
from llmeval_integrations.runs.table import as_text

SAMPLES = [
    {"output": "{}", "reference": "{}"},
    {"output": "{", "reference": "{}"},
    {"output": "[", "reference": "{}"},
    {"output": "{}"},
]


def test_the_table_has_every_figure():
    table = evaluate(SAMPLES, [JsonValidity(), JsonMatch()]).table()
    header, validity, match = (
        re.split(" {2,}", line.strip()) for line in table.splitlines() if line.strip().startswith(("evaluator ", "json_"))
        and (" n " in line or " to " in line)
    )  # fmt: skip
    assert header == [
        "evaluator",
        "n",
        "scored",
        "unscored",
        "errors",
        "mean",
        "pass_rate",
        "pass_rate_ci95",
    ]
    assert validity == ["json_validity", "4", "4", "0", "0", "0.5", "0.5", "0.150 to 0.850"]
    assert match == [
        "json_match",
        "4",
        "3",
        "0",
        "1",
        "0.3333",
        "0.3333",
        "0.061 to 0.792",
    ]


def test_below_stand_defects_and_errors_with_their_counts_and_reasons():
    lines = [
        " ".join(line.split()) for line in evaluate(SAMPLES, [JsonMatch()]).table().splitlines()
    ]
    assert any(line.startswith("json_match truncated 2 Expecting") for line in lines)
    assert any(
        line.startswith("json_match error: MissingFieldError 1 row 4: nothing in") for line in lines
    )


DEFECTS = ["", "{", "[1,]", "{'a': 1}", "{a: 1}", "[True]", "[NaN]", "so", "]"]


@pytest.mark.parametrize(("count", "more"), [(5, []), (6, ["1 kind"]), (9, ["4 kinds"])])
def test_kinds_that_are_not_listed_are_counted(count, more):
    run = evaluate([{"output": text} for text in DEFECTS[:count]], [JsonValidity()])
    assert len(run.findings["json_validity"]) == count
    lines = [" ".join(line.split()) for line in run.table().splitlines()]
    said = [f"json_validity and {kinds} more {kinds.split()[0]}" for kinds in more]
    assert [line for line in lines if " more " in line] == said
    assert [f"and {kinds} more in run.findings" in run._repr_html_() for kinds in more] == [True] * len(more)  # fmt: skip


def test_a_run_without_findings_or_rows_has_a_table_too():
    assert "found" not in evaluate([{"output": "{}"}], [JsonValidity()]).table()
    empty = evaluate([], [JsonValidity()]).table()
    assert empty.split()[-8:] == ["json_validity", "0", "0", "0", "0", "-", "-", "-"]


def test_a_run_prints_as_its_table():
    run = evaluate(SAMPLES, [JsonValidity()])
    assert str(run) == run.table()
    assert repr(run) == "<Run of json_validity over 4 samples>"


@dataclass(frozen=True)
class Repeats(Evaluator):
    """Does the output come back?"""

    def check(self, sample):
        if isinstance(sample.output, dict):
            raise TypeError(sample.output["raise"])
        return Result(0, False, sample.output, sample.output)


HOSTILE = [
    "\x1b[2J\x1b[1;1H\x1b[31mALL PASSED",
    "\x1b]8;;http://example.invalid\x1b\\link\x1b]8;;\x1b\\",
    "json_match 1000 1000 0 0 1\n  forged      9\r  row",
    "a\x08\x08b\x00\x7f\x9b2J",
    "abc\u202egnissap\u2066",
    "\ud800 lone",
    "[bold red]markup[/bold red] [link=x]y[/link] :warning:",
    "\u2028\u2029\x85 line\x0bbreaks\x0c",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", ["label", "error", "name"])
def test_text_from_a_model_is_shown_and_does_not_act(text, place):
    sample = {"output": {"raise": text} if place == "error" else text}
    name = text if place == "name" else "repeats"
    plain = evaluate([{"output": "plain"}], {"repeats": Repeats()}).table()
    table = evaluate([sample], {name: Repeats()}).table()
    assert all(char.isprintable() for char in table.replace("\n", ""))
    table.encode()
    shown = "".join(table.split())
    assert "forged9" not in shown or "\\n" in shown
    if "[bold" in text:
        assert "[boldred]markup[/boldred]" in shown
        assert ":warning:" in shown
    assert [line.strip()[:1] for line in table.splitlines()].count("─") == plain.count("\n ─")


@pytest.mark.parametrize(("cost", "shown"), [(None, "not known"), (0.5, "$0.5000")])
def test_a_cost_that_is_not_known_is_told_with_why(cost, shown):
    taken = dict.fromkeys(("calls", "cached", "failed", "not_asked", "input_tokens", "output_tokens"), 1)  # fmt: skip
    run = evaluate(SAMPLES[:1], [JsonValidity()])
    run.summary["evaluators"]["json_validity"]["judge"] = {**taken, "cost": cost}
    run.summary["judging"] = {**taken, "cost": cost}
    table = " ".join(run.table().split())
    assert f"json_validity 1 1 1 1 1 1 {shown}" in table
    assert ("genai-prices (pip install 'llmeval-integrations[prices]')" in table) is (cost is None)


def test_long_reasons_are_cut():
    table = evaluate([{"output": "x" * 100_000}], [Repeats(), LengthPenalty()]).table()
    assert "x..." in "".join(table.split())
    assert len(table) < 10_000


def test_a_run_that_lacks_samples_says_so(tmp_path):
    run = evaluate(SAMPLES, [JsonValidity()], out=tmp_path / "run")
    assert "incomplete" not in run.table() + read_run(run.out).table()
    (run.out / "summary.json").unlink()
    killed = read_run(run.out)
    said = "4 samples; the run is incomplete: there is no summary.json, so it was killed or is"
    assert said in killed.table()
    assert said in killed._repr_html_()


INVOICE = {"total": 9, "item": {"article_number": "A7"}}
EXTRACTED = [
    {"output": {"total": "9", "item": {"article_number": "B7"}, "note": "-"}, "reference": INVOICE},
    {"output": {"total": 9, "item": {"article_number": "B7"}}, "reference": INVOICE},
    {"output": {"item": {"article_number": "A7"}}, "reference": INVOICE},
    {"output": "{", "reference": INVOICE},
]  # fmt: skip


def fields_at(width, rows=EXTRACTED):
    """Give the lines of the table of fields, for a terminal as wide as this."""
    console = Console(file=StringIO(), width=width, color_system=None)
    lines = as_text(evaluate(rows, [JsonFields()]), console).splitlines()
    assert max(map(len, lines)) <= width
    begin = next(place for place, line in enumerate(lines) if "json_fields:" in line)
    return lines[begin:]


@pytest.mark.parametrize("width", [110, 120])
def test_fields_have_their_figures(width):
    lines = fields_at(width)
    total = next(line for line in lines if line.strip().startswith("/total"))
    figures = ["/total", "4", "1", "0", "2", "1", "0", "1", "0.500", "0.250", "0.333"]
    assert total.split()[:11] == figures
    heads = "leaves match mismatch missing JSON extra type precision recall F1".split()
    assert lines[1].split()[1:11] == heads
    assert "no JSON: those of the missing whose output is unreadable" in " ".join(lines)


def test_a_narrow_terminal_has_the_shares_alone():
    lines = fields_at(80)
    assert lines[1].split()[:6] == ["field", "leaves", "match", "precision", "recall", "F1"]
    total = next(line for line in lines if line.strip().startswith("/total"))
    assert total.split()[:6] == ["/total", "4", "1", "0.500", "0.250", "0.333"]
    assert "no JSON" not in " ".join(lines)
    assert '"9" for 9' in total


def test_kinds_that_no_field_has_take_no_room():
    heads = "field leaves match mismatch precision recall F1 most".split()
    assert fields_at(110, EXTRACTED[1:2])[1].split()[:8] == heads


@pytest.mark.parametrize("count", [7, 8])
def test_fields_that_are_not_listed_are_counted(count):
    rows = [{"output": {}, "reference": {f"f{n}": n for n in range(count)}}]
    more = {7: "and 1 field more in summary.json", 8: "and 2 fields more in summary.json"}
    assert more[count] in " ".join(fields_at(110, rows))


def test_no_head_and_no_figure_is_cut_at_80_columns():
    console = Console(file=StringIO(), width=80, color_system=None)
    figures = as_text(evaluate(EXTRACTED * 100, [JsonFields()]), console).split("json_fields:")[0]
    heads = "evaluator n scored unscored errors mean pass_rate pass_rate_ci95".split()
    assert figures.split()[2 : 2 + len(heads)] == heads
    assert "…" not in figures


def test_a_notebook_shows_the_worst_fields():
    page = evaluate(EXTRACTED, [JsonFields()])._repr_html_()
    assert "<summary>Fields of json_fields</summary>" in page
    cells = ("/total", "4", "1", "0.5", "0.25", "0.3333", "&quot;9&quot; for 9 (1)")
    assert "".join(f"<td>{cell}</td>" for cell in cells) in page


@pytest.mark.parametrize("text", [*HOSTILE, "<script>alert(1)</script>"])
def test_text_in_fields_does_not_act(text):
    run = evaluate([{"output": {text: text}, "reference": {text: "x"}}], {text: JsonFields()})
    assert all(char.isprintable() for char in run.table().replace("\n", ""))
    assert "<script>" not in run._repr_html_()


def test_a_share_of_a_field_is_1_only_where_it_is():
    rows = [{"output": {"v": 1}, "reference": {"v": 1}}] * 5_000
    table = evaluate([*rows, {"output": {"v": 1}, "reference": {"v": 2}}], [JsonFields()]).table()
    line = next(line for line in table.splitlines() if line.strip().startswith("/v"))
    assert line.split()[:7] == ["/v", "5001", "5000", "1", "0.9998", "0.9998", "0.9998"]


def test_long_values_are_cut_so_that_one_sees_where_they_differ():
    name = "Harbour Shipping and Trading Company of "
    rows = [{"output": {"v": f"{name}Boston"}, "reference": {"v": f"{name}Hull"}}]
    lines = fields_at(200, rows)
    [line] = [line for line in lines if line.strip().startswith("/v")]
    assert line.endswith('Boston" for ...ompany of Hull"')
