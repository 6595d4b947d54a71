"""One reader for all judges: it returns what a reply states, or raises if that is not clear.

An object with the mark that the request asked for is the judge's own, whatever surrounds it. If
there is none, every `name: word` counts as a statement, in any formatting. Statements that repeat
a text shown to the judge are ignored, and all others have to agree. If a judge rewords a text that
it was shown, the reader cannot distinguish it from the judge's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.objects import (
    Members,
    Quotations,
    as_members,
    decode,
    find,
    objects,
    plain_name,
)
from llmeval_integrations.judges.vocabulary import (
    CONFIDENCE,
    REASONS,
    VERDICT,
    VERDICT_NAMES,
    Judgement,
    Statement,
    Vocabulary,
    alternation,
)
from llmeval_integrations.llm.reply import strip_reasoning

Method: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Looks for a judgement in a text and returns its parts by name, or None if there is none."""

_REASONING: Final = re.compile(
    r"(?:^|(?<=[\n<*#|.;,{(]))[^\w\n]{0,8}(?:final |overall |my )?"
    rf"(?:{'|'.join(sorted(REASONS, reverse=True))}|raciocínio|raisonnement|begründung|理由)"
    r"[\"'*_`\\]{0,4}\s?[:=：>\n|][\s*_\"'`>|]*(?P<text>.*?)"
    r"(?=\n\s*[^\w\n]{0,6}(?:\w+ )?(?:verdict|confidence|judg\w+|decision|result|rating)\b"
    r"|</|[\"'`]?\s*[,;|]\s*[\"'`]?(?:verdict|confidence)\b|\n\s*\n(?!\s*[-*\d])|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Reasons after a label, up to the next label or paragraph."""

_SENTENCE_END: Final = re.compile(r"[.!?。！？)]\s*\Z")
_RETRACTION: Final = re.compile(
    r"(?:^|[.!?]\s*)(?:wait|actually)\b"
    r"|\b(?:correct(?:ion|ed)|scratch that|my mistake|made an error|quoted from|opposite|undecided"
    r"|on (?:second thoughts?|reflection|a (?:second|closer) look)"
    r"|i (?:misread|misjudged|meant?|changed?|take|was wrong|refuse)"
    r"|should (?:be|have been) (?:an? )?(?:pass|fail)"
    r"|(?:change|revise|reverse|disregard|ignore) (?:my|the|this) (?:\w+ )?verdict)\b"
    r"|\{\s*[\"']?(?:reas|verd)",
    re.IGNORECASE | re.MULTILINE,
)
"""Words after a verdict that retract it, or begin another one."""

_INTRODUCTION: Final = re.compile(
    r"(?:\b(?:would|could|might|not|wants?|says?|said|wrote|contain(?:s|ed)|reads?|example|draft"
    r"|initial(?:ly)?|ignore|previous|incorrect|wrong|trick|if|(?:reply|answer) with|claims?|ends"
    r"|has|hides|asks?|tells?|orders?)\b[^.!?\n{}]{0,60}|^\s*>[^\n]*)\Z",
    re.IGNORECASE,
)
"""Words on the line before a statement that attribute it to others, or to a draft."""


class NoStatementError(UnreadableJudgementError):
    """The reply contains no statement at all, clear or unclear."""


@dataclass
class Reader:
    """Reads one kind of answer from the replies to one request."""

    vocabulary: Vocabulary
    quotations: Quotations = field(default_factory=Quotations)

    def read(self, reply: str) -> Judgement:
        """Return the judgement of a reply; raises UnreadableJudgementError."""
        trimmed = reply.strip(" \t\r\n\ufeff")
        text = strip_reasoning(trimmed, lambda part: bool(self._own(self._claims(part), part)))
        claims = self._claims(text)
        own = self._own(claims, text)
        prose = decode(_blank(text, claims))
        is_all = own == claims and not prose.strip()
        if own and (is_all or own[0].marked):
            return self._agree(own, text)
        stated = [*own, *self._labels(prose)]
        if claims and not stated:
            raise NoStatementError("it only repeats a text that was shown")
        source = text if own else prose
        judgement = self._agree(stated, source)
        last = max(each.end for each in own or stated)
        tail = _REASONING.sub("", decode(source[last:]))
        if self._contradicts(tail, judgement.verdict) or _RETRACTION.search(tail):
            raise UnreadableJudgementError(f"it goes on to take its {self.vocabulary.name} back")
        return judgement

    def read_members(self, members: Members) -> Judgement:
        """Return the judgement of an object that is known to be an answer."""
        claims = self.vocabulary.state(members)
        return self._agree([each for each in claims if not self._repeats(each)], "")

    def _claims(self, text: str) -> list[Statement]:
        """List what the objects of a text state."""
        state, is_marked = self.vocabulary.state, self.quotations.mark_is_in
        return [
            claim
            for start, end, outer in objects(text)
            for inner in find(outer, state)
            for claim in state(inner, start, end, marked=is_marked(outer) or is_marked(inner))
        ]

    def _own(self, claims: Sequence[Statement], text: str) -> list[Statement]:
        """List the judge's own claims: those with the mark, else those that no text shows."""
        return [each for each in claims if each.marked] or [
            each
            for each in claims
            if not _is_introduced(text, each.start) and not self._repeats(each)
        ]

    def _labels(self, text: str) -> list[Statement]:
        """List what a text states outside of its objects, by name, else alias, else bare word.

        A label that was shown is the judge's own if it follows full sentences that were not.
        """
        reasons = [*_REASONING.finditer(text)]

        def is_own(each: Statement) -> bool:
            before = [found["text"] for found in reasons if found.end("text") <= each.start]
            last = before[-1] if before else ""
            is_whole = bool(_SENTENCE_END.search(last))
            return not self.quotations.repeat(each.source, last, is_whole=is_whole)

        for kind in ("name", "alias"):
            found = self.vocabulary.statements(text, kind)
            if stated := [each for each in found if not _is_introduced(text, each.start)]:
                return [*filter(is_own, stated)]
        return [*self.vocabulary.statements(text, "bare")]

    def _repeats(self, each: Statement) -> bool:
        """Return whether a shown text states the same, under this key or the usual one."""
        reasons = reasons_of(each.members or {})
        sources = {each.source, f"{self.vocabulary.name} {each.source.partition(' ')[2]}"}
        return any(self.quotations.repeat(source, reasons) for source in sources)

    def _agree(self, stated: Sequence[Statement], text: str) -> Judgement:
        """Return the common judgement; raises UnreadableJudgementError if statements differ."""
        name = self.vocabulary.name
        if not stated:
            raise NoStatementError(f"it has no {name} of its own")
        value, members = stated[0].value, stated[0].members
        if any(each.value is None or each.value != value for each in stated):
            said = " / ".join(dict.fromkeys(each.source.strip() for each in stated))
            raise UnreadableJudgementError(f"its {name} is not clear: {quote(said)}")
        rest = _blank(text, stated).strip()
        if members:
            reasoning = reasons_of(members)
        elif label := _REASONING.search(text) or _REASONING.match(rest):
            reasoning = label["text"].strip(" \t\r\n\"'`*_|,")
        else:
            reasoning = rest
        inconsistent = self._contradicts(decode(reasoning), value)
        if self.quotations.mark:  # the writer may see the reasons, but must never see the mark
            reasoning = reasoning.replace(self.quotations.mark, "")
        levels = {each.value for each in CONFIDENCE.state(members or {})} or {
            each.value
            for each in CONFIDENCE.statements(text, "name", "alias")
            if not _is_introduced(text, each.start)
        }
        return Judgement(reasoning, value, levels.pop() if len(levels) == 1 else None, inconsistent)

    def _contradicts(self, reasoning: str, value: Any) -> bool:
        """Return whether the reasons state or conclude with an answer other than `value`."""
        kinds = ("name", "alias", "bare") if self.vocabulary.decisive else ("name",)
        stated = [*self.vocabulary.statements(reasoning, *kinds)]
        return self.vocabulary.concludes_otherwise(_blank(reasoning, stated), value) or any(
            each.value not in (None, value)
            and not _is_introduced(reasoning, each.start)
            and not self.quotations.hold(each.source)
            for each in stated
        )


def reasons_of(members: Mapping[str, Any]) -> str:
    """Return the reasons that an object gives, as text."""
    given = {plain_name(key): value for key, value in members.items()}
    value = next((given[name] for name in REASONS if given.get(name) is not None), "")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _blank(text: str, found: Sequence[Statement]) -> str:
    """Return a text with the statements replaced by blanks."""
    for each in found:
        text = f"{text[: each.start]}{' ' * (each.end - each.start)}{text[each.end :]}"
    return text


def _is_introduced(text: str, at: int) -> bool:
    """Return whether the line before a position attributes what follows to others."""
    return bool(_INTRODUCTION.search(text[max(0, at - 90) : at].rsplit("\n", 1)[-1]))


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

    Raises UnreadableJudgementError if the verdict is not clear, or a required part is missing.
    """
    texts = (ignoring,) if isinstance(ignoring, str) else ignoring
    keys = (required_keys,) if isinstance(required_keys, str) else required_keys
    own = {str(each).casefold(): each for each in words or ()}
    vocabulary = Vocabulary(VERDICT.name, own, scale, VERDICT_NAMES) if own or scale else VERDICT
    reader = Reader(vocabulary, Quotations(texts, fence))
    try:
        judgement = _read(reply, reader, methods)
        _check_parts(judgement, keys, reply)
    except UnreadableJudgementError as error:
        raise UnreadableJudgementError(f"Unreadable judgement, {error}: {quote(reply)}") from None
    return judgement


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
                return reader.read_members(dict(found))
        raise


def _check_parts(judgement: Judgement, keys: Sequence[str], reply: Any) -> None:
    """Raise UnreadableJudgementError if a required part is missing."""
    text = reply if isinstance(reply, str) else "".join(f"{key}:\n" for key in _members(reply))
    for name in map(plain_name, keys):
        if name in REASONS:
            is_there = bool(judgement.reasoning)
        elif name in (CONFIDENCE.name, *CONFIDENCE.aliases):
            is_there = judgement.confidence is not None
        else:
            label = rf"(?i)\b(?:{alternation((name,))})\W{{0,6}}[:=>]"
            is_there = name == VERDICT.name or bool(re.search(label, text))
        if not is_there:
            raise UnreadableJudgementError(f"it has no {name}")


def _members(reply: Any) -> Members:
    try:
        given = reply.model_dump() if hasattr(type(reply), "model_dump") else reply
        return as_members([*dict(given).items()])
    except (TypeError, ValueError) as error:
        raise UnreadableJudgementError("it is neither a text nor a mapping") from error
