"""Is the output the same JSON as the reference?"""

from __future__ import annotations

from collections.abc import Callable
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
from llmeval_integrations.matching.assignment import pair_texts
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import summarize

ListOrder = Literal["strict", "any", "top_level_any"]

_NO: Final = "The operator's score is 0"
_NODES: Final = {has_order: Plain(ordered=has_order) for has_order in (True, False)}


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
        place, has_order = "", self.list_order != "any"
        if self.list_order == "top_level_any" and type(output) is type(reference) is list:
            texts = [dict(enumerate(map(canonical, items))) for items in (output, reference)]
            _, spare, wanted = pair_texts(*texts)
            if not wanted:
                return f"/{spare[0]} extra" if spare else _NO
            if not spare:
                return f"/{wanted[0]} missing"
            here, there = _pair_nearest(output, reference, spare, wanted)
            output, reference, place = output[here], reference[there], f"/{here}"
        while has_order:
            step = _first_difference(output, reference)
            if step is None:
                break
            output, reference = output[step], reference[step]
            place = f"{place}/{escape(str(step))}"
        comparison = Comparison()
        comparison.compare(_NODES[has_order], output, reference, place)
        return summarize(comparison.outcomes[:1]) or _NO


def _pair_nearest(
    output: list[Any], reference: list[Any], spare: list[int], wanted: list[int]
) -> tuple[int, int]:
    """Return the first leftover item of the side that has fewer, and the item nearest to it."""
    gain, node = Comparison().pairing.gain, _NODES[True]
    if len(spare) <= len(wanted):
        pairs = [(spare[0], there) for there in wanted]
    else:
        pairs = [(here, wanted[0]) for here in spare]
    return max(pairs, key=lambda pair: gain(node, output[pair[0]], reference[pair[1]]))


def _first_difference(output: Any, reference: Any) -> str | int | None:
    """Return the name or position of the first parts of two containers that both have and differ.

    None if they have no such parts, or if the output lacks a part before them.
    """
    if type(output) is type(reference) is dict:
        for name, value in reference.items():
            if name not in output:
                return None
            if output[name] != value or not equal(output[name], value):
                return str(name)
    elif type(output) is type(reference) is list and len(output) == len(reference):
        for position, (item, wanted) in enumerate(zip(output, reference)):
            if not equal(item, wanted):
                return position
    return None


def _sort(value: Any, order: ListOrder) -> Any:
    """Return a value with the arrays whose order does not count sorted by their canonical text."""
    if order == "any" and isinstance(value, dict):
        return {name: _sort(part, order) for name, part in value.items()}
    if order == "strict" or not isinstance(value, list):
        return value
    items = value if order == "top_level_any" else [_sort(part, order) for part in value]
    return sorted(items, key=canonical)
