"""One reader for all judges: it returns what a reply states, or raises if that is not clear.

An object with the mark that the request asked for is the judge's own, whatever surrounds it. If
there is none, every `name: word` counts as a statement, in any formatting. Statements that repeat
a text shown to the judge are ignored, and all others have to agree. If a judge rewords a text that
it was shown, the reader cannot distinguish it from the judge's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.replies.judgement import Judgement
from llmeval_integrations.judges.replies.objects import Members, find, objects
from llmeval_integrations.judges.replies.quotations import Quotations, decode, letters
from llmeval_integrations.judges.replies.vocabulary import REASONS, Statement, Vocabulary
from llmeval_integrations.llm.thoughts import strip_reasoning

_TAG: Final = re.compile(r"<[^<>]*>?")
_EMPTY_FORM: Final = re.compile(r"\s*(?:\W{2,}|<[^<>]*>|\[[^\[\]]*\])\s*")
_SENTENCE_END: Final = re.compile(r"[.!?。！？)]\s*\Z")
_REASONS: Final = "|".join(sorted(REASONS, key=len, reverse=True))
_REASONING: Final = re.compile(
    r"(?:^|(?<=[\n<*#|.;,{(]))[^\w\n]{0,8}(?:final |overall |my )?"
    rf"(?:{_REASONS}|raciocínio|raisonnement|begründung|理由)"
    r"[\"'*_`\\]{0,4}\s?[:=：>\n|][\s*_\"'`>|]*(?P<text>.*?)"
    r"(?=\n\s*[^\w\n]{0,6}(?:\w+ )?(?:verdict|confidence|judg\w+|decision|result|rating)\b"
    r"|</|[\"'`]?\s*[,;|]\s*[\"'`]?(?:verdict|confidence)\b|\n\s*\n(?!\s*[-*\d])|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Reasons after a label, up to the next label or paragraph."""

_RETRACTION: Final = re.compile(
    r"(?:^|[.!?]\s*)(?:wait|actually)\b"
    r"|\b(?:correct(?:ion|ed)|scratch that|my mistake|made an error|need to"
    r" correct|quoted from|opposite|undecided|n/a"
    r"|on (?:second thoughts?|reflection|a (?:second|closer) look)"
    r"|i (?:misread|misjudged|meant?|changed?|take|was wrong|refuse)"
    r"|should (?:be|have been) (?:an? )?(?:pass|fail)"
    r"|(?:change|revise|reverse|disregard|ignore|not agree with)"
    r" (?:my|the|this) (?:\w+ )?verdict)\b|\{\s*[\"']?(?:reas|verd)",
    re.IGNORECASE | re.MULTILINE,
)
"""Words after a verdict that retract it, or begin another one."""

_INTRODUCTION: Final = re.compile(
    r"(?:\b(?:would|could|might|not|wants?|says?|said|wrote|contain(?:s|ed)|reads?|example|draft"
    r"|initial(?:ly)?|ignore|previous|incorrect|wrong|trick|if|(?:reply|answer) with|claims?|ends"
    r"|has|hides|asks?|tells?|orders?)\b[^.!?\n{}]{0,60}|<!--\s*|\A\s*>[^\n]*)\Z",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"[,;.] (?:here|my|so)\b")
_BEFORE: Final = 90
"""How many characters before a statement are searched for words that attribute it to others."""


class NoStatementError(UnreadableJudgementError):
    """The reply contains no statement at all, clear or unclear."""


def find_answer(reply: str, mark: str, decides: Callable[[str], bool]) -> str:
    """Return a reply without its thinking and without copies of fenced texts."""
    text = strip_reasoning(reply.strip(" \t\r\n\ufeff"), decides)
    if not mark or f" {mark}>" not in text:
        return text
    return re.sub(rf"<(\w+) {mark}>.*?(?:</\1 {mark}>|\Z)", " ~~~ ", text, flags=re.DOTALL)


def is_marked(members: Members, mark: str) -> bool:
    """Return whether an object contains the mark that was asked for."""
    return bool(mark) and isinstance(members.get("mark"), str) and mark in members["mark"]


