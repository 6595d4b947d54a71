"""Read a judgement from a stored reply, or from the reply to another library's prompt."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.replies.judgement import CONFIDENCE, VERDICT, Judgement
from llmeval_integrations.judges.replies.objects import Members, find, plain_name
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import NoStatementError, Reader
from llmeval_integrations.judges.replies.vocabulary import REASONS, VERDICT_NAMES, Vocabulary
from llmeval_integrations.llm.thoughts import strip_reasoning

_log = logging.getLogger(__name__)

Method: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Looks for a judgement in a text and returns its parts by name, or None if there is none."""


def parse_judgement(
    reply: Any,
    required_keys: Sequence[str] = ("verdict",),
    *,
    words: Sequence[str] | None = None,
    scale: tuple[float, float] | None = None,
    methods: Sequence[Method] = (),
    ignoring: Sequence[str] = (),
    fence: str = "",
) -> Judgement:
    """Read a judgement from a judge's raw reply, or from a mapping.

    All statements of a verdict have to agree, except those in the thinking and in quotations. Use
    `words` or `scale` for replies to other libraries' prompts:

    >>> parse_judgement("Assistant A is better. [[A]]", words=("A", "B", "C")).verdict
    'A'

    Args:
        reply: The text, a mapping, or a pydantic model.
        required_keys: The required parts. A name such as "decision" renames the verdict.
        words: The verdicts, if they are not Pass and Fail.
        scale: The lowest and the highest number, if the verdict is a number.
        methods: Parsers of your own, tried in turn if the reply states no verdict.
        ignoring: Texts that the reply may quote.
        fence: The mark in the tags around foreign text, `<output MARK>` and `</output MARK>`.

    Raises UnreadableJudgementError if the verdict is missing or not clear, or a required part is
    missing.
    """
    names = [plain_name(key) for key in _as_list(required_keys)]
    quotations = Quotations(_as_list(ignoring), fence)
    reader = Reader(_vocabulary(names, words, scale), CONFIDENCE, quotations)
    try:
        judgement = _read(reply, reader, methods)
        _check_names(names, reader.vocabulary.name, judgement, reply)
    except UnreadableJudgementError as error:
        raise UnreadableJudgementError(f"Unreadable judgement, {error}: {quote(reply)}") from None
    return judgement


def _as_list(texts: str | Sequence[str]) -> Sequence[str]:
    return (texts,) if isinstance(texts, str) else texts


def _read(reply: Any, reader: Reader, methods: Sequence[Method]) -> Judgement:
    if not isinstance(reply, str):
        return reader.read_members(_members(reply))
    try:
        return reader.read(reply)
    except NoStatementError:
        for method in methods:
            try:
                found = method(strip_reasoning(reply))
            except Exception as error:  # noqa: BLE001 - a method may raise if it finds nothing
                _log.info("%r reads no judgement: %r", method, error)
                continue
            if isinstance(found, Mapping):
                return reader.read_members(_members(found))
        raise


def _check_names(names: Sequence[str], verdict: str, judgement: Judgement, reply: Any) -> None:
    """Raise UnreadableJudgementError if a required part is missing."""
    for name in names:
        is_there = name == verdict
        if name in REASONS:
            is_there = bool(judgement.reasoning)
        elif name in CONFIDENCE.names:
            is_there = judgement.confidence is not None
        elif not isinstance(reply, str):
            is_there |= name in _members(reply)
        else:
            label = re.escape(name).replace("\\ ", r"[\s_-]")
            is_there |= bool(re.search(rf"(?i)\b{label}\W{{0,6}}[:=>]", reply))
        if not is_there:
            raise UnreadableJudgementError(f"it has no {name}")


def _vocabulary(
    names: Sequence[str], words: Sequence[str] | None, scale: tuple[float, float] | None
) -> Vocabulary:
    name = next((each for each in names if each in VERDICT_NAMES), VERDICT.name)
    aliases = tuple(each for each in (VERDICT.name, *VERDICT_NAMES) if each != name)
    if scale is not None:
        low, high = map(float, scale)
        return Vocabulary(name, scale=(low, high), aliases=aliases)
    if words is not None:
        return Vocabulary(name, tuple((word.casefold(), word) for word in words), aliases=aliases)
    return replace(VERDICT, name=name, aliases=aliases)


def _members(reply: Any) -> Members:
    try:
        given = reply.model_dump() if hasattr(type(reply), "model_dump") else reply
        return find(dict(given), lambda _: True)[0]
    except (TypeError, ValueError) as error:
        raise UnreadableJudgementError("it is neither a text nor a mapping") from error
