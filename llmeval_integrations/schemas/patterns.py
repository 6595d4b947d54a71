"""What the patterns of a JSON Schema mean, and what one may cost. Functions of text alone.

The validator reads classes of characters by ECMA 262, but those of a pattern that looks around, or
back, by Unicode; and it matches all but these in linear time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

ROOM: Final = 10_000_000
"""The bytes that a compiled pattern takes at most where nobody asks for more."""

MOST_ROOM: Final = 120_000_000
"""The bytes that a compiled pattern may take at all; `.{0,65535}` takes 100 million."""

_LOOKS: Final = re.compile(r"\(\?(?!:)|\\[1-9kKGgZ]|[+*?}]\+")
"""What every pattern has that is not matched in linear time, and some others."""

_SIGNS: Final = ("(?", "++", "*+", "?+", "}+")
_ESCAPES: Final = re.compile(r"\\[1-9kKGgZu]")
"""Of these and the signs one stands in the JSON of each such pattern."""

_PARTS: Final = re.compile(r"\\(.)|[\[\]]", re.DOTALL)

_CLASSES: Final = {
    "d": r"\x{30}-\x{39}",
    "D": r"\x{0}-\x{2F}\x{3A}-\x{10FFFF}",
    "w": r"\x{30}-\x{39}\x{41}-\x{5A}\x{5F}\x{61}-\x{7A}",
    "W": r"\x{0}-\x{2F}\x{3A}-\x{40}\x{5B}-\x{5E}\x{60}\x{7B}-\x{10FFFF}",
    "s": r"\x{9}-\x{D}\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}"
    r"\x{3000}\x{FEFF}",
    "S": r"\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}"
    r"\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}"
    r"\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}",
}
"""What the classes of ECMA 262 hold, as it stands within brackets; ECMA has no such escapes."""

_ALONE: Final = {name: f"[{ranges.replace('{', '{0')}]" for name, ranges in _CLASSES.items()}
"""The same outside of brackets, spelled so that one can be told from the other."""

_WRITTEN: Final = sorted(
    (
        (spelled.replace("\\", slash), slash + name)
        for spellings in (_ALONE, _CLASSES)
        for name, spelled in spellings.items()
        for slash in ("\\", r"\\")  # as it is, and in JSON
    ),
    key=lambda pair: -len(pair[0]),  # what \w holds begins with what \d does
)


def may_look_around(text: str) -> bool:
    """Whether a schema's text may have a pattern that looks around; far cheaper than to look."""
    return any(sign in text for sign in _SIGNS) or _ESCAPES.search(text) is not None


def spell_out(pattern: str) -> str:
    r"""Write `\d`, `\w`, `\s` and their opposites as what they hold, if a pattern looks around.

    One with a range that begins or ends with a class stays as it is, for the validator to refuse.
    """
    if not _LOOKS.search(pattern):
        return pattern
    spellings, start, of_range = _ALONE, 0, False

    def spelled(part: re.Match[str]) -> str:
        nonlocal spellings, start, of_range
        if part[0] == "[":
            spellings, start = _CLASSES, part.end() + pattern.startswith("^", part.end())
        elif part[0] == "]":
            spellings = _ALONE
        elif spellings is _CLASSES and part[1] in _CLASSES:
            before, after = pattern[start : part.start()], pattern[part.end() :][:2]
            of_range |= before[1:].endswith("-") or (after[:1] == "-" and after != "-]")
        return spellings.get(part[1] or "", part[0])

    written = _PARTS.sub(spelled, pattern)
    return pattern if of_range else written


def as_written(text: str) -> str:
    """Return a text that shows patterns, of which some are spelled out, with those as they were."""
    if "x{" in text:
        for spelled, written in _WRITTEN:
            text = text.replace(spelled, written)
    return text


def pattern_options(room: int) -> Any:
    """Say how many bytes a pattern may take."""
    import jsonschema_rs

    return jsonschema_rs.FancyRegexOptions(size_limit=room)


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern is found in a name, as the validator of schemas has it."""
    validator = _validator(pattern) or _large_validator(pattern)
    try:
        return validator is not None and bool(validator.is_valid(name))
    except ValueError:  # a lone surrogate, which lenient parsing lets in
        return False


@lru_cache(maxsize=10_000)  # names come one after the other, and each asks every pattern
def _validator(pattern: str) -> Any:
    """Build what looks for a pattern; None where it is none, or takes much room."""
    return _built(pattern, ROOM)


@lru_cache(maxsize=8)
def _large_validator(pattern: str) -> Any:
    return _built(pattern, MOST_ROOM)


def _built(pattern: str, room: int) -> Any:
    import jsonschema_rs

    schema, options = {"pattern": spell_out(pattern)}, pattern_options(room)
    try:
        return jsonschema_rs.Draft202012Validator(schema, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return None
