"""Templates with `{name}`, where JSON may stand as it is."""

from __future__ import annotations

import re
from typing import Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.judges.prompts.template import FIELD, NAME, Body, Hole, is_prose, wrong_at

_BRACE = re.compile(r"\{\{|\{|\}")
_HALF_CLOSED = re.compile(rf"\{{\{{ *{NAME}\}}(?!\}})")
_REACHES: Final = {
    ".": "a dot, which would reach an attribute",
    "[": "a bracket, which would reach an index",
    "!": "an exclamation mark, which would convert the value",
    ":": "a colon, which would format the value",
}


def parse_f_string(text: str) -> Body:
    """Split a template at its variables.

    `{{` is a literal brace, and so is the `}}` that closes it; a `}}` that closes two single
    braces, as nested JSON ends, stays as it is. So does everything in single braces that is no
    name. Raises InvalidOptionError for a name with an attribute, index, conversion or format.
    """
    pieces: list[str | Hole] = []
    literal: list[str] = []
    escapes = "{{" in text
    doubled: list[bool] = []  # of each literal brace that is open, whether it was doubled
    position = 0
    while brace := _BRACE.search(text, position):
        start, position = brace.start(), brace.end()
        literal.append(text[brace.pos : start])
        if brace[0] == "}":
            closes_doubled = doubled[-1] if doubled else escapes
            if not closes_doubled or text.startswith("}", position):
                del doubled[-1:]
                position += 1 if closes_doubled else 0
            literal.append("}")
        elif brace[0] == "{" and (name := _name_at(text, start)):
            pieces += ["".join(literal), Hole((name,))]
            literal.clear()
            position = text.index("}", start) + 1
        else:
            if half := _HALF_CLOSED.match(text, start):
                raise wrong_at(text, start, f"{half[0]} opens with two braces and closes with one")
            doubled.append(brace[0] == "{{")
            literal.append("{")
    pieces.append("".join([*literal, text[position:]]))
    return tuple(piece for piece in pieces if piece != "")


def _name_at(text: str, start: int) -> str | None:
    """Return the variable of the brace at `start`; None where the brace is literal."""
    found = FIELD.match(text, start)
    if found is None or is_prose(text, found):
        return None
    if found[2] != "}":
        raise _refused(text, found)
    return found[1].strip()


def _refused(text: str, found: re.Match[str]) -> InvalidOptionError:
    field = text[found.start() : found.start() + 60].partition("}")
    name = found[1].strip()
    return wrong_at(
        text,
        found.start(),
        f"{field[0]}{field[1]} has a name with {_REACHES[found[2]]}; a template only names its "
        f"variables: {{{name}}}, and literal braces are doubled: {{{{ and }}}}",
    )
