"""Reading a sample's output and reference as JSON, for the evaluators that compare them."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.errors import InvalidReferenceError
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import Parsing, check, parse
from llmeval_integrations.sample import MISSING, Sample
from llmeval_integrations.wording import shown


def require_json_reference(evaluator: Evaluator, sample: Sample, parsing: Parsing) -> None:
    """Raise what `parse_reference` raises, without the cost of the value."""
    if sample.reference is MISSING or check(sample.reference, parsing) is not None:
        parse_reference(evaluator, sample, parsing)


def parse_reference(evaluator: Evaluator, sample: Sample, parsing: Parsing) -> Any:
    """Give the reference's JSON value.

    Raises MissingFieldError where there is none, InvalidReferenceError where it is not JSON:
    a broken reference is the caller's fault and must not look like the model's.
    """
    reference = sample.reference
    if reference is MISSING:
        sample.require("reference", evaluator.name)
    value = parse(reference, parsing)
    if isinstance(value, Defect):
        raise InvalidReferenceError(
            f"{evaluator.name}: the reference {shown(reference)} is not JSON"
            f" ({value.name}): {value.reason}"
        )
    return value
