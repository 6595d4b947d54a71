"""Why outputs did not pass, ranked over all evaluators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.summary import OTHER, Finding

_IS_JSON: Final = ("number_out_of_range", "too_deep")
"""Defects of a text that is JSON all the same, so that not every evaluator reports them."""

_NO_TEXT: Final = ("empty", "refused")


@dataclass(frozen=True)
class Cause:
    """One reason why outputs did not pass."""

    label: str
    """A defect, a label or the type of an error."""

    evaluators: Sequence[str]
    count: int
    """Samples."""

    reason: str
    """The reason that was given most often."""

    is_error: bool

    @property
    def is_unreadable(self) -> bool:
        """Whether the outputs are no JSON."""
        return self.label in DEFECTS and not self.is_error

    @property
    def can_be_filtered(self) -> bool:
        """Whether the rows have this label, and not labels of their own."""
        return self.label != OTHER


def rank_causes(findings: Mapping[str, Sequence[Finding]]) -> list[Cause]:
    """Return the causes that concern most samples first.

    Several evaluators report the same defect of an output that is not JSON: it counts once.
    """
    causes: dict[tuple[object, ...], Cause] = {}
    for evaluator, kinds in findings.items():
        for each in kinds:
            is_defect = each.kind in DEFECTS and not each.is_error
            key = (each.kind,) if is_defect else (each.kind, each.is_error, evaluator)
            found = causes.get(key)
            names = (*found.evaluators, evaluator) if found else (evaluator,)
            count = max(found.count, each.count) if found else each.count
            reason = found.reason if found else each.reason
            causes[key] = Cause(each.kind, names, count, reason, each.is_error)
    return sorted(causes.values(), key=lambda cause: -cause.count)


def describe_unreadable(causes: Sequence[Cause]) -> str:
    """Say how many outputs are not JSON, nothing where all are."""
    found = [each for each in causes if each.is_unreadable and each.label not in _IS_JSON]
    if not found:
        return ""
    count = sum(each.count for each in found)
    has_no_text = any(each.label in _NO_TEXT for each in found)
    what = "empty, refused or not JSON" if has_no_text else "not JSON"
    return f"{counted(count, 'output')} {'is' if count == 1 else 'are'} {what}"
