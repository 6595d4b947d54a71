"""The patterns of a JSON Schema: their character classes, and a limit on their memory.

The validator reads character classes as ECMA 262 defines them, and matches in linear time. For a
pattern with lookarounds or back-references it does neither: it reads the classes as Unicode.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from llmeval_integrations.schemas.document import object_of, subschemas

_MOST_ROOM: Final = 120_000_000
"""The most bytes of a compiled pattern; `.{0,65535}` takes 100 million."""

_LOOKS: Final = re.compile(r"\(\?(?!:)|\\[1-9kKGgZ]|[+*?}]\+")
"""Matches every pattern that needs more than linear time, and some others."""

_PARTS: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
_CLASS: Final = re.compile(r"\\(.)", re.DOTALL)
_RANGE_WITH_CLASS: Final = re.compile(r"\\[dwsDWS]-[^\]]|[^\[^]-\\[dwsDWS]")

_RANGES: Final = {
    "w": "09AZ__az",
    "d": "09",
    "s": "\t\r  \xa0\xa0\u1680\u1680\u2000\u200a\u2028\u2029"
    "\u202f\u202f\u205f\u205f\u3000\u3000\ufeff\ufeff",
}
"""The classes of ECMA 262, as the first and the last character of each range."""


def _spell_class(name: str) -> str:
    """Write the ranges of a class for use in brackets, in a form that all drafts accept."""
    ends = [*map(ord, _RANGES[name.lower()])]
    if name.isupper():  # the gaps between the ranges
        shifts = [-1, 1] * len(ends)
        ends = [0, *(end + shift for end, shift in zip(ends, shifts)), 0x10FFFF]
    written = [f"\\u{end:04X}" if end < 0x10000 else chr(end) for end in ends]
    return "".join(f"{first}-{last}" for first, last in zip(written[::2], written[1::2]))


_SPELLED: Final = {name: _spell_class(name) for name in "wdsWDS"}


def spell_patterns(schema: Any) -> None:
    """Change a schema so that its patterns with lookarounds use the classes of ECMA 262, too."""
    for part, _ in subschemas(schema):
        if isinstance(part.get("pattern"), str):
            part["pattern"] = spell_classes(part["pattern"])
        if object_of(part, "patternProperties"):
            named = part["patternProperties"].items()
            part["patternProperties"] = {spell_classes(name): one for name, one in named}


def spell_classes(pattern: str) -> str:
    r"""Replace `\d`, `\w`, `\s` and their opposites by ranges, if a pattern has lookarounds.

    Brackets with a range that begins or ends with a class stay, so that the validator rejects them.
    """

    def spell(found: re.Match[str]) -> str:
        part = found[0]
        if part[0] == "\\":  # a second copy of the first range tells this from a class in brackets
            spelled = _SPELLED.get(part[1])
            return f"[{spelled}{spelled[:6]}]" if spelled else part
        if _RANGE_WITH_CLASS.search(part):
            return part
        return _CLASS.sub(lambda inner: _SPELLED.get(inner[1], inner[0]), part)

    return _PARTS.sub(spell, pattern) if _LOOKS.search(pattern) else pattern


def restore_classes(text: str) -> str:
    """Undo `spell_classes` in a text, such as an error message."""
    if "\\u00" in text:
        for slash in ("\\\\", "\\"):  # escaped as in JSON, and plain
            for name, spelled in _SPELLED.items():
                ranges = spelled.replace("\\", slash)
                alone = f"[{ranges}{ranges[: 5 + len(slash)]}]"
                text = text.replace(alone, slash + name).replace(ranges, slash + name)
    return text


def pattern_options() -> Any:
    """Return the validator's options for patterns, with the limit of bytes."""
    import jsonschema_rs

    return jsonschema_rs.FancyRegexOptions(size_limit=_MOST_ROOM)


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern is found in a name, by the rules of the schema validator."""
    validator = _validator(pattern)
    return validator is not None and bool(validator.is_valid(name))


@lru_cache(maxsize=256)  # every name is compared with every pattern
def _validator(pattern: str) -> Any:
    """Compile a pattern; None if it is invalid, or would need too much memory."""
    import jsonschema_rs

    schema = {"pattern": spell_classes(pattern)}
    try:
        return jsonschema_rs.Draft202012Validator(schema, pattern_options=pattern_options())
    except (jsonschema_rs.ValidationError, ValueError):
        return None
