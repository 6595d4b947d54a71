"""One reader for all judges: it returns what a reply states, or raises if that is not clear.

An object with the mark that the request asked for is the judge's own, whatever surrounds it. If
there is none, every `name: word` counts as a statement, in any formatting. Statements that repeat
a text shown to the judge are ignored, and all others have to agree. If a judge rewords a text that
it was shown, the reader cannot distinguish it from the judge's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.replies.judgement import Judgement
from llmeval_integrations.judges.replies.objects import find, objects, plain_name
from llmeval_integrations.judges.replies.quotations import Quotations, decode
from llmeval_integrations.judges.replies.vocabulary import Statement, Vocabulary
from llmeval_integrations.llm.thoughts import strip_reasoning

REASONS: Final = (
    "reasoning", "reason", "reasons", "rationale", "explanation", "analysis", "justification",
    "feedback", "critique",
)  # fmt: skip
"""Names that judges use for their reasons."""

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
    confidence: Vocabulary | None = None
    quotations: Quotations = field(default_factory=Quotations)

    def read(self, reply: str) -> Judgement:
        """Return the judgement of a reply; raises UnreadableJudgementError."""
        text = strip_reasoning(reply.strip(" \t\r\n\ufeff"), self._decides)
        claims = self._claims(text)
        if marked := [each for each in claims if each.marked]:
            return self._agree(marked, text)
        rest = decode(_blank(text, claims))
        own = [each for each in claims if self._is_own(each, text)]
        stated = [*own, *self._labels(rest)]
        if claims and not stated:
            raise NoStatementError("it only repeats a text that was shown")
        text = text if own else rest
        judgement = self._agree(stated, text)
        tail = _REASONING.sub("", decode(text[max(each.end for each in own or stated) :]))
        if self._contradicts(tail, judgement.verdict) or _RETRACTION.search(tail):
            raise UnreadableJudgementError(f"it goes on to take its {self.vocabulary.name} back")
        return judgement

    def read_members(self, members: Mapping[str, Any]) -> Judgement:
        """Return the judgement of an object that is known to be an answer."""
        claims = self._state(members)
        return self._agree([each for each in claims if not self._repeats(each)], "")

    def _decides(self, text: str) -> bool:
        """Return whether a text contains the judge's own object."""
        return any(each.marked or self._is_own(each, text) for each in self._claims(text))

    def _claims(self, text: str) -> list[Statement]:
        """List what the objects of a text state."""
        return [
            claim
            for start, end, members in objects(text)
            for inner in find(members, lambda each: bool(self.vocabulary.state(each)))
            for claim in self._state(
                inner, start, end, marked=any(map(self.quotations.mark_is_in, (members, inner)))
            )
        ]

    def _state(
        self, members: Mapping[str, Any], start: int = 0, end: int = 0, *, marked: bool = False
    ) -> list[Statement]:
        """List what one object states."""
        reasons = reasons_of(members)
        return [
            Statement(value, source, start, end, reasons, dict(members), marked)
            for value, source in self.vocabulary.state(members)
        ]

    def _labels(self, text: str) -> list[Statement]:
        """List what a text states outside of its objects, by name, else alias, else bare word."""
        reasons = [*_REASONING.finditer(text)]
        for by_alias in (False, True):
            found = self.vocabulary.statements(text, by_alias=by_alias)
            if stated := [each for each in found if not _is_introduced(text, each.start)]:
                return [each for each in stated if self._is_own_label(each, reasons)]
        return [*self.vocabulary.bare_words(text)]

    def _is_own(self, each: Statement, text: str) -> bool:
        return not _is_introduced(text, each.start) and not self._repeats(each)

    def _repeats(self, each: Statement) -> bool:
        """Return whether a shown text states the same, under this key or the usual one."""
        value = each.source.partition(" ")[2]
        sources = (each.source, f"{self.vocabulary.name} {value}")
        return any(self.quotations.repeat(source, each.reasoning) for source in sources)

    def _is_own_label(self, each: Statement, reasons: Sequence[re.Match[str]]) -> bool:
        """Return whether a label was not shown, or follows full sentences that were not."""
        before = [found["text"] for found in reasons if found.end("text") <= each.start]
        if not before or not _SENTENCE_END.search(before[-1]):
            return not self.quotations.hold(each.source)
        return not self.quotations.repeat(each.source, before[-1])

    def _agree(self, stated: Sequence[Statement], text: str) -> Judgement:
        """Return the common judgement; raises UnreadableJudgementError if statements differ."""
        name = self.vocabulary.name
        if not stated:
            raise NoStatementError(f"it has no {name} of its own")
        first = stated[0]
        if any(each.value is None or each.value != first.value for each in stated):
            said = " / ".join(dict.fromkeys(each.source.strip() for each in stated))
            raise UnreadableJudgementError(f"its {name} is not clear: {quote(said)}")
        reasoning = first.reasoning if first.members else _find_reasons(text, stated)
        inconsistent = self._contradicts(decode(reasoning), first.value)
        if self.quotations.mark:  # the writer may see the reasons, but must never see the mark
            reasoning = reasoning.replace(self.quotations.mark, "")
        confidence = self._read_confidence(first.members, decode(text))
        return Judgement(reasoning, first.value, confidence, inconsistent)

    def _read_confidence(self, members: Mapping[str, Any] | None, text: str) -> Any:
        if self.confidence is None:
            return None
        values = [value for value, _ in self.confidence.state(members or {})] or [
            each.value
            for by_alias in (False, True)
            for each in self.confidence.statements(text, by_alias=by_alias)
            if not _is_introduced(text, each.start)
        ]
        return values[0] if len({*values}) == 1 else None

    def _contradicts(self, reasoning: str, value: Any) -> bool:
        """Return whether the reasons state or conclude with an answer other than `value`."""
        vocabulary = self.vocabulary
        stated = [*vocabulary.statements(reasoning)]
        if vocabulary.decisive:
            stated += vocabulary.statements(reasoning, by_alias=True)
            stated += vocabulary.bare_words(reasoning)
        return vocabulary.concludes_otherwise(_blank(reasoning, stated), value) or any(
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


def _find_reasons(text: str, stated: Sequence[Statement]) -> str:
    """Return the reasons after a label, else the text without the answer."""
    found = _REASONING.search(text)
    return found["text"].strip(" \t\r\n\"'`*_|,") if found else _blank(text, stated).strip()


def _is_introduced(text: str, at: int) -> bool:
    """Return whether the line before a position attributes what follows to others."""
    return bool(_INTRODUCTION.search(text[max(0, at - 90) : at].rsplit("\n", 1)[-1]))
