"""The content of reports of runs and comparisons, and how a terminal lays it out."""

import re
from dataclasses import dataclass
from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import (
    Evaluator,
    ExactMatch,
    JsonFields,
    JsonGrounded,
    JsonSchema,
    JsonValidity,
    Result,
    ToolCalls,
    compare,
    evaluate,
)
from llmeval_integrations.reports.comparison_view import comparison_view, views_of_comparisons
from llmeval_integrations.reports.run_view import view_of_run
from llmeval_integrations.reports.terminal import as_text, wrap
from llmeval_integrations.reports.view import Cell, Column, Section, View


def section(view, name):
    """Give a section's rows, each a mapping from the heads to the texts."""
    [found] = [each for each in view.sections if each.name == name]
    heads = [column.head for column in found.columns]
    return [dict(zip(heads, (cell.text for cell in row), strict=True)) for row in found.rows]


@dataclass(frozen=True)
class Named(Evaluator):
    """What is it? The output is its label, and it passes no verdict."""

    def check(self, sample):
        return Result(1.0, None, str(sample.output), "as it says")


def tries(*passes, group=True):
    """Give three tries of each task, so many of which pass."""
    return [
        {"id": f"t{n}.{k}", "output": "1" if k < count else "x", **({"group": n} if group else {})}
        for n, count in enumerate(passes)
        for k in range(3)
    ]


