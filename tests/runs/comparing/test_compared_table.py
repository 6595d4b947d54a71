"""Two runs compared, as tables for a terminal."""

from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import JsonFields, evaluate
from llmeval_integrations.runs.comparing import compare
from llmeval_integrations.runs.comparing.table import as_text

RIGHT = {f"field_{n}": n for n in range(8)}
ROWS = [{"id": n, "output": RIGHT, "reference": RIGHT} for n in range(40)]
WRONG = [{**row, "output": {**RIGHT, "field_0": -1}} for row in ROWS[:20]] + ROWS[20:]


def lines_at(width):
    found = compare(*(evaluate(rows, [JsonFields()]) for rows in (ROWS, WRONG)))
    console = Console(file=StringIO(), width=width, color_system=None)
    return [" ".join(line.split()) for line in as_text(found, console).splitlines()]


@pytest.mark.parametrize(("width", "more"), [(80, ""), (99, ""), (100, " better worse detectable")])
def test_no_name_no_head_and_no_figure_is_cut(width, more):
    lines = lines_at(width)
    assert not any("…" in line for line in lines)
    assert "adjusted" in lines
    assert f"evaluator n A B B - A 95 % interval p{more}" in lines
    [line] = [line for line in lines if line.startswith("/field_0 ")]
    assert line.startswith("/field_0 40 1 0.5 -0.500 -0.648 to -0.328 <0.0001 ")
    assert line.endswith(" worse")
    assert len(line.split()) == 10 + len(more.split())


def test_what_stands_in_the_columns_is_said_below():
    text = " ".join(lines_at(110))
    assert "adjusted for all differences together (Holm), which the intervals are not" in text
    assert "a field counts in samples whose reference or output has it" in text
    assert "and 2 fields more" in text
