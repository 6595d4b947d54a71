"""What an evaluator looks at."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError, MissingFieldError
from llmeval_integrations.core.quote import add_article, quote


class Missing(Enum):
    """The type of `MISSING`, so that annotations can name it."""

    MISSING = "MISSING"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING
"""An absent field. An output that is None is there: it is what a model gave that wrote nothing."""


class Sample(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """One output of a model, with what is needed to judge it."""

    output: Any
    """What the model wrote: text, a value that is already parsed, or messages that hold it. None is
    the empty text; JSON null is the text `null`."""

    reference: Any = MISSING
    """What the output is compared with: an expected value, a pattern, messages with tool calls."""

    input: Any = MISSING
    """What the model was asked."""

    contexts: Any = MISSING
    """The documents the model was given, a list of texts."""

    schema: Any = MISSING
    """The JSON Schema of this output: a mapping, JSON text, a Pydantic model or TypeAdapter."""

    variables: Any = MISSING
    """Further named values, for prompts of judges."""

    id: Any = MISSING
    """What tells this sample from the others in a run."""

    group: Any = MISSING
    """What samples share that belong together, as repeats of a task or questions about one
    document do: they are not independent."""

    retrieved: Any = MISSING
    """The ids of the documents that a search found, best first."""

    relevant: Any = MISSING
    """The ids of the documents that it should find."""

    output_b: Any = MISSING
    """The other output of a pair, which the output is compared with."""

    def require(self, field: str, evaluator: str) -> Any:
        """Return a field's value; raise MissingFieldError where the sample has none, or None."""
        value = getattr(self, field)
        if value is MISSING or value is None:
            needed = add_article(field)
            raise MissingFieldError(
                f"{evaluator} needs {needed}, and the sample has none; pass {field}=..."
            )
        return value


def as_sample(thing: Sample | Mapping[str, Any]) -> Sample:
    """Make a sample of a mapping with its fields; a sample is given back as it is."""
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
