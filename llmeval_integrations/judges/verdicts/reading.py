"""Reading a judgement out of a reply, surely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.judges.verdicts.gathering import Gatherer
from llmeval_integrations.judges.verdicts.judgement import Judgement
from llmeval_integrations.judges.verdicts.objects import (
    AROUND,
    FoundObject,
    Members,
    find_sole_object,
)
from llmeval_integrations.judges.verdicts.parts import Parts
from llmeval_integrations.judges.verdicts.quotations import Quotations
from llmeval_integrations.judges.verdicts.spans import cut
from llmeval_integrations.llm.thinking import answer_spans

REQUIRED: Final = ("reasoning", "verdict", "confidence")

Method: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Looks for a judgement in a text: gives its parts by name, or None where it finds none."""


def parse_judgement(
    reply: Any,
    required_keys: Iterable[str] = REQUIRED,
    *,
    methods: Iterable[Method] = (),
    ignoring: Iterable[str] = (),
    fence: str = "",
    examples: Iterable[str] = (),
) -> Judgement:
    """Read a judgement from a judge's raw reply, or from a mapping.

    Read are JSON, alone, in a fence, after thinking or in prose; the same with quotes of Python or
    of other languages; labels (`**Verdict:** Pass`, headings, tags) in any order. A verdict is
    never guessed: all that the reply states of it has to agree, outside of its thinking and of
    what it quotes.

    `required_keys` may call the parts by other names ("reason", "decision"); a key of an unknown
    name only has to be there. A confidence that is not required and not clear is None.
    `methods` are tried where a part is missing; what they find has to be as clear and to agree
    with the rest, and an exception means that they found nothing. `ignoring` holds texts that the
    reply may quote, such as the candidate's, and `fence` the mark in the tags around foreign text,
    `<output MARK>` and `</output MARK>`. `examples` holds texts of one's own with judgements, such
    as the prompt: only a judgement that stands in them as a whole is a quotation.

    Raises UnreadableJudgementError with the reason, InvalidOptionError for a wrong argument. Takes
    linear time.
    """
    parts = Parts.of(_as_tuple("required_keys", required_keys, _is_text, "names"))
    tried = _as_tuple("methods", methods, callable, "functions")
    quotations = Quotations(
        _as_texts("ignoring", ignoring), fence, parts.names, _as_texts("examples", examples)
    )
    return read_judgement(reply, parts, quotations, tried)


def read_judgement(
    reply: Any, parts: Parts, quotations: Quotations, methods: Sequence[Method] = ()
) -> Judgement:
    """Read a judgement as `parse_judgement` does, with what is quoted known already."""
    gatherer = Gatherer(parts, quotations)
    try:
        if isinstance(reply, str):
            _read_text(_decoded(reply), gatherer, methods)
        else:
            _take_members(_members(reply), gatherer)
        return gatherer.evidence.judgement()
    except UnreadableJudgementError as error:
        raise UnreadableJudgementError(f"Unreadable judgement, {error}: {quote(reply)}") from None


def _as_texts(name: str, given: Any) -> tuple[str, ...]:
    return tuple(filter(str.strip, _as_tuple(name, given, _is_text, "texts")))


def _as_tuple(name: str, given: Any, is_one: Callable[[Any], bool], kind: str) -> tuple[Any, ...]:
    """Return an argument of several things as a tuple; one alone is taken for several."""
    if is_one(given):
        return (given,)
    try:
        things = tuple(given)
    except TypeError:
        things = (given,)
    if not all(map(is_one, things)):
        raise InvalidOptionError(f"{name}={quote(given)} is not a list of {kind}")
    return things


def _is_text(thing: Any) -> bool:
    return isinstance(thing, str)


def _members(reply: Any) -> Members:
    """Return the members of a mapping, or of a pydantic model."""
    if isinstance(reply, Members):
        return reply
    try:
        given = reply.model_dump() if hasattr(type(reply), "model_dump") else reply
        if isinstance(given, Mapping):
            return Members([(key, value) for key, value in given.items() if isinstance(key, str)])
    except Exception as error:
        raise UnreadableJudgementError(f"its members cannot be read ({quote(error)})") from error
    raise UnreadableJudgementError("it is neither a text nor a mapping")


def _decoded(reply: str) -> str:
    """Return the text of a reply that was encoded twice: a JSON text, with quotes around or not."""
    body = reply.strip(AROUND)
    if body.startswith('{\\"'):
        body = f'"{body}"'
    if len(body) > 1 and body[0] == body[-1] == '"':
        value = json_text.parse(body)
        if isinstance(value, str):
            return value
    return reply


def _read_text(reply: str, gatherer: Gatherer, methods: Sequence[Method]) -> None:
    """Take a reply that is one object, else what is found in its answer."""
    if _is_sole_object(reply, gatherer):
        return
    masked = gatherer.quotations.mask(reply)
    spans, closed = answer_spans(masked, gatherer.quotations.texts)
    if _is_sole_object(cut(reply, spans), gatherer):
        return
    answer = cut(masked, spans)
    if not answer.strip(AROUND):
        unclosed = "" if closed else ", its thinking is never closed"
        raise UnreadableJudgementError(f"it has no answer{unclosed}")
    gatherer.take_answer(answer)
    _try(methods, answer, gatherer)


def _is_sole_object(text: str, gatherer: Gatherer) -> bool:
    """Take an object that stands alone: its texts are known to be data."""
    found = find_sole_object(text)
    if not found or not gatherer.judges(found):
        return False
    _take_sole(found, text, gatherer)
    return True


def _take_members(members: Members, gatherer: Gatherer) -> None:
    """Take an object of which the text is not known; its names and texts stand for it."""
    words = [part for name, value in members.pairs for part in (name, value)]
    text = " ".join(part for part in words if isinstance(part, str))
    _take_sole(FoundObject(members, 0, len(text), sound=True), text, gatherer)


def _take_sole(found: FoundObject, text: str, gatherer: Gatherer) -> None:
    if gatherer.quotations.hold_object(found, text[found.start : found.end]):
        raise UnreadableJudgementError("it only repeats a text that was shown")
    gatherer.take_object(found, text)


def _try(methods: Sequence[Method], answer: str, gatherer: Gatherer) -> None:
    """Let the caller's methods look for what is missing."""
    for method in methods:
        if not gatherer.evidence.missing:
            return
        try:
            found = method(answer)
        except Exception:  # noqa: BLE001, S112 - how a method says that it found nothing
            continue
        if isinstance(found, Mapping):
            gatherer.evidence.add(found.items())