@dataclass
class Reader:
    """Reads one kind of answer from the replies to one request."""

    vocabulary: Vocabulary
    confidence: Vocabulary | None = None
    quotations: Quotations = field(default_factory=Quotations)

    def read(self, reply: str) -> Judgement:
        """Return the judgement of a reply; raises UnreadableJudgementError."""
        text = find_answer(reply, self.quotations.mark, self._decides)
        claims = self._claims(text)
        if marked := [each for each in claims if each.marked]:
            return self._agree(marked, text)
        rest = decode(_blank(text, claims))
        own = [each for each in claims if self._is_own(each, text)]
        stated = [*own, *self._find_labels(rest, has_objects=bool(own))]
        if claims and not stated:
            raise NoStatementError("it only repeats a text that was shown")
        text = text if own else rest
        judgement = self._agree(stated, text)
        tail = _REASONING.sub("", decode(text[max(each.end for each in own or stated) :]))
        tail = _blank(tail, [*self.vocabulary.statements(tail)])
        if self._contradicts(tail, judgement.verdict) or _RETRACTION.search(tail):
            raise UnreadableJudgementError(f"it goes on to take its {self.vocabulary.name} back")
        return judgement

    def read_members(self, members: Members) -> Judgement:
        """Return the judgement of an object that is known to be an answer."""
        claims = self._state(members, 0, 0)
        return self._agree([each for each in claims if not self._repeats(each)], "")

    def _decides(self, text: str) -> bool:
        """Return whether a text contains the judge's own object, or begins with its answer."""
        return any(each.start == 0 for each in self.vocabulary.bare_words(text)) or any(
            each.marked or self._is_own(each, text) for each in self._claims(text)
        )

    def _claims(self, text: str) -> list[Statement]:
        """List what objects state under the answer's name, else an alias, else a flag."""
        found = objects(text)
        name, read, flags = self.vocabulary.name, self.vocabulary.read, self.vocabulary.flags
        for fits in (
            lambda members: name in members,
            lambda members: any(
                read(members[each]) is not None for each in self.vocabulary.names & members.keys()
            ),
            lambda members: bool(flags(members)),
        ):
            claims: list[Statement] = []
            for start, end, members in found:
                inner = find(members, fits)
                marked = any(is_marked(each, self.quotations.mark) for each in (members, *inner))
                stated = self._state(inner[0], start, end) if inner else []
                if len(inner) > 1:
                    stated = [Statement(None, "several answers in one", start, end, inner[0])]
                claims += [each._replace(marked=marked) for each in stated]
            if claims:
                return claims
        return []

    def _state(self, members: Members, start: int, end: int) -> list[Statement]:
        """List an object's statements of the answer, under its name, its aliases and flags."""
        name, names = self.vocabulary.name, self.vocabulary.names
        said = [
            (value, f"{each} {stated}")
            for each, stated in members.items()
            if each in names
            and ((value := self.vocabulary.read(stated)) is not None or each == name)
        ]
        said += self.vocabulary.flags(members)
        if _EMPTY_FORM.fullmatch(reasons := reasons_of(members)):
            said.append((None, f"a form that is not filled in ({reasons})"))
        return [Statement(value, source, start, end, members) for value, source in said]

    def _find_labels(self, text: str, *, has_objects: bool) -> list[Statement]:
        """List the statements of the text outside its objects."""
        for by_alias in (False,) if has_objects else (False, True):
            stated = self.vocabulary.statements(text, by_alias=by_alias)
            if found := [each for each in stated if not _is_introduced(text, each.start)]:
                reasons = [*_REASONING.finditer(text)]
                return [each for each in found if self._is_own_label(each, reasons)]
        return [each for each in self.vocabulary.bare_words(text) if not self._is_copy(each, text)]

    def _is_own(self, each: Statement, text: str) -> bool:
        return not _is_introduced(text, each.start) and not self._repeats(each)

    def _repeats(self, each: Statement) -> bool:
        """Return whether an object repeats a shown one, or its reasons announce a quotation."""
        reasoning = reasons_of(each.members or Members())
        return self.quotations.repeat(each.source, reasoning) or (
            reasoning.rstrip().endswith((":", ",")) and self.quotations.hold(each.source)
        )

    def _is_own_label(self, each: Statement, reasons: Sequence[re.Match[str]]) -> bool:
        """Return whether a label was not shown, or follows full sentences that were not."""
        if not self.quotations.hold(each.source):
            return True
        before = [found["text"] for found in reasons if found.end("text") <= each.start]
        if not before or not _SENTENCE_END.search(before[-1]):
            return False
        return not self.quotations.repeat(each.source, before[-1])

    def _is_copy(self, each: Statement, text: str) -> bool:
        """Return whether a shown text contains the word after the same six letters."""
        above = letters(_TAG.sub("", text[max(0, each.start - 40) : each.start]))[-6:]
        return bool(above) and self.quotations.hold(above + each.source)

    def _agree(self, stated: Sequence[Statement], text: str) -> Judgement:
        """Return the common judgement; raises UnreadableJudgementError if statements differ."""
        name = self.vocabulary.name
        if not stated:
            raise NoStatementError(f"it has no {name} of its own")
        value, members = stated[0].value, stated[0].members
        if any(each.value is None or each.value != value for each in stated):
            said = " / ".join(dict.fromkeys(each.source.strip() for each in stated))
            raise UnreadableJudgementError(f"its {name} is not clear: {quote(said)}")
        reasoning = reasons_of(members) if members else _find_reasons(text, stated)
        inconsistent = self._contradicts(decode(reasoning), value)
        if self.quotations.mark:  # the writer may see the reasons, but must never see the mark
            reasoning = reasoning.replace(self.quotations.mark, "")
        return Judgement(reasoning, value, self._read_confidence(members, text), inconsistent)

    def _read_confidence(self, members: Members | None, text: str) -> Any:
        if self.confidence is None:
            return None
        for name in (self.confidence.name, *self.confidence.aliases):
            if members and name in members:
                return self.confidence.read(members[name])
        values = {
            each.value
            for by_alias in (False, True)
            for each in self.confidence.statements(decode(text), by_alias=by_alias)
            if not _is_introduced(text, each.start)
        }
        return values.pop() if len(values) == 1 else None

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


def reasons_of(members: Members) -> str:
    """Return the reasons that an object gives, as text."""
    value = next((members[name] for name in REASONS if members.get(name) is not None), "")
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
    """Return whether the words before a position attribute what follows to others, or to a draft.

    The words are on the same line, or on the line above if that ends with a colon.
    """
    before = text[max(0, at - _BEFORE) : at]
    line = before.rsplit("\n", 1)[-1]
    above = before[: len(before) - len(line)].rstrip()
    if not re.search(r"[\w>]", line) and above.endswith((":", ": ```json", "```json", "```")):
        line = re.sub(r"\s*`{3}\w*\Z", "", above).rsplit("\n", 1)[-1]
    if above.endswith("<!--"):
        return True
    found = _INTRODUCTION.search(line)
    return bool(found) and not _OWN.search(line[found.start() :] if found else "")
