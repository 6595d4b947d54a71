"""JSON made of a text that is none, with every change told."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.guards.fixes import Fix, find_fix
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse

_MOST_EDITS: Final = 1_000
_MOST_READ: Final = 200_000_000
"""Characters that may be read in all, since each edit reads the text anew: a second at most."""


class Edit(NamedTuple):
    """One change of a text."""

    offset: int
    """Where it begins in the text as it was given."""

    defect: str
    """The name of the defect that it repairs."""

    old: str
    """What stood there."""

    new: str
    """What takes its place."""


class Repair(NamedTuple):
    """What came of a repair: a value, or a refusal."""

    value: Any
    """The JSON value; None where the repair was refused."""

    edits: list[Edit]
    """What was changed, in order; nothing where the text is JSON."""

    refusal: Defect | None
    """The defect of which the text does not say what was meant; None where there is a value."""

    text: str
    """The text with these edits."""


def repair(text: str) -> Repair:
    """Make JSON of a text that is none, where only one value can be meant, and tell every change.

    A text that is JSON, in a fence or not, has its value and no edits. What was cut off, left out
    or can be read in two ways is refused: `[1, 2`, `[1, ...]`, `{"size": 5 kg}`.

    Example:
        >>> repair("{'total': 12.5,}").edits
        [Edit(offset=1, defect='single_quotes', old="'total'", new='"total"'),
         Edit(offset=14, defect='trailing_comma', old=',', new='')]

    Raises:
        InputError: It is not a text.
    """
    if not isinstance(text, str):
        raise InputError(f"a text is repaired, got {quote(text)}")
    edits: list[Edit] = []
    fixes: list[tuple[Fix, int]] = []
    value = parse(text)
    most = min(_MOST_EDITS, _MOST_READ // max(len(text), 1))
    while type(value) is Defect:
        fix = None if value.is_json or len(edits) >= most else find_fix(text, value)
        if fix is None:
            return Repair(None, edits, value, text)
        old = text[fix.start : fix.end]
        edits.append(Edit(_find_origin(fix.start, fixes), value.name, old, fix.new))
        fixes.append((fix, len(fix.new) - len(old)))
        text = text[: fix.start] + fix.new + text[fix.end :]
        value = parse(text)
    return Repair(value, edits, None, text)


def _find_origin(offset: int, fixes: list[tuple[Fix, int]]) -> int:
    """Return where something stood before these fixes; inside of one of them, where that began."""
    for fix, growth in reversed(fixes):
        if offset > fix.start:
            offset = max(offset - growth, fix.start)
    return offset
