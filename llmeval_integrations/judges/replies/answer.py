"""The answer in a reply, and the reasons that it gives."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from llmeval_integrations.judges.replies.objects import FoundObject, Members, find, objects
from llmeval_integrations.judges.replies.phrases import REASONING
from llmeval_integrations.judges.replies.vocabulary import REASONS, Statement
from llmeval_integrations.llm.thinking import without_thinking


def find_answer(reply: str, mark: str, decides: Callable[[str], bool]) -> str:
    """Return a reply without its thinking, and without what is copied with its fence."""
    body = reply.strip(" \t\r\n\ufeff")
    if body[:1] == body[-1:] == '"':
        with suppress(ValueError):
            body = str(json.loads(body, strict=False))
    if "&quot;" in body and '"' not in body:
        body = html.unescape(body)
    text = without_thinking(body, decides)
    if (
        mark
        and f" {mark}>" in text
        and not any(
            find(each.members, lambda members: is_marked(members, mark)) for each in objects(text)
        )
    ):
        pattern = rf"<(\w+) {mark}>.*?(?:</\1 {mark}>|\Z)"
        text = re.sub(pattern, " ~~~ ", text, flags=re.DOTALL)
    return text


def is_marked(members: Members, mark: str) -> bool:
    """Whether an object carries the mark that was asked for."""
    return bool(mark) and isinstance(members.get("mark"), str) and mark in members["mark"]


def blank(text: str, found: Sequence[Statement | FoundObject]) -> str:
    """Return a text with blanks in place of what was found in it."""
    for each in found:
        text = f"{text[: each.start]}{' ' * (each.end - each.start)}{text[each.end :]}"
    return text


def reasons_of(members: Members) -> str:
    """Return the reasons that an object gives, as text."""
    for name in REASONS:
        value = members.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and value.keys() == {"text"}:
            return str(value["text"])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return "\n".join(value)
        if value is not None:
            return json.dumps(value, ensure_ascii=False)
    return ""


def find_reasons(text: str, stated: Sequence[Statement]) -> str:
    """Return the reasons that stand under a label, else all that stands beside the answer."""
    found = REASONING.search(text)
    if found and found["text"].strip():
        return found["text"].strip(" \t\r\n\"'`*_|,")
    return blank(text, stated).strip()
