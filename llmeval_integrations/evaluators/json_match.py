"""Where does the output differ from the reference?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice, check_flag
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result, is_same, read_both
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.outcome import Outcome, summarize
from llmeval_integrations.matching.patch import Plain, patch, sort_for_patch


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

    def __post_init__(self) -> None:
        check_flag(self, "strict_order")
        check_flag(self, "ignore_extra_keys")
        check_choice(self, "parsing", PARSINGS)

    @cached_property
    def _node(self) -> Plain:
        return Plain(ordered=self.strict_order, ignore_extra=self.ignore_extra_keys)

    def check(self, sample: Sample) -> Result:
        if is_same(sample, self.parsing):
            return Result(1.0, True, None, "Matches", {"matched": True})
        output, reference = read_both(self, sample, self.parsing)
        if type(output) is Defect:
            return defect_result(output, 0.0, matched=False)
        comparison = Comparison()
        comparison.compare(self._node, output, reference)
        if not comparison.outcomes:
            return Result(1.0, True, None, "Matches", {"matched": True})
        return _mismatch(comparison)


def _mismatch(comparison: Comparison) -> Result:
    outcomes = sort_for_patch(comparison.outcomes)
    metadata: dict[str, Any] = {
        "matched": False,
        "differences": list(map(_as_dict, outcomes)),
        "patch": patch(outcomes),
    }
    reason = summarize(outcomes, comparison.limits)
    if comparison.limits:
        metadata["limit_reached"] = comparison.limits
    return Result(0.0, False, outcomes[0].kind, reason, metadata)


def _as_dict(outcome: Outcome) -> dict[str, Any]:
    entry: dict[str, Any] = {"pointer": outcome.pointer, "kind": outcome.kind}
    if outcome.output is not MISSING:
        entry["output"] = outcome.output
    if outcome.reference is not MISSING:
        entry["reference"] = outcome.reference
    return entry
