"""What the patterns of a JSON Schema mean, and what one may cost.

The validator reads classes of characters by ECMA 262, but those of a pattern that looks around, or
back, by Unicode; and it matches all but these in linear time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from llmeval_integrations.schemas.document import subschemas

_MOST_ROOM: Final = 120_000_000
"""The bytes that a compiled pattern takes at most; `.{0,65535}` takes 100 million."""

_LOOKS: Final = re.compile(r"\(\?(?!:)|\\[1-9kKGgZ]|[+*?}]\+")
"""What every pattern has that is not matched in linear time, and some others."""

_MAY_LOOK: Final = re.compile(r"\(\?|[+*?}]\+|\\[1-9kKGgZu]")
"""What the JSON of each such pattern has."""

_PARTS: Final = re.compile(r"\\(.)|[\[\]]", re.DOTALL)

_CLASSES: Final = {
    "d": "30-39",
    "D": "0-2F 3A-10FFFF",
    "w": "30-39 41-5A 5F-5F 61-7A",
    "W": "0-2F 3A-40 5B-5E 60-60 7B-10FFFF",
    "s": "9-D 20-20 A0-A0 1680-1680 2000-200A 2028-2029 202F-202F 205F-205F 3000-3000 FEFF-FEFF",
    "S": "0-8 E-1F 21-9F A1-167F 1681-1FFF 200B-2027 202A-202E 2030-205E 2060-2FFF 3001-FEFE"
    " FF00-10FFFF",
}
"""What the classes of ECMA 262 hold, as ranges of code points in hexadecimal."""


def _escape(code: str) -> str:
    """Write a character as the schemas of all drafts take it in a pattern."""
    return f"\\u{code:0>4}" if len(code) <= 4 else chr(int(code, 16))


_RANGES: Final = {
    name: re.sub("[0-9A-F]+", lambda code: _escape(code[0]), ranges).replace(" ", "")
    for name, ranges in _CLASSES.items()
}
"""The classes as they stand within brackets."""

_BRACKETS: Final = {name: f"[{ranges}{ranges[:6]}]" for name, ranges in _RANGES.items()}
"""The same outside of brackets; the first character, twice, tells one from the other."""


def spell_patterns(schema: Any, text: str) -> None:
    """Change a schema with this text: patterns that look around read as those that do not."""
    if not _MAY_LOOK.search(text):
        return
    is_pointed_at = "patternProperties/" in text  # and may lead through a pattern
    for part, _ in subschemas(schema):
        if isinstance(part.get("pattern"), str):
            part["pattern"] = expand_classes(part["pattern"])
        named = part.get("patternProperties")
        if isinstance(named, dict) and not is_pointed_at:
            part["patternProperties"] = {expand_classes(name): one for name, one in named.items()}


def expand_classes(pattern: str) -> str:
    r"""Write `\d`, `\w`, `\s` and their opposites as what they hold, if a pattern looks around.

    One with a range that begins or ends with a class stays as it is, for the validator to refuse.
    """
    if not _LOOKS.search(pattern):
        return pattern
    expansions, start, has_class_range = _BRACKETS, 0, False

    def expand(part: re.Match[str]) -> str:
        nonlocal expansions, start, has_class_range
        if part[0] == "[":
            expansions, start = _RANGES, part.end() + pattern.startswith("^", part.end())
        elif part[0] == "]":
            expansions = _BRACKETS
        elif expansions is _RANGES and part[1] in _RANGES:
            before, after = pattern[start : part.start()], pattern[part.end() :][:2]
            has_class_range |= before[1:].endswith("-") or (after[:1] == "-" and after != "-]")
        return expansions.get(part[1] or "", part[0])

    written = _PARTS.sub(expand, pattern)
    return pattern if has_class_range else written


def restore_classes(text: str) -> str:
    """Replace expanded classes in a text by the escapes that were written."""
    if "\\u00" in text:
        for slash in ("\\\\", "\\"):  # in JSON, and as it is
            for expansions in (_BRACKETS, _RANGES):
                # What \w holds begins with what \d does.
                for name, expansion in sorted(expansions.items(), key=lambda pair: -len(pair[1])):
                    text = text.replace(expansion.replace("\\", slash), slash + name)
    return text


def pattern_options() -> Any:
    """Say how many bytes a pattern may take."""
    import jsonschema_rs

    return jsonschema_rs.FancyRegexOptions(size_limit=_MOST_ROOM)


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern is found in a name, as the validator of schemas has it."""
    validator = _validator(pattern)
    try:
        return validator is not None and bool(validator.is_valid(name))
    except ValueError:  # a lone surrogate, which lenient parsing lets in
        return False


@lru_cache(maxsize=256)  # names come one after the other, and each asks every pattern
def _validator(pattern: str) -> Any:
    """Build what looks for a pattern; None where it is none, or would take too much room."""
    import jsonschema_rs

    schema = {"pattern": expand_classes(pattern)}
    try:
        return jsonschema_rs.Draft202012Validator(schema, pattern_options=pattern_options())
    except (jsonschema_rs.ValidationError, ValueError):
        return None
