"""A validator of a JSON Schema whose patterns read alike, and go back in bounded steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from llmeval_integrations.schema_document import subschemas
from llmeval_integrations.schema_patterns import (
    may_look_around,
    pattern_options,
    spell_out,
    takes_long,
)

_FEW_STEPS: Final = 512
_MOST_STEPS: Final = 1_000_000
_MOST_CHARACTERS: Final = 1 << 27
"""How many characters may be looked at, if each step of a pattern looks at all there are."""


def build_validator(kind: Any, schema: Any, text: str, check_formats: bool, room: int) -> Any:
    """Build a validator of a schema, which may be changed in place.

    `text` is that of the schema, `room` what a pattern may take in bytes. Raises what `kind` does.
    """

    def build(steps: int = _MOST_STEPS) -> Any:
        options = pattern_options(room, steps)
        return kind(schema, validate_formats=check_formats, offline=True, pattern_options=options)

    patterns = _spell_out_patterns(schema) if may_look_around(text) else []
    return BoundedValidator(build) if any(map(takes_long, patterns)) else build()


class BoundedValidator:
    """A validator of a schema with patterns that look around, or back, and repeat something.

    These are given few steps at first, with which time is linear; then, if the value does not
    conform, as many as the length of its texts allows. One that takes more has no answer.
    """

    def __init__(self, build: Callable[[int], Any]) -> None:
        self._build = cache(build)
        self.quick = self._build(_FEW_STEPS)

    def is_valid(self, value: Any) -> bool:
        if self.quick.is_valid(value):
            return True
        patient = self._patient(value)
        return patient is not self.quick and patient.is_valid(value)

    def iter_errors(self, value: Any) -> Iterator[Any]:
        return self._patient(value).iter_errors(value)  # type: ignore[no-any-return]

    def validate(self, value: Any) -> None:
        self._patient(value).validate(value)

    def _patient(self, value: Any) -> Any:
        steps = _MOST_CHARACTERS >> _characters(value).bit_length()
        return self._build(max(_FEW_STEPS, min(steps, _MOST_STEPS)))


def _characters(value: Any) -> int:
    """Count the characters in the texts of a value, names included."""
    containers: list[Any] = [[value]]
    total = 0
    for container in containers:  # which grows meanwhile
        if isinstance(container, dict):
            total += sum(map(len, container))
        parts = container.values() if isinstance(container, dict) else container
        total += sum([len(part) for part in parts if isinstance(part, str)])
        containers += [part for part in parts if isinstance(part, (dict, list))]
    return total


def _spell_out_patterns(schema: Any) -> list[str]:
    """Have all patterns of a schema, which is changed in place, read alike; list them."""
    found = []
    for part, _ in subschemas(schema):
        pattern = part.get("pattern")
        if isinstance(pattern, str):
            part["pattern"] = spell_out(pattern)
            found.append(pattern)
        named = part.get("patternProperties")
        if isinstance(named, dict):
            part["patternProperties"] = {spell_out(name): each for name, each in named.items()}
            found += named
    return found
