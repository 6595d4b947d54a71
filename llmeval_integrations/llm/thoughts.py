"""Remove a model's reasoning, which is not part of its answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect

_NAMES = r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|scratchpad|reflection)"

_TAG: Final = re.compile(
    rf"(?:<|&lt;)\|?(?P<xml>/?){_NAMES}(?:\s[^<>&]{{0,80}})?\|?(?:>|&gt;)"
    r"|\[(?P<square>/?)THINK\]|◁(?P<shape>/?)think▷"
    r"|<\|(?:(?:begin|(?P<pipes>end))_of_thought|START_THINKING|(?P<END>END_THINKING))\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary|(?P<final>final))\b[^\n]{0,80}?<\|message\|>"
    r"|<(?:\|channel|unused94)>\s{0,9}thoughts?\b|(?P<other><(?:channel\||unused95)>)",
    re.IGNORECASE,
)
"""The tags and channels that begin or end the reasoning of several models; a group marks an end."""

_MENTIONED = frozenset(("``", '""', "''", "“”", "«»"))


def strip_reasoning(reply: str, decides: Callable[[str], bool] = lambda _: False) -> str:
    """Return a reply without its reasoning; a JSON reply is returned unchanged.

    A closing tag without an opening one ends reasoning that began with the reply, since some
    templates put the opening tag into the prompt. If `decides` finds an answer before the closing
    tag, the tag is a quotation from the judged text and ends nothing.
    """
    if not _TAG.search(reply) or not isinstance(json_text.parse(reply), Defect):
        return reply
    pieces: list[str] = []
    position, inside, decided = 0, False, False
    for tag in _TAG.finditer(reply):
        around = reply[tag.start() - 1 : tag.start()] + reply[tag.end() : tag.end() + 1]
        if around in _MENTIONED:
            continue
        if not any(tag.groups()):
            if not inside:
                pieces.append(reply[position : tag.start()])
            inside = True
            continue
        if not inside:
            decided = decided or decides("\n".join([*pieces, reply[position : tag.start()]]))
            if decided:
                continue
            pieces.clear()
        position, inside = tag.end(), False
    if not inside:
        pieces.append(reply[position:])
    return "\n".join(pieces).strip()
