"""The content of reports of runs and comparisons, and how a terminal lays it out."""

import re
from io import StringIO
from itertools import cycle
from pathlib import Path

import pytest
from rich.console import Console
from scripted import Scripted

from llmeval_integrations import (
    ExactMatch,
    JsonFields,
    JsonGrounded,
    JsonValidity,
    ToolCalls,
    compare,
    evaluate,
)
from llmeval_integrations.judges import Classification
from llmeval_integrations.reports.comparison_view import comparison_view
from llmeval_integrations.reports.run_view import view_of_run
from llmeval_integrations.reports.terminal import as_text
from llmeval_integrations.reports.view import Cell, Column, Section, View
from llmeval_integrations.runs import read_run


def section(view, name):
    """Give a section's rows, each a mapping from the heads to the texts."""
    [found] = [each for each in view.sections if each.name == name]
    heads = [column.head for column in found.columns]
    return [dict(zip(heads, (cell.text for cell in row), strict=True)) for row in found.rows]


def tries(*passes):
    """Give three tries of each task, so many of which pass."""
    return [
        {"id": f"t{n}.{k}", "output": "1" if k < count else "x", "group": n}
        for n, count in enumerate(passes)
        for k in range(3)
    ]


LISTED = {"v": 1, "list": [*range(50)]}
OUTPUTS = [*({**LISTED, "v": n} for n in range(3)), {"v": 1, "list": []}, "{"]
RANKED = [{"output": each, "reference": LISTED} for each in OUTPUTS]
ONE, TWO = [{"name": "right"}], [{"name": "right"}, {"name": "wrong"}]
CALLS = [{"output": TWO, "reference": ONE}, {"output": ONE, "reference": TWO}]
LETTER = {"vendor": "Harbour Ltd", "due": 30, "paid": True}
LETTERS = [
    {"input": f"Harbour Ltd, 5 January: {total} EUR in 30 days", "reference": {**LETTER, "total": total}, "output": {**LETTER, "total": total, **wrong}}
    for total, wrong in zip(range(1000, 1012), cycle(({}, {"total": 30}, {"vendor": "Acme", "total": 30}, {"paid": False})))
]  # fmt: skip
NOTES = [{"output": each} for each in ("I like it", "I like her", "I like him", "No")]
MODEL = Scripted(lambda request: "warm" if "like" in request.messages[-1].text else "cold")
TONE = [Classification("tone", MODEL, "{output}", ["warm", "cold"])]
FIELDS, GROUNDED = JsonFields(), [JsonFields(), JsonGrounded()]
TRIES, VALIDITY = tries(3, 3, 1, 2, 0), {"valid": JsonValidity()}
XS, YS = "x" * 50, "y" * 50
LONG = [{"output": dict.fromkeys("abc", XS), "reference": dict.fromkeys("abc", YS)}]
SECTIONS = [
    (LONG, [FIELDS], "causes", f"""
        cause    | example
        mismatch | /a "{XS}", expected "{YS}"; /b "{XS}", expected "{YS[:10]}..."""),
    # An array that is wrong in many places of one sample comes behind a value of two; what is
    # missing because an output is not JSON is not counted.
    (RANKED, [FIELDS], "fields", """
        field   | wrong | of | missing
        /v      | 2     | 4  | 0
        /list/* | 1     | 4  | 50"""),
    (LETTERS, GROUNDED, "fields", """
        field   | invented | misread
        /total  | 0        | 6
        /paid   | 0        | 0
        /vendor | 3        | 0
        /due    | 0        | 0"""),
    (CALLS, [ToolCalls()], "tools", """
        tool  | called | expected | right | F1
        wrong | 1      | 1        | 0     | 0.0 %
        right | 2      | 2        | 2     | 100.0 %"""),
    (NOTES, TONE, "judges", """
        judge | calls | failed | input tokens | output tokens | cost
        tone  | 4     | 0      | 40           | 20            | not known"""),
    (NOTES, TONE, "labels", """
        label | rows | share
        warm  | 3    | 75.0 %
        cold  | 1    | 25.0 %"""),
    (TRIES, VALIDITY, "repeats", """
        k | pass@k | pass^k
        1 | 60.0 % | 60.0 %
        2 | 73.3 % | 46.7 %
        3 | 80.0 % | 40.0 %"""),
    (TRIES, VALIDITY, "flaky", """
        group | passed | of
        2     | 1      | 3
        3     | 2      | 3"""),
    (LETTERS, GROUNDED, "grounding", """
        field   | not in the source | of | by chance
        /vendor | 3                 | 12 | –
        /due    | 0                 | 12 | 100.0 %
        /total  | 0                 | 12 | 50.0 %"""),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "evaluators", "name", "expected"), SECTIONS)
