"""Telling a model's thinking from its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect

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

_NEXT: Final = 12  # letters
_NO_LETTER = re.compile(r"[\W_]+")
_MENTIONED = frozenset(("``", '""', "''", "“”", "«»"))


def answer_spans(text: str, quoted: Sequence[str] = ()) -> tuple[list[tuple[int, int]], bool]:
    """Return where the answer stands, piece by piece, and whether all thinking was closed.

    A closing tag without an opening one ends thinking that began with the text, since some
    templates open it in the prompt; but not where one of the texts that may be quoted goes on in
    the same way behind such a tag. A tag in quotation marks of its own is a word about tags.
    """
    spans: list[tuple[int, int]] = []
    position, thinking = 0, False
    copied: set[int] | None = None
    for tag in _tags(text):
        if not _closes(tag):
            if not thinking:
                spans.append((position, tag.start()))
            thinking = True
            continue
        if not thinking:
            if copied is None:
                copied = _copied(text, quoted)
            if tag.end() in copied:
                continue
            spans.clear()
        position, thinking = tag.end(), False
    if not thinking:
        spans.append((position, len(text)))
    return spans, not thinking


def without_thinking(reply: str, *quoted: str) -> str:
    """Return a reply's answer; a reply that is JSON is all answer, whatever tags its texts hold.

    `quoted` are texts that were shown: tags that the reply copies with one close no thinking.
    """
    if not THINKING.search(reply) or not isinstance(json_text.parse(reply), Defect):
        return reply
    for text in map(str.strip, quoted):
        if THINKING.search(text):
            reply = reply.replace(text, _GAP)
    pieces = (reply[start:end] for start, end in answer_spans(reply, quoted)[0])
    return _GAP.join(pieces).strip(f" \t\r\n{_GAP}")


def closes_thinking(text: str) -> bool:
    """Whether a text has a closing tag that is not only mentioned."""
    return any(map(_closes, _tags(text)))


def _copied(text: str, quoted: Sequence[str]) -> set[int]:
    """Return where closing tags end that one of the texts that may be quoted has, too.

    They are told by the next letters, as far as there are any before the next tag or the end of
    the text. Behind a tag without any nothing tells it from another.
    """
    shown = {said for one in quoted for _, said in _behind_closing_tags(one)}
    if not shown:
        return set()
    beginnings = {said[:count] for said in shown for count in range(len(said) + 1)}
    short = {said for said in shown if 0 < len(said) < _NEXT}
    return {
        end
        for end, said in _behind_closing_tags(text)
        if said in beginnings or any(said[:count] in short for count in range(1, len(said)))
    }


def _behind_closing_tags(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each closing tag ends, and the next letters up to another tag."""
    tags = list(THINKING.finditer(text))
    ends = [*(tag.start() for tag in tags[1:]), len(text)]
    for tag, end in zip(tags, ends):
        if _closes(tag):
            letters = _NO_LETTER.sub("", text[tag.end() : end].casefold())
            yield tag.end(), letters[:_NEXT]


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Find all tags but those that are only mentioned."""
    for tag in THINKING.finditer(text):
        around = text[tag.start() - 1 : tag.start()] + text[tag.end() : tag.end() + 1]
        if around not in _MENTIONED:
            yield tag


def _closes(tag: re.Match[str]) -> bool:
    if tag["channel"]:
        return tag["channel"].lower() == "final"
    return any(tag[name] for name in ("xml", "square", "shape", "pipes", "END", "other"))
