"""Reading a sample's output and reference as JSON, for the evaluators that look at values.

Several evaluators of one sample read each text once between them, where `share` was said of it.
What they read is theirs together, so none may change it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import shown
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import written_alike
from llmeval_integrations.json_values.parse import (
    SAME,
    Parsing,
    check,
    invalid,
    is_written,
    parse,
    parse_unless_same,
)

_SHARED: Final = "_shared"
"""What stands in a sample's `__dict__` beside what was read, by field and mode."""


def share(samples: Iterable[Sample]) -> None:
    """Have what is read of these samples kept with them."""
    for sample in samples:
        sample.__dict__[_SHARED] = True


def unshared(sample: Sample) -> Sample:
    """Return a sample of which nothing that is read is kept for others."""
    return Sample(sample.output, sample.reference)


def read(sample: Sample, field: str, parsing: Parsing) -> Any:
    """Return the JSON value of a field, or the Defect that says why it has none."""
    kept: dict[Any, Any] = sample.__dict__
    if _SHARED not in kept:
        return parse(getattr(sample, field), parsing)
    value = kept.get((field, parsing), MISSING)
    if value is MISSING:
        value = kept[field, parsing] = parse(getattr(sample, field), parsing)
    return value


def read_defect(sample: Sample, field: str, parsing: Parsing) -> Defect | None:
    """Say why a field is not JSON, or None where it is; without the cost of a value nobody needs.

    In lenient mode truncated text is a defect here, and none to `read`, which completes it.
    """
    if parsing == "lenient" or _SHARED not in sample.__dict__:
        return check(getattr(sample, field), parsing)
    return invalid(read(sample, field, parsing))


def read_output_unless_same(sample: Sample, parsing: Parsing) -> Any:
    """Return the output's value or Defect, or SAME where the reference is known to be equal."""
    output, reference = sample.output, sample.reference
    kept: dict[Any, Any] = sample.__dict__
    if _SHARED not in kept:
        return parse_unless_same(output, reference, parsing)
    value = read(sample, "output", parsing)
    if type(value) is Defect and value.is_json:
        return parse_unless_same(output, reference, parsing)
    if parsing == "lenient" or type(value) is Defect or type(output) is not str:
        return value
    is_read = type(reference) is not str or ("reference", parsing) in kept
    return value if is_read or not is_written(value, reference) else SAME


def parse_reference(evaluator: Evaluator, sample: Sample, parsing: Parsing) -> Any:
    """Return the reference's JSON value.

    Raises MissingFieldError where there is none, InvalidReferenceError where it is not JSON:
    a broken reference is the caller's fault and must not look like the model's.
    """
    if sample.reference is MISSING:
        sample.require("reference", evaluator.name)
    value = read(sample, "reference", parsing)
    if type(value) is not Defect:
        return value
    what = "exceeds a limit" if value.is_json or value.name == "too_large" else "is not JSON"
    raise InvalidReferenceError(
        f"{evaluator.name}: the reference {shown(sample.reference)} {what}"
        f" ({value.name}): {value.reason}"
    )


def read_both(
    evaluator: Evaluator, sample: Sample, parsing: Parsing, *, given_away: bool = False
) -> tuple[Any, Any]:
    """Return the output's value or Defect, and the reference's value: one where they are the same.

    Where they are given away to a caller's function, which may change them, they are two, and read
    for nobody else. Raises what `parse_reference` does.
    """
    if given_away:
        sample = unshared(sample)
    output = read(sample, "output", parsing)
    reference = parse_reference(evaluator, sample, parsing)
    # In lenient mode a value may hold NaN, which is not equal to itself.
    if given_away or parsing == "lenient" or type(output) is Defect or output != reference:
        return output, reference
    return (reference if written_alike(output, reference) else output), reference
