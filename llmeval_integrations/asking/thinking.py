"""Telling a model's thinking from its answer."""

from __future__ import annotations

import re
from typing import Final

from llmeval_integrations import json_text
from llmeval_integrations.json_defects import Defect

_NAMES = r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|scratchpad|reflection)"

THINKING: Final = re.compile(
    rf"(?:<|&lt;)\|?(?P<xml>/?){_NAMES}(?:\s[^<>&]{{0,80}})?\|?(?:>|&gt;)"
    r"|\[(?P<square>/?)THINK\]|◁(?P<shape>/?)think▷"
    r"|<\|(?:(?:begin|(?P<pipes>end))_of_thought|START_THINKING|(?P<END>END_THINKING))\|>"
    r"|<\|channel\|>\s*(?P<channel>analysis|commentary|final)\b[^\n]{0,80}?<\|message\|>"
    r"|<(?:\|channel|unused94)>\s{0,9}thoughts?\b|(?P<other><(?:channel\||unused95)>)",
    re.IGNORECASE,
)
"""What opens or closes thinking: tags of several models, and channels."""

_GAP: Final = "\ufffc"
"""Stands for what is taken out of an answer, so that what is left of it does not join."""

_MENTIONED = frozenset(("``", '""', "''", "“”", "«»"))


def answer_spans(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Return where the answer stands, piece by piece, and whether all thinking was closed.

    A closing tag without an opening one ends thinking that began with the text, since some
    templates open it in the prompt. A tag in quotation marks of its own is a word about tags.
    """
    spans: list[tuple[int, int]] = []
    position, thinking = 0, False
    for tag in THINKING.finditer(text):
        around = text[tag.start() - 1 : tag.start()] + text[tag.end() : tag.end() + 1]
        if around in _MENTIONED:
            continue
        if not _closes(tag):
            if not thinking:
                spans.append((position, tag.start()))
            thinking = True
            continue
        if not thinking:
            spans.clear()
        position, thinking = tag.end(), False
    if not thinking:
        spans.append((position, len(text)))
    return spans, not thinking


def without_thinking(reply: str, quoted: str = "") -> str:
    """Return a reply's answer; a reply that is JSON is all answer, whatever tags its texts hold.

    `quoted` is a text that was shown: tags that the reply copies with it close no thinking.
    """
    if not THINKING.search(reply) or not isinstance(json_text.parse(reply), Defect):
        return reply
    quoted = quoted.strip()
    if THINKING.search(quoted):
        reply = reply.replace(quoted, _GAP)
    pieces = (reply[start:end] for start, end in answer_spans(reply)[0])
    return _GAP.join(pieces).strip(f" \t\r\n{_GAP}")


def _closes(tag: re.Match[str]) -> bool:
    if tag["channel"]:
        return tag["channel"].lower() == "final"
    return any(tag[name] for name in ("xml", "square", "shape", "pipes", "END", "other"))
