"""A validator of a JSON Schema whose patterns all read alike."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.schemas.document import subschemas
from llmeval_integrations.schemas.patterns import may_look_around, pattern_options, spell_out


def build_validator(kind: Any, schema: Any, text: str, check_formats: bool, room: int) -> Any:
    """Build a validator of a schema, which may be changed in place.

    `text` is that of the schema, `room` what a pattern may take in bytes. Raises what `kind` does.
    """
    if may_look_around(text):
        _spell_out_patterns(schema, names="patternProperties/" not in text)
    options = pattern_options(room)
    return kind(schema, validate_formats=check_formats, offline=True, pattern_options=options)


def _spell_out_patterns(schema: Any, *, names: bool) -> None:
    """Have the patterns of a schema, which is changed in place, read alike.

    Those that are names stay as they are where a reference may lead through one.
    """
    for part, _ in subschemas(schema):
        pattern = part.get("pattern")
        if isinstance(pattern, str):
            part["pattern"] = spell_out(pattern)
        named = part.get("patternProperties")
        if names and isinstance(named, dict):
            part["patternProperties"] = {spell_out(name): each for name, each in named.items()}
