"""A run and a comparison as text, right at every width."""

import re
from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import JsonFields, JsonValidity, compare, evaluate
from llmeval_integrations.reports.comparison_view import comparison_view
from llmeval_integrations.reports.run_view import view_of_run
from llmeval_integrations.reports.terminal import as_text, wrap

REFERENCE = {"line_items": [{"amount_without_tax": "few"}], "recommended_bibliography": "x"}
LESS = {"line_items": [{"amount_without_tax": "many"}], "recommended_bibliography": "y"}
ROWS = [{"id": f"s{n}", "output": REFERENCE, "reference": REFERENCE} for n in range(40)]
WRONG = [{**row, "output": LESS} for row in ROWS[:25]] + ROWS[25:]
FIGURE = re.compile(r"[-+±<]?[\d.,]+( %| points)?( to .*)?")
OLD, NEW = ({"json_validity": JsonValidity(), "json_fields": JsonFields()} for _ in range(2))


def run_view():
    return view_of_run(evaluate(WRONG, OLD))


def compared():
    return comparison_view(compare(evaluate(ROWS, OLD), evaluate(WRONG, NEW)))


def at(width, view, **options):
    return as_text(view, Console(file=StringIO(), width=width, **options)).splitlines()


@pytest.mark.parametrize("make", [run_view, compared])
def test_no_figure_and_no_word_is_cut_at_any_width(make):
    view = make()
    whole = {cell.text for section in view.sections for row in section.rows for cell in row}
    for width in range(60, 160):
        lines = at(width, view)
        assert max(map(len, lines)) <= width
        assert not any(line.startswith("%") for line in lines)
        parts = {part for line in lines for part in re.split(" {2,}", line)}
        assert {part for part in parts if FIGURE.fullmatch(part)} <= whole, width
        assert {"100.0 %", "37.5 %"} <= parts


def test_columns_without_room_are_left_out_with_their_notes():
    wide, narrow = at(130, run_view()), at(60, run_view())
    heads = [line.split() for line in (*wide, *narrow) if line.startswith("field")]
    assert heads[0][:7] == ["field", "wrong", "of", "share", "precision", "recall", "F1"]
    assert heads[1][:4] == ["field", "wrong", "of", "most"]
    wide, narrow = (" ".join(at(width, compared())) for width in (130, 80))
    assert "The adjusted p is the chance of such a difference" in wide
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


def test_colours_tell_good_from_bad():
    options = {"color_system": "standard", "force_terminal": True}
    text = "\n".join(at(110, run_view(), **options))
    assert re.search(r"\x1b\[32m *100\.0 %", text)
    assert re.search(r"\x1b\[31m *37\.5 %", text)
    assert re.search(r"\x1b\[31mworse", "\n".join(at(110, compared(), **options)))
    assert "\x1b" not in evaluate(WRONG, OLD).table()


def test_text_of_a_model_does_not_act_in_a_terminal(hostile):
    views = (comparison_view(compare(*hostile[:2])), *map(view_of_run, hostile))
    text = "".join(map(as_text, views))
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert "[red]markup[/red]" in text.replace("\n", "")
    text.encode()