def test_a_section_of_a_run(rows, evaluators, name, expected, tmp_path):
    found = section(view_of_run(evaluate(rows, evaluators, out=tmp_path / "run")), name)
    heads, *lines = (
        [each.strip() for each in line.split("|")] for line in expected.splitlines()[1:]
    )
    assert [[row[head] for head in heads] for row in found] == lines


def test_a_run_without_rows_that_is_read_again_has_no_verdict(tmp_path):
    evaluate([], JsonValidity(), out=tmp_path / "run")
    assert view_of_run(read_run(tmp_path / "run")).verdict.text == "No evaluator gave a verdict."


VERDICTS = [
    (NOTES, TONE, "No evaluator gave a verdict.", ""),
    (LETTERS, GROUNDED, "25.0 % of 12 samples pass json_fields, the lowest rate. 9 wrong values: 3 not in the source (invented), 6 in it (misread).", "bad"),
    ([{"output": "x"}] * 3, [JsonFields(), ExactMatch()], "Left out of rates: 6 rows without a result.", ""),
    # The label `empty` means invalid JSON only where an evaluator reads JSON.
    ([{"output": text, "reference": "x"} for text in [*"xxxxxxxxx", ""]], [ExactMatch()], "90.0 % of 10 samples pass exact_match.", "good"),
    ([{"output": "x", "reference": "x"}], [ExactMatch()], "100.0 % of 1 sample passes exact_match.", "good"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "evaluators", "said", "tone"), VERDICTS)
def test_the_verdict_of_a_run(rows, evaluators, said, tone):
    assert view_of_run(evaluate(rows, evaluators)).verdict == Cell(said, tone)


def test_doubts_stand_in_the_view_of_a_run_and_of_a_comparison():
    rows = [{"id": f"t{n // 2}.{n % 2}", "output": "x", "reference": "x"} for n in range(40)]
    run = evaluate(rows, ExactMatch())
    for warnings in (view_of_run(run).warnings, comparison_view(compare(run, run)).warnings):
        assert any("look like repeats of one task" in each for each in warnings)


@pytest.mark.parametrize(
    ("samples", "said", "waiting"),
    [(3, "not shown: 3 of 299 needed", 6), (400, "0.9: 400 values (50.0%) are accepted", 400)],
)
def test_values_below_the_threshold_are_listed_for_review(samples, said, waiting):
    ones = {"a": 1, "b": 1}
    outputs = [{**ones, "b": n, "_sure": {"/a": 0.9, "/b": 0.4}} for n in range(samples)]
    outputs[2]["_sure"]["/b"] = 0.1
    rows = [{"id": f"s{n}", "output": each, "reference": ones} for n, each in enumerate(outputs)]
    fields = JsonFields(confidence="/_sure", fields={"/_sure": {"ignore": True}})
    view = view_of_run(evaluate(rows, [fields]))
    [queue] = [each for each in view.sections if each.name == "review"]
    assert section(view, "review")[0] == {"sample": "s2", "field": "/b", "confidence": "0.100"}
    assert queue.rows[0][0].filter == {"evaluator": "json_fields", "sample": "s2"}
    assert len(queue.rows) + queue.left_out == waiting
    assert said in queue.note


RIGHT = {"line_items": [{"sku": 1, "amount_without_tax": "few"}], "recommended_bibliography": "x"}
WRONG = {**RIGHT, "line_items": [{"sku": 1, "amount_without_tax": "many"}]}
OLD = [{"id": f"s{n:02}", "output": RIGHT, "reference": RIGHT} for n in range(40)]
NEW = [{**row, "output": WRONG} for row in OLD[:25]] + OLD[25:]


def compared(old, new, evaluators=VALIDITY):
    return compare(*(evaluate(rows, evaluators) for rows in (old, new)))


@pytest.fixture(scope="module")
def views():
    """The views of a run and of a comparison in which the run is worse."""
    evaluators = [JsonValidity(), JsonFields()]
    comparison = comparison_view(compared(OLD, NEW, evaluators), changes=3)
    return view_of_run(evaluate(NEW, evaluators)), comparison


