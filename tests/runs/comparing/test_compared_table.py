"""Two runs compared, as tables for a terminal."""

from dataclasses import dataclass
from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import Evaluator, JsonFields, Result, evaluate
from llmeval_integrations.runs.comparing import compare
from llmeval_integrations.runs.comparing.table import COLUMNS, as_text, cells_of


@dataclass(frozen=True)
class Cost(Evaluator):
    """What did it cost?"""

    lower_is_better = True

    def check(self, sample):
        return Result(sample.reference["cost"], None, None, None, {})


RIGHT = {f"field_{n}": n for n in range(8)}
ROWS = [{"id": n, "output": RIGHT, "reference": RIGHT} for n in range(40)]
WRONG = [{**row, "output": {**RIGHT, "field_0": -1}} for row in ROWS[:20]] + ROWS[20:]


def lines_at(width):
    found = compare(*(evaluate(rows, [JsonFields()]) for rows in (ROWS, WRONG)))
    console = Console(file=StringIO(), width=width, color_system=None)
    return [" ".join(line.split()) for line in as_text(found, console).splitlines()]


ALL = "n A B B - A 95 % interval p better worse detectable"
TOLD = "40 1 0.5 -0.500 -0.648 to -0.328 <0.0001 0 20"


@pytest.mark.parametrize(
    ("width", "heads", "figures"),
    [
        (38, "B - A", "-0.500"),
        (70, "n A B B - A p", "40 1 0.5 -0.500 <0.0001"),
        (84, ALL.removesuffix(" better worse detectable"), TOLD.removesuffix(" 0 20")),
        (100, ALL.removesuffix(" detectable"), TOLD),
        (110, ALL, f"{TOLD} 0.408"),
    ],
)
def test_columns_that_there_is_no_room_for_are_left_out(width, heads, figures):
    lines = lines_at(width)
    assert ("adjusted" in lines) is (" p" in heads)
    assert f"evaluator {heads}" in lines
    assert f"/field_0 {figures} worse" in lines


def cost(scale, shift):
    """Evaluate scores of this size by an evaluator with a long name."""
    rows = [
        {"id": n, "output": "", "reference": {"cost": scale * (n % 7 + shift)}} for n in range(40)
    ]
    return evaluate(rows, {"what_it_costs": Cost()})


@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1, 1e5, 1e9])
def test_no_figure_is_cut_or_rounded_to_nothing(scale):
    found = compare(cost(scale, 0), cost(scale, 1 + 1e-3))
    (difference,) = found.differences
    _, *cells, verdict = cells_of(difference)
    whole = [*" ".join(cells).split(), verdict]
    assert float(cells[COLUMNS.index("B - A")]) == pytest.approx(scale, rel=0.05)
    for width in range(60, 130):
        console = Console(file=StringIO(), width=width, color_system=None)
        text = as_text(found, console, changes=0)
        [line] = [line for line in text.splitlines() if line.startswith(" what_it_costs")]
        shown = line.removeprefix(" what_it_costs").removeprefix(" score").split()
        assert shown[-1] == verdict
        assert cells[COLUMNS.index("B - A")] in shown
        assert set(shown) <= set(whole)


def test_what_stands_in_the_columns_is_said_below():
    text = " ".join(lines_at(110))
    assert "adjusted for all differences together (Holm), which the intervals are not" in text
    assert "a field counts in samples whose reference or output has it" in text
    assert "and 2 fields more" in text
