"""Where does the output differ from the reference?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result, is_same, read_both
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Node, summarize


@dataclass(frozen=True)
class JsonMatch(Evaluator):
    """Where does the output differ from the reference?

    Score: 1.0 or 0.0. The reason lists the first differences, and the label is the kind of the
    first one.

    Metadata:
    - `matched`: whether the output matches
    - `differences`: each with its JSON `pointer`, its `kind` (`mismatch`, `wrong_type`, `missing`
      or `extra`) and both values
    - `patch`: the RFC 6902 operations that turn the output into one that matches
    - `limit_reached`: the arrays with too many items to try every pair; 100,000 pairs are tried

    Items of arrays in any order are paired one to one, so that as much as possible matches.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    strict_order: bool = True
    """Whether the order of array items counts."""

    ignore_extra_keys: bool = False
    """Whether objects of the output may have keys that the reference does not have."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON, in output and reference alike."""

    def check(self, sample: Sample) -> Result:
        if is_same(sample, self.parsing):
            return Result(1.0, True, None, "Matches", {"matched": True})
        output, reference = read_both(self, sample, self.parsing)
        if type(output) is Defect:
            return defect_result(output, 0.0, matched=False)
        comparison = Comparison()
        node = _NODES[self.strict_order, self.ignore_extra_keys]
        comparison.compare(node, output, reference)
        if not comparison.outcomes:
            return Result(1.0, True, None, "Matches", {"matched": True})
        differences, patch = [], []
        for each in comparison.outcomes:
            difference: dict[str, Any] = {"pointer": each.pointer, "kind": each.kind}
            if each.kind != "missing":
                difference["output"] = each.output
            if each.kind == "extra":
                operation = {"op": "remove", "path": each.pointer}
            else:
                difference["reference"] = each.reference
                kind = "add" if each.kind == "missing" else "replace"
                operation = {"op": kind, "path": each.pointer, "value": each.reference}
            differences.append(difference)
            patch.append(operation)
        metadata: dict[str, Any] = {"matched": False, "differences": differences, "patch": patch}
        if comparison.limits:
            metadata["limit_reached"] = comparison.limits
        reason = summarize(comparison.outcomes, comparison.limits)
        return Result(0.0, False, comparison.outcomes[0].kind, reason, metadata)


class Plain(Node):
    """Compares every value as JSON; a value that one side lacks is one outcome, however large."""

    uniform = True
    literal = True
    splits = False
    pairs_all = True

    def __init__(
        self, *, ordered: bool, ignore_extra: bool = False, for_patch: bool = False
    ) -> None:
        self.order = "anchored" if ordered else "any_order"
        self.counts_extra = not ignore_extra
        self.lists_matches = ignore_extra  # the pairing of items needs them then
        self.lists_backwards = for_patch


_NODES: Final = {
    (strict_order, ignore_extra): Plain(
        ordered=strict_order, ignore_extra=ignore_extra, for_patch=True
    )
    for strict_order in (True, False)
    for ignore_extra in (True, False)
}
"""The nodes by the options of JsonMatch."""