def test_a_comparison_is_printed_as_in_the_file_beside(views):
    golden = Path(__file__).parent / "golden" / "comparison.txt"
    assert at(140, views[1]) == golden.read_text("utf-8").splitlines()
    better = comparison_view(compared(NEW, OLD, [FIELDS]))
    assert (views[1].verdict.tone, better.verdict.tone) == ("bad", "good")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (OLD, OLD, "No difference is significant. 40 samples can show"),
        (tries(*[3, 1] * 10), tries(*[2, 2] * 10), "60 samples in 20 groups can show differences from about 21 points (80 % power)."),
        (tries(3), tries(1), "3 samples in 1 group can show no difference of valid."),
    ],
)  # fmt: skip
def test_without_a_difference_the_verdict_names_the_detectable_one(old, new, said):
    assert said in comparison_view(compared(old, new)).verdict.text


FIGURE = re.compile(r"[-+±<]?[\d.,]+( %| points)?( to .*)?")


def at(width, view, **options):
    return as_text(view, Console(file=StringIO(), width=width, **options)).splitlines()


def test_no_figure_and_no_word_is_cut_at_any_width(views):
    for view in views:
        whole = {cell.text for section in view.sections for row in section.rows for cell in row}
        for width in range(60, 160):
            lines = at(width, view)
            assert max(map(len, lines)) <= width
            assert not any(line.startswith("%") for line in lines)
            parts = {part for line in lines for part in re.split(" {2,}", line)}
            assert {part for part in parts if FIGURE.fullmatch(part)} <= whole, width
            assert {"100.0 %", "37.5 %"} <= parts


def test_names_break_after_slashes_and_underscores_and_long_texts_are_cut_between_words():
    """East Asian characters are two columns wide."""
    rows = [
        {"a": "/line_items/*/amount", "b": "json_validity pass rate", "c": "recommended_bibliography"},
        {"a": "漢字" * 5, "b": "", "c": "日本語 テキスト です " * 40},
        {"a": "/", "b": "json_fields /items/amount", "c": "//"},
    ]  # fmt: skip
    columns = [Column(key, key, kind=kind) for key, kind in zip("abc", ("name", "name", "text"))]
    view = View("t", Cell("v"), [Section.of("s", "S", columns, rows)])
    assert at(46, view)[6:] == [
        "/line_items/*/  json_validity   recommended_",
        "amount          pass rate       bibliography",
        "漢字漢字漢字漢                  日本語",
        "字漢字                          テキスト です",
        "                                日本語",
        "                                テキスト...",
        "/               json_fields     //",
        "                /items/amount",
    ]
    rows = [{"a": "inv-2026-11-28-2", "b": "words " * 9, "c": "words " * 9}]
    columns = [Column(key, key, kind=kind) for key, kind in zip("abc", ("name", "text", "text"))]
    view = View("t", Cell("v"), [Section.of("s", "S", columns, rows)])
    assert at(48, view)[6].startswith("inv-2026-11-28-2  words ")
    columns = [Column("found by", "a", kind="name"), Column("example", "b", kind="text")]
    view = View("t", Cell("v"), [Section.of("s", "S", columns, [{"a": "x", "b": "y"}])])
    assert at(60, view)[4] == "found by  example"


def test_columns_and_rows_without_room_are_left_out(views):
    run, comparison = views
    heads = [line.split() for width in (130, 60) for line in at(width, run) if line[:5] == "field"]
    assert heads[0][:7] == ["field", "wrong", "of", "share", "precision", "recall", "F1"]
    assert heads[1][:4] == ["field", "wrong", "of", "most"]
    wide, narrow = (" ".join(at(width, comparison)) for width in (130, 80))
    assert "The adjusted p is the chance of such a difference" in wide  # its column's note
    assert "adjusted p" not in narrow
    rows = [{"output": {"t": "word " * 9_999}, "reference": {f"f{n}": n for n in range(8)}}]
    text = evaluate(rows, [JsonFields()]).table()
    assert "and 3 more fields: llmeval export RUN --table fields --to csv" in text
    assert len(text.splitlines()) < 35


def test_colours_tell_good_from_bad_and_no_text_acts(views, hostile):
    run, comparison = ("\n".join(at(110, view, color_system="standard", force_terminal=True)) for view in views)  # fmt: skip
    assert re.search(r"\x1b\[32m *100\.0 %", run)
    assert re.search(r"\x1b\[31m *37\.5 %", run)
    assert re.search(r"\x1b\[31mworse", comparison)
    views = (*views, comparison_view(compare(*hostile[:2])), *map(view_of_run, hostile))
    text = "".join(map(as_text, views))
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert "[red]markup[/red]" in text.replace("\n", "")
    text.encode()
