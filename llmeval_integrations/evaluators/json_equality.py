"""Is the output the same JSON as the reference?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import as_number, check_callable, check_choice
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_validity import defect_result
from llmeval_integrations.evaluators.read import is_same, read_both
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import bag, canonical, equal
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.patch import Plain

ListOrder = Literal["strict", "any", "top_level_any"]

_NO = "The operator's score is 0"


@dataclass(frozen=True)
class JsonEquality(Evaluator):
    """Is the output the same JSON as the reference?

    Score: 1.0 or 0.0. `true` is not `1`, `1` is `1.0`, null is not a missing key, and keys may be
    in any order. If the two differ, the reason names the first place; JsonMatch lists all places.
    LangChain's drop-in has `list_order="top_level_any"`.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    operator: Callable[[Any, Any], Any] | None = None
    """A function that compares the parsed output and reference instead, and returns the score."""

    list_order: ListOrder = "strict"
    """Where the order of array items counts: everywhere (`strict`), nowhere (`any`), or everywhere
    but in the outermost array (`top_level_any`)."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON, in output and reference alike."""

    def __post_init__(self) -> None:
        check_callable(self, "operator")
        check_choice(self, "list_order", get_args(ListOrder))
        check_choice(self, "parsing", PARSINGS)

    def check(self, sample: Sample) -> Result:
        has_operator = self.operator is not None
        if not has_operator and is_same(sample, self.parsing):
            return Result(1.0, True)
        # An operator may change its arguments, so it gets copies.
        output, reference = read_both(self, sample, self.parsing, copied=has_operator)
        if type(output) is Defect:
            return defect_result(output, 0.0)
        on_top = self.list_order == "top_level_any" and type(output) is type(reference) is list
        if has_operator:
            score = self._operate(output, reference, on_top=on_top)
        elif self.list_order == "any":
            texts = canonical(output, sort_arrays=True), canonical(reference, sort_arrays=True)
            score = float(texts[0] == texts[1])
        else:
            score = float(equal(output, reference))
        if score:
            return Result(score, True)
        if on_top:
            return self._compare_items(output, reference)
        return Result(score, False, None, self._describe(output, reference))

    def _operate(self, output: Any, reference: Any, *, on_top: bool) -> float:
        """Compare by the operator, which gets arrays sorted if their order does not count."""
        if self.list_order == "any":
            output, reference = _sort_arrays(output), _sort_arrays(reference)
        elif on_top:
            output, reference = sorted(output, key=canonical), sorted(reference, key=canonical)
        found = self.operator(output, reference)  # type: ignore[misc]
        return float(as_number(self, "operator", found))

    def _compare_items(self, output: list[Any], reference: list[Any]) -> Result:
        """Compare two arrays whose items may be in any order; equal items are paired."""
        spare, wanted = _leftovers(output, reference), _leftovers(reference, output)
        if self.operator is None and not spare and not wanted:
            return Result(1.0, True)
        if spare and wanted:
            here, there = spare[0], wanted[0]
            reason = self._describe(output[here], reference[there], f"/{here}")
        elif spare or wanted:
            reason = f"/{spare[0]} extra" if spare else f"/{wanted[0]} missing"
        else:
            reason = _NO
        return Result(0.0, False, None, reason)

    def _describe(self, output: Any, reference: Any, place: str = "") -> str:
        has_order = self.list_order != "any"
        while has_order:
            step = _first_difference(output, reference)
            if step is None:
                break
            output, reference = output[step], reference[step]
            place = f"{place}/{escape(str(step))}"
        comparison = Comparison()
        comparison.compare(Plain(ordered=has_order), output, reference, place)
        return str(comparison.outcomes[0]) if comparison.outcomes else _NO


def _first_difference(output: Any, reference: Any) -> str | int | None:
    """Return the name or position of the first parts of two containers that both have and differ.

    None if they have no such parts, or if the output lacks a part before them.
    """
    if type(output) is type(reference) is dict:
        for name, value in reference.items():
            if name not in output or not equal(output[name], value):
                return str(name) if name in output else None
    elif type(output) is type(reference) is list and len(output) == len(reference):
        for position, (item, wanted) in enumerate(zip(output, reference)):
            if not equal(item, wanted):
                return position
    return None


def _leftovers(items: list[Any], others: list[Any]) -> list[int]:
    """Return the positions of items that the other array lacks, or contains less often."""
    left = bag(others)
    positions = []
    for position, text in enumerate(map(canonical, items)):
        left[text] -= 1
        if left[text] < 0:
            positions.append(position)
    return positions


def _sort_arrays(value: Any) -> Any:
    """Return a value with the items of every array sorted by their canonical text."""
    if isinstance(value, dict):
        return {name: _sort_arrays(part) for name, part in value.items()}
    return sorted(map(_sort_arrays, value), key=canonical) if isinstance(value, list) else value