INVOICE = {"total": 9, "item": {"number": "A7"}}
EXTRACTED = [
    {"id": "a", "output": {"total": "9", "item": {"number": "B7"}, "note": "-"}, "reference": INVOICE},
    {"id": "b", "output": {"total": 9, "item": {"number": "B7"}}, "reference": INVOICE},
    {"id": "c", "output": {"item": {"number": "A7"}}, "reference": INVOICE},
    {"id": "d", "output": "{", "reference": INVOICE},
]  # fmt: skip
LISTED = {"v": 1, "list": [*range(50)]}
RANKED = [
    *({"output": {**LISTED, "v": n}, "reference": LISTED} for n in range(3)),
    {"output": {"v": 1, "list": []}, "reference": LISTED},
    {"output": "{", "reference": LISTED},
]
CALLS = [
    {"output": [{"name": "right"}, {"name": "wrong"}], "reference": [{"name": "right"}]},
    {"output": [{"name": "right"}], "reference": [{"name": "right"}, {"name": "wrong"}]},
]
DUE = [
    {"input": f"In 30 days {1000 + n} EUR", "output": {"due": 30, "total": 1000 + n}}
    for n in range(12)
]
LETTER = {"vendor": "Harbour Ltd", "total": 1250.5, "paid": True}
LETTERS = [
    {"input": "Harbour Ltd, 5 January 2024: 1,250.50 EUR in 30 days", "reference": LETTER, "output": {**LETTER, **wrong}}
    for wrong in ({}, {"total": 30}, {"vendor": "Acme", "total": 30}, {"paid": False})
]  # fmt: skip
VALID = [{"output": "{}"}] * 12 + [{"output": "{"}]
RATES = {"most": JsonValidity(), "none": ExactMatch()}
FIELDS, GROUNDED = JsonFields(), [JsonFields(), JsonGrounded()]
ALL = [JsonValidity(), JsonSchema({"type": "object"}), FIELDS]
TRIES, VALIDITY = tries(3, 3, 1, 2, 0), {"valid": JsonValidity()}
SECTIONS = [
    (VALID, RATES, "evaluators", """
        passed | 95 % interval   | mean score | errors
        92.3 % | 66.7 to 98.6 %  | 0.923      | 0
        –      | –               | –          | 13"""),
    # An unreadable output is one cause, however many evaluators report it.
    (EXTRACTED, ALL, "causes", """
        cause                                   | samples | found by
        mismatch                                | 2       | json_fields
        truncated: the text stops in the middle | 1       | all 3
        missing                                 | 1       | json_fields"""),
    # An array that is wrong in many places of one sample comes behind a value of two; what is
    # missing because an output is not JSON is not counted.
    (RANKED, [FIELDS], "fields", """
        field   | wrong | of | missing
        /v      | 2     | 4  | 0
        /list/* | 1     | 4  | 50"""),
    (LETTERS, GROUNDED, "fields", """
        field   | invented | misread
        /total  | 0        | 2
        /paid   | 0        | 0
        /vendor | 1        | 0"""),
    (EXTRACTED * 2, [FIELDS], "leaves", """
        evaluator   | precision | recall | F1     | macro F1
        json_fields | 33.3 %    | 25.0 % | 28.6 % | 29.2 %"""),
    (CALLS, [ToolCalls()], "tools", """
        tool  | called | expected | right | F1
        wrong | 1      | 1        | 0     | 0.0 %
        right | 2      | 2        | 2     | 100.0 %"""),
    ([{"output": each} for each in ("warm", "warm", "warm", "cold")], {"tone": Named()}, "labels", """
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
    (DUE, [JsonGrounded()], "grounding", """
        field  | by chance
        /due   | 100.0 %
        /total | –"""),
    (LETTERS, GROUNDED, "grounding", """
        field   | not in the source | of
        /vendor | 1                 | 4
        /total  | 0                 | 4"""),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "evaluators", "name", "expected"), SECTIONS)
def test_a_section_of_a_run(rows, evaluators, name, expected, tmp_path):
    found = section(view_of_run(evaluate(rows, evaluators, out=tmp_path / "run")), name)
    heads, *lines = (
        [each.strip() for each in line.split("|")] for line in expected.splitlines()[1:]
    )
    assert [[row[head] for head in heads] for row in found] == lines


@pytest.mark.parametrize(
    ("rows", "evaluators", "said", "tone"),
    [
        (EXTRACTED, ALL, "0.0 % of 4 samples pass json_fields, the lowest rate. 1 output is not JSON.", "bad"),
        (VALID, RATES, "92.3 % of 13 samples pass most. 1 output is not JSON. 13 errors are left out of rates.", "good"),
        (LETTERS, GROUNDED, "25.0 % of 4 samples pass json_fields, the lowest rate. 3 wrong values: 1 not in the source (invented), 2 in it (misread).", "bad"),
    ],
)  # fmt: skip
def test_the_verdict_of_a_run(rows, evaluators, said, tone):
    verdict = view_of_run(evaluate(rows, evaluators)).verdict
    assert (verdict.text, verdict.tone) == (said, tone)


@pytest.mark.parametrize(
    ("samples", "said", "waiting"),
    [(3, "not shown: 3 of 299 needed", 6), (400, "0.9: 400 values (50.0%) are accepted", 400)],
)
def test_values_below_the_threshold_are_listed_for_review(samples, said, waiting):
    rows = [
        {
            "id": f"s{n}",
            "output": {"a": 1, "b": n, "_sure": {"/a": 0.9, "/b": 0.1 if n == 2 else 0.4}},
            "reference": {"a": 1, "b": 1},
        }
        for n in range(samples)
    ]
    fields = JsonFields(confidence="/_sure", fields={"/_sure": {"ignore": True}})
    view = view_of_run(evaluate(rows, [fields]))
    [queue] = [each for each in view.sections if each.name == "review"]
    assert section(view, "review")[0] == {"sample": "s2", "field": "/b", "confidence": "0.100"}
    assert queue.rows[0][0].filter == {"evaluator": "json_fields", "sample": "s2"}
    assert len(queue.rows) + queue.left_out == waiting
    assert said in queue.note


RIGHT = {"a": 1, "b": "x"}
OLD = [{"id": f"s{n:02}", "output": RIGHT, "reference": RIGHT} for n in range(20)]
NEW = [{**row, "output": {**RIGHT, "a": 2}} for row in OLD[:12]] + OLD[12:]


def compared(old, new, evaluator=None, **options):
    runs = [evaluate(rows, [evaluator or JsonFields()]) for rows in (old, new)]
    return comparison_view(compare(*runs), **options)


def test_a_comparison_says_how_much_worse_a_run_is():
    view = compared(OLD, NEW, changes=3)
    assert view.verdict.text == (
        "B is worse: json_fields pass rate 100.0 % → 40.0 %; json_fields score 1.000 → 0.700; "
        "json_fields /a 100.0 % → 40.0 %."
    )
    rate, score = section(view, "differences")
    assert [rate[head] for head in ("A", "B", "B - A", "95 % interval", "verdict", "worse")] == [
        *("100.0 %", "40.0 %", "-60.0 points", "-78.1 to -33.3", "worse", "12")
    ]
    assert score["B - A"] == "-0.300"
    fields = section(view, "compared-fields")
    assert [(each["field"], each["verdict"]) for each in fields] == [("/a", "worse"), ("/b", "none shown")]  # fmt: skip
    changes = section(view, "changes")
    assert [each["sample"] for each in changes] == ["s00", "s01", "s02"]
    assert changes[0]["in A"] == "passed 1: Every field matches"
    assert changes[0]["in B"] == "failed 0.5: /a 2, expected 1"
    assert view.sections[-1].rest(3) == "and 9 more changes: llmeval compare A B --json"
    assert (view.verdict.tone, compared(NEW, OLD).verdict.tone) == ("bad", "good")


@pytest.mark.parametrize(
    ("old", "new", "evaluator", "said"),
    [
        (OLD, OLD, JsonFields(), "No difference is significant. 20 samples can show"),
        (tries(*[3, 1] * 10), tries(*[2, 2] * 10), JsonValidity(), "60 samples in 20 groups can show differences from about 21 points (80 % power)."),
        (tries(3), tries(1), JsonValidity(), "3 samples in 1 group can show no difference of json_validity."),
    ],
)  # fmt: skip
def test_without_a_difference_the_verdict_names_the_detectable_one(old, new, evaluator, said):
    assert said in compared(old, new, evaluator).verdict.text


def test_runs_that_cannot_be_compared_say_why():
    a, b = evaluate(OLD, [JsonFields()]), evaluate(OLD, [JsonValidity()])
    [view] = views_of_comparisons({"a": a, "b": b})
    assert view.verdict.text.startswith("Not compared: the runs have no evaluator in common")


REFERENCE = {"line_items": [{"amount_without_tax": "few"}], "recommended_bibliography": "x"}
LESS = {"line_items": [{"amount_without_tax": "many"}], "recommended_bibliography": "y"}
ROWS = [{"id": f"s{n}", "output": REFERENCE, "reference": REFERENCE} for n in range(40)]
WRONG = [{**row, "output": LESS} for row in ROWS[:25]] + ROWS[25:]
FIGURE = re.compile(r"[-+±<]?[\d.,]+( %| points)?( to .*)?")


@pytest.fixture(scope="module")
def views():
    old, new = (evaluate(rows, [JsonValidity(), JsonFields()]) for rows in (ROWS, WRONG))
    return view_of_run(new), comparison_view(compare(old, new))


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


def test_a_long_text_is_cut_between_words_that_are_two_columns_wide():
    text = "日本語 テキスト です " * 40
    columns = [Column("n", "n", kind="name"), Column("t", "t", kind="text")]
    view = View("t", Cell("v"), [Section.of("s", "S", columns, [{"n": "x", "t": text}])])
    assert at(60, view)[-1] == "   日本語 テキスト です 日本語 テキスト です 日本語..."


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


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("/line_items/*/amount", 12, ["/line_items/", "*/amount"]),
        ("json_validity pass rate", 14, ["json_validity", "pass rate"]),
        ("recommended_bibliography", 13, ["recommended_", "bibliography"]),
        ("漢字" * 4, 6, ["漢字漢", "字漢字", "漢字"]),
        ("", 5, [""]),
    ],
)
def test_names_break_after_slashes_and_underscores(text, width, lines):
    assert wrap(text, width) == lines


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
