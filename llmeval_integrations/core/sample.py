"""The sample that an evaluator gets."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError, MissingFieldError
from llmeval_integrations.core.quote import add_article, quote


class Missing(Enum):
    """The type of `MISSING`, for annotations."""

    MISSING = "MISSING"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING
"""The value of a field that a sample does not have. None, in contrast, is an empty output."""


class Sample(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """An output of a model, with everything that is needed to evaluate it."""

    output: Any
    """What the model wrote: a text, a value that is already parsed, or messages. None is the empty
    text. JSON null is the text `null`."""

    reference: Any = MISSING
    """What the output is compared with: an expected value, a pattern, or expected tool calls."""

    input: Any = MISSING
    """What the model was asked."""

    contexts: Any = MISSING
    """The documents that the model was given, as a list of texts."""

    schema: Any = MISSING
    """The JSON Schema of this output: a mapping, JSON text, a Pydantic model or TypeAdapter."""

    variables: Any = MISSING
    """Other values by name, for the prompts of judges."""

    id: Any = MISSING
    """The id of the sample in its run."""

    group: Any = MISSING
    """The same value for samples that belong together, such as repeats of a task or questions about
    one document. They are not independent."""

    retrieved: Any = MISSING
    """The ids of the documents that a search found, best first."""

    relevant: Any = MISSING
    """The ids of the documents that the search should find."""

    output_b: Any = MISSING
    """The other output of a pair that a judge compares."""

    def require(self, field: str, evaluator: str) -> Any:
        """Return the value of a field; raise MissingFieldError if it is missing or None."""
        value = getattr(self, field)
        if value is MISSING or value is None:
            raise MissingFieldError(
                f"{evaluator} needs {add_article(field)}, and the sample has none; pass {field}=..."
            )
        return value


def as_sample(thing: Sample | Mapping[str, Any]) -> Sample:
    """Return a mapping of fields as a sample, or a sample itself."""
    if isinstance(thing, Sample):
        return thing
    if not isinstance(thing, Mapping):
        raise InputError(
            f"expected a Sample or a mapping with its fields, got {quote(thing)}; "
            "to evaluate a text alone, call the evaluator: evaluator(text)"
        )
    unknown = [key for key in thing if key not in Sample.__struct_fields__]
    if unknown or "output" not in thing:
        raise InputError(
            f"a sample has the fields {', '.join(Sample.__struct_fields__)} and needs an output; "
            f"got {sorted(map(str, thing))}"
        )
    return Sample(**thing)
