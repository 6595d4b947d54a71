"""Read a judgement from a stored reply, or from the reply to another library's prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.replies.judgement import CONFIDENCE, VERDICT, Judgement
from llmeval_integrations.judges.replies.objects import Members, as_members, plain_name
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import REASONS, NoStatementError, Reader
from llmeval_integrations.judges.replies.vocabulary import VERDICT_NAMES, Vocabulary
from llmeval_integrations.llm.thoughts import strip_reasoning

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
        required_keys: The required parts, such as "reasoning" and "confidence".
        words: The verdicts, if they are not Pass and Fail.
        scale: The lowest and the highest number, if the verdict is a number.
        methods: Parsers of your own, tried in turn if the reply states no verdict.
        ignoring: Texts that the reply may quote.
        fence: The mark that the judge was asked to add to its object.

    Raises UnreadableJudgementError if the verdict is missing or not clear, or a required part is
    missing.
    """
    texts = (ignoring,) if isinstance(ignoring, str) else ignoring
    reader = Reader(_vocabulary(words, scale), CONFIDENCE, Quotations(texts, fence))
    keys = (required_keys,) if isinstance(required_keys, str) else required_keys
    try:
        judgement = _read(reply, reader, methods)
        _check_parts(judgement, keys, reply)
    except UnreadableJudgementError as error:
        raise UnreadableJudgementError(f"Unreadable judgement, {error}: {quote(reply)}") from None
    return judgement


def _vocabulary(words: Sequence[str] | None, scale: tuple[float, float] | None) -> Vocabulary:
    if scale is None and words is None:
        return VERDICT
    return Vocabulary(
        "verdict", {each.casefold(): each for each in words or ()}, scale, VERDICT_NAMES
    )


def _read(reply: Any, reader: Reader, methods: Sequence[Method]) -> Judgement:
    if not isinstance(reply, str):
        return reader.read_members(_members(reply))
    try:
        return reader.read(reply)
    except NoStatementError:
        for method in methods:
            try:
                found = method(strip_reasoning(reply))
            except Exception:  # noqa: BLE001, S112 - a method may raise if it finds nothing
                continue
            if isinstance(found, Mapping):
                return reader.read_members(found)
        raise


def _check_parts(judgement: Judgement, keys: Sequence[str], reply: Any) -> None:
    """Raise UnreadableJudgementError if a required part is missing."""
    for name in map(plain_name, keys):
        if name in REASONS:
            is_there = bool(judgement.reasoning)
        elif name in (CONFIDENCE.name, *CONFIDENCE.aliases):
            is_there = judgement.confidence is not None
        elif name in (VERDICT.name, *VERDICT_NAMES):
            is_there = True
        elif isinstance(reply, str):
            label = re.escape(name).replace("\\ ", r"[\s_-]")
            is_there = bool(re.search(rf"(?i)\b{label}\W{{0,6}}[:=>]", reply))
        else:
            is_there = name in map(plain_name, _members(reply))
        if not is_there:
            raise UnreadableJudgementError(f"it has no {name}")


def _members(reply: Any) -> Members:
    try:
        given = reply.model_dump() if hasattr(type(reply), "model_dump") else reply
        return as_members([*dict(given).items()])
    except (TypeError, ValueError) as error:
        raise UnreadableJudgementError("it is neither a text nor a mapping") from error
