"""Reading a sample's output and reference as JSON, for the evaluators that compare them."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.errors import InvalidReferenceError
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import Parsing, parse
from llmeval_integrations.sample import MISSING, Sample


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
            f"{evaluator.name}: the reference {reference!r:.200} is not JSON"
            f" ({value.name}): {value.reason}"
        )
    return value
