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
