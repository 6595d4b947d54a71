"""Does the output match the reference, path by path?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice, check_flag
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.evaluators.parsed import (
    parse_reference,
    read_output_unless_same,
)
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.json_values.parse import PARSINGS, SAME, Parsing
from llmeval_integrations.matching.json_matching import MAX_PAIRS
from llmeval_integrations.matching.json_tree import Comparison, Difference, patch, summarize


@dataclass(frozen=True)
class JsonMatch(Evaluator):
    """Does the output match the reference, and where not?

    Score 1.0 or 0.0. The reason names the first differing paths. Metadata: `matched`;
    `differences`, each with its JSON pointer, its kind (mismatch, wrong_type, missing, extra) and
    both values; `patch`, the RFC 6902 operations that turn the output into one that matches.
    The label is the kind of the first difference.

    Arrays in any order are matched one to one, as many items as can be. With `ignore_extra_keys`
    this costs up to 250,000 comparisons of values for one output; where more would be needed,
    `matching_limit_reached` in the metadata names the array at which they ran out.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    strict_order: bool = True
    """Whether the order of array items counts."""

    ignore_extra_keys: bool = False
    """Whether objects of the output may have keys that the reference lacks."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON, in output and reference alike."""

    def __post_init__(self) -> None:
        check_flag(self, "strict_order")
        check_flag(self, "ignore_extra_keys")
        check_choice(self, "parsing", PARSINGS)

    def check(self, sample: Sample) -> Result:
        output = read_output_unless_same(sample, self.parsing)
        if output is SAME:
            return Result(1.0, True, None, "Matches", {"matched": True})
        reference = parse_reference(self, sample, self.parsing)
        if type(output) is Defect:
            return defective(output, 0.0, matched=False)
        if equal(output, reference):
            return Result(1.0, True, None, "Matches", {"matched": True})
        comparison = Comparison(ordered=self.strict_order, ignore_extra=self.ignore_extra_keys)
        differences = list(comparison.differences(output, reference))
        if not differences:
            return Result(1.0, True, None, "Matches", {"matched": True})
        return self._mismatch(differences, comparison)

    def _mismatch(self, differences: list[Difference], comparison: Comparison) -> Result:
        metadata: dict[str, Any] = {
            "matched": False,
            "differences": [_as_dict(difference) for difference in differences],
            "patch": patch(differences),
        }
        reason = summarize(differences)
        if comparison.unmatched:
            metadata["matching_limit_reached"] = comparison.unmatched
            reason += f" (more than {MAX_PAIRS} comparisons needed; not all were made)"
        return Result(0.0, False, differences[0].kind, reason, metadata)


def _as_dict(difference: Difference) -> dict[str, Any]:
    entry: dict[str, Any] = {"pointer": difference.pointer, "kind": difference.kind}
    if difference.output is not MISSING:
        entry["output"] = difference.output
    if difference.reference is not MISSING:
        entry["reference"] = difference.reference
    return entry
