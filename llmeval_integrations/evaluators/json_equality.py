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
from llmeval_integrations.evaluators.parsed import read_both, same
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import bag, canonical, equal
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.patch import Plain

ListOrder = Literal["strict", "any", "top_level_any"]


@dataclass(frozen=True)
class JsonEquality(Evaluator):
    """Is the output the same JSON as the reference?

    Score: 1.0 or 0.0. `true` is not `1`, `1` is `1.0`, null is not a missing key, keys come in
    any order. Where the two differ, the reason names the first place; JsonMatch names all.
    LangChain's drop-in is `list_order="top_level_any"`.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    operator: Callable[[Any, Any], Any] | None = None
    """Compares the parsed output with the parsed reference instead; its value is the score."""

    list_order: ListOrder = "strict"
    """Where the order of array items counts: everywhere, nowhere, or but in the outermost array."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON, in output and reference alike."""

    def __post_init__(self) -> None:
        check_callable(self, "operator")
        check_choice(self, "list_order", get_args(ListOrder))
        check_choice(self, "parsing", PARSINGS)

    def check(self, sample: Sample) -> Result:
        compare = self._equal if self.operator is None else self._operate
        if self.operator is None and same(sample, self.parsing):
            return Result(1.0, True)
        copied = self.operator is not None  # which may change them
        output, reference = read_both(self, sample, self.parsing, copied=copied)
        if type(output) is Defect:
            return defect_result(output, 0.0)
        score = float(compare(output, reference))
        return Result(score, bool(score), None, None if score else self._reason(output, reference))

    def _equal(self, output: Any, reference: Any) -> bool:
        if self.list_order == "any":
            return canonical(output, sort_arrays=True) == canonical(reference, sort_arrays=True)
        if self.list_order == "top_level_any" and _are_arrays(output, reference):
            return len(output) == len(reference) and (
                equal(output, reference) or bag(output) == bag(reference)
            )
        return equal(output, reference)

    def _operate(self, output: Any, reference: Any) -> Any:
        """Let the operator compare; arrays whose order does not count come sorted."""
        if self.list_order == "any":
            output, reference = _sort_arrays(output), _sort_arrays(reference)
        elif self.list_order == "top_level_any" and _are_arrays(output, reference):
            output, reference = sorted(output, key=canonical), sorted(reference, key=canonical)
        found = self.operator(output, reference)  # type: ignore[misc]
        return as_number(self, "operator", found)

    def _reason(self, output: Any, reference: Any) -> str:
        node = Plain(ordered=self.list_order != "any")
        if self.list_order == "top_level_any" and _are_arrays(output, reference):
            return _describe_leftover(output, reference)
        return _first_difference(node, output, reference)


def _first_difference(node: Plain, output: Any, reference: Any, place: str = "") -> str:
    comparison = Comparison(lists_matches=False)
    comparison.compare(node, output, reference, place)
    return str(comparison.outcomes[0]) if comparison.outcomes else "The operator says no"


def _describe_leftover(output: list[Any], reference: list[Any]) -> str:
    """Describe the first difference of two arrays whose equal items are paired."""
    spare, wanted = _leftover_positions(output, reference), _leftover_positions(reference, output)
    if not spare:
        return f"/{wanted[0]} missing" if wanted else "The operator says no"
    place = f"/{spare[0]}"
    if not wanted:
        return f"{place} extra"
    return _first_difference(Plain(), output[spare[0]], reference[wanted[0]], place)


def _leftover_positions(items: list[Any], others: list[Any]) -> list[int]:
    """Return the positions of the items that the other array lacks, or has less often."""
    left = bag(others)
    positions = []
    for position, text in enumerate(map(canonical, items)):
        if left[text]:
            left[text] -= 1
        else:
            positions.append(position)
    return positions


def _sort_arrays(value: Any) -> Any:
    """Return a value with the items of every array in the order of their texts."""
    if isinstance(value, dict):
        return {name: _sort_arrays(part) for name, part in value.items()}
    return sorted(map(_sort_arrays, value), key=canonical) if isinstance(value, list) else value


def _are_arrays(output: Any, reference: Any) -> bool:
    return isinstance(output, list) and isinstance(reference, list)
