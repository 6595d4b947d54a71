"""Reading a sample's output and reference as JSON, for the evaluators that look at values.

Several evaluators of one sample read each text once between them, where `share` was said of it.
What they read is theirs together, so none may change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import shown
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import (
    SAME,
    Parsing,
    check,
    invalid,
    is_written,
    parse,
    parse_both,
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


def is_shared(samples: Sequence[Sample]) -> bool:
    """Whether `share` was said of these samples."""
    return bool(samples) and _SHARED in samples[0].__dict__


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
    """Return the output's value or Defect, or SAME where the reference is known to be equal.

    That costs half of what two values cost.
    """
    output, reference = sample.output, sample.reference
    kept: dict[Any, Any] = sample.__dict__
    if _SHARED not in kept:
        return parse_unless_same(output, reference, parsing)
    value = read(sample, "output", parsing)
    if type(value) is Defect and not invalid(value):  # two such texts may be known to be the same
        return parse_unless_same(output, reference, parsing)
    if (
        parsing == "lenient"
        or type(value) is Defect
        or type(output) is not str
        or type(reference) is not str
        or ("reference", parsing) in kept
    ):
        return value
    return SAME if output == reference or is_written(value, reference) else value


def parse_reference(evaluator: Evaluator, sample: Sample, parsing: Parsing) -> Any:
    """Return the reference's JSON value.

    Raises MissingFieldError where there is none, InvalidReferenceError where it is not JSON:
    a broken reference is the caller's fault and must not look like the model's.
    """
    if sample.reference is MISSING:
        sample.require("reference", evaluator.name)
    value = read(sample, "reference", parsing)
    if type(value) is Defect:
        raise _unfit(evaluator, sample.reference, value)
    return value


def read_both(
    evaluator: Evaluator, sample: Sample, parsing: Parsing, *, given_away: bool = False
) -> tuple[Any, Any]:
    """Return the output's value or Defect, and the reference's value: one where they are the same.

    Where they are given away to a caller's function, which may change them, they are two, and read
    for nobody else. Raises what `parse_reference` does.
    """
    if given_away:
        sample = unshared(sample)
        return read(sample, "output", parsing), parse_reference(evaluator, sample, parsing)
    kept: dict[Any, Any] = sample.__dict__
    if sample.reference is MISSING or ("output", parsing) in kept or ("reference", parsing) in kept:
        return read(sample, "output", parsing), parse_reference(evaluator, sample, parsing)
    output, reference = parse_both(sample.output, sample.reference, parsing)
    if _SHARED in kept:
        kept["output", parsing], kept["reference", parsing] = output, reference
    if type(reference) is Defect:
        raise _unfit(evaluator, sample.reference, reference)
    return output, reference


def _unfit(evaluator: Evaluator, reference: Any, defect: Defect) -> InvalidReferenceError:
    what = "is not JSON" if invalid(defect) else "cannot be read"
    return InvalidReferenceError(
        f"{evaluator.name}: the reference {shown(reference)} {what}"
        f" ({defect.name}): {defect.reason}"
    )
