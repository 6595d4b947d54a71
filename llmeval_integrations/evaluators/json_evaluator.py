"""Read a sample's output and reference as JSON, and the base class of evaluators that do.

If `share` was called for a sample, all evaluators share its parsed values. So each text is parsed
once, and no evaluator may change a value.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, check, invalidity, is_same_text, parse
from llmeval_integrations.json_values.values import CONTAINERS, copy_plain
from llmeval_integrations.messages.read import read_answer

REFUSED: Final = Defect("refused", "The model refused to answer")

_SHARED: Final = "_shared"
"""The mark in the `__dict__` of samples that keep their values there, by field and mode."""


def share(samples: Iterable[Sample]) -> None:
    """Let these samples keep their parsed values."""
    for sample in samples:
        sample.__dict__[_SHARED] = True


def read(sample: Sample, field: str, parsing: Parsing) -> Any:
    """Return the JSON value of a field, or a Defect that says why it has none."""
    kept: dict[Any, Any] = sample.__dict__  # empty unless values are shared
    if kept and (value := kept.get((field, parsing), MISSING)) is not MISSING:
        return value
    given = getattr(sample, field)
    if type(given) is str:
        value = parse(given, parsing)
    elif type(given) in CONTAINERS and (plain := copy_plain(given)) is not None:
        value = plain  # an object or array of plain JSON contains no messages
    else:
        answer = read_answer(given)
        value = REFUSED if answer.label == "refused" else parse(answer.value, parsing)
    if _SHARED in kept:
        kept[field, parsing] = value
    return value


def read_defect(sample: Sample, parsing: Parsing) -> Defect | None:
    """Return why the output is not JSON, or None if it is, without building a value.

    In lenient mode, truncated text is a defect here, while `read` completes it.
    """
    if parsing != "lenient" and _SHARED in sample.__dict__:
        return invalidity(read(sample, "output", parsing))
    value, label = sample.output, None
    if type(value) is not str:
        value, label = read_answer(value)
    return REFUSED if label == "refused" else check(value, parsing)


def read_both(
    evaluator: Evaluator, sample: Sample, parsing: Parsing, *, copied: bool = False
) -> tuple[Any, Any]:
    """Return the output's value or Defect, and the reference's value.

    With `copied`, both are parsed again, so that a caller's function may change them. Raises
    MissingFieldError if there is no reference, and InvalidReferenceError if it is not JSON. A
    broken reference is the caller's mistake and must not look like the model's.
    """
    if sample.reference is MISSING or sample.reference is None:
        sample.require("reference", evaluator.name)
    if copied:
        sample = Sample(sample.output, sample.reference)
    output, reference = read(sample, "output", parsing), read(sample, "reference", parsing)
    if type(reference) is not Defect:
        return output, reference
    is_limit = reference.is_json or reference.name == "too_large"
    raise InvalidReferenceError(
        f"{evaluator.name}: the reference {quote(sample.reference)} "
        f"{'exceeds a limit' if is_limit else 'is not JSON'} ({reference.name}): {reference.reason}"
    )


def is_same(sample: Sample, parsing: Parsing) -> bool:
    """Return whether output and reference are surely the same JSON text.

    If so, their values need not be compared, which halves the time.
    """
    output, reference = sample.output, sample.reference
    kept: dict[Any, Any] = sample.__dict__
    key = "same", parsing
    if key in kept:
        return bool(kept[key])
    are_texts = type(output) is str and type(reference) is str
    same = are_texts and is_same_text(output, reference, parsing)
    if kept:
        kept[key] = same
    return same


def defect_result(defect: Defect, score: float, **metadata: Any) -> Result:
    """Return the result of an output that is not JSON; the label is its defect."""
    position = {"offset": defect.offset, "line": defect.line, "column": defect.column}
    details = {"message": defect.reason, **position, **metadata}
    return Result(score, False, defect.name, defect.words, details)


class JsonEvaluator(Evaluator):
    """Checks the JSON value of an output.

    Subclasses implement `check_value`. From messages, responses and states it gets the parsed
    answer, or else the value of the model's last text. It must not change this value, which other
    evaluators of a run read, too. An output that is not JSON has the score `worst`, and its defect
    is the label. An empty output (`empty`) and a refusal (`refused`) are not JSON either. A
    subclass may have `parsing` as an option.

    >>> @dataclass(frozen=True)
    ... class HasTotal(JsonEvaluator):
    ...     def check_value(self, value, sample):
    ...         return Result(float("total" in value), "total" in value)
    """

    parsing: Parsing = "markdown"
    """How much text may surround the JSON."""

    worst: ClassVar[float] = 0.0
    """The score of an output that is not JSON."""

    def check(self, sample: Sample) -> Result:
        value = read(sample, "output", self.parsing)
        if type(value) is Defect:
            return defect_result(value, self.worst)
        return self.check_value(value, sample)

    @abstractmethod
    def check_value(self, value: Any, sample: Sample) -> Result:
        """Check one value; the only method that a subclass has to implement."""
