"""Is the output the same JSON as the reference?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import as_number, check_callable
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result, is_same, read_both
from llmeval_integrations.evaluators.json_match import Plain
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import canonical, equal, escape
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Node, summarize

ListOrder = Literal["strict", "any", "top_level_any"]


class _Outermost(Plain):
    """Pairs the items of the outermost array in any order; inside them, the order counts."""

    uniform = False
    literal = False

    def item(self, position: int) -> Node:  # noqa: ARG002
        return _NODES["strict"]

    def member(self, name: str) -> Node:  # noqa: ARG002
        return _NODES["strict"]


_NODES: Final[dict[ListOrder, Node]] = {
    "strict": Plain(ordered=True),
    "any": Plain(ordered=False),
    "top_level_any": _Outermost(ordered=False),
}


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
        super().__post_init__()
        check_callable(self, "operator")

    def check(self, sample: Sample) -> Result:
        operator = self.operator
        if operator is None and is_same(sample, self.parsing):
            return Result(1.0, True)
        # An operator may change its arguments, so it gets copies.
        output, reference = read_both(self, sample, self.parsing, copied=operator is not None)
        if type(output) is Defect:
            return defect_result(output, 0.0)
        one, other = _sort(output, self.list_order), _sort(reference, self.list_order)
        if operator is None:
            score = float(equal(one, other))
        else:
            score = float(as_number(self, "operator", operator(one, other)))
        reason = None if score else self._describe(output, reference)
        return Result(score, bool(score), None, reason)

    def _describe(self, output: Any, reference: Any) -> str:
        """Describe the first difference."""
        comparison, place = Comparison(), ""
        if self.list_order == "strict":  # comparing all of two documents takes a third longer
            output, reference, place = _first_difference(output, reference)
        comparison.compare(_NODES[self.list_order], output, reference, place)
        return summarize(comparison.outcomes[:1]) or "The operator's score is 0"


def _first_difference(output: Any, reference: Any, place: str = "") -> tuple[Any, Any, str]:
    """Return the first parts that both documents have and that differ, with their pointer.

    Where the output lacks a part before them, the objects or arrays are returned.
    """
    parts: Iterable[Any] = ()
    if type(output) is type(reference) is dict:
        parts = reference
    elif type(output) is type(reference) is list and len(output) == len(reference):
        parts = range(len(output))
    for step in parts:
        if type(output) is dict and step not in output:
            break
        one, other = output[step], reference[step]
        if one != other or not equal(one, other):
            return _first_difference(one, other, f"{place}/{escape(str(step))}")
    return output, reference, place


def _sort(value: Any, order: ListOrder) -> Any:
    """Return a value with the arrays whose order does not count sorted by their canonical text."""
    if order == "any" and isinstance(value, dict):
        return {name: _sort(part, order) for name, part in value.items()}
    if order == "strict" or not isinstance(value, list):
        return value
    items = value if order == "top_level_any" else [_sort(part, order) for part in value]
    return sorted(items, key=canonical)
