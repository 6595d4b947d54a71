"""What in a reply is not the judge's own word: text of the candidate, or of the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

from llmeval_integrations.errors import UnreadableJudgementError
from llmeval_integrations.judges.objects import FoundObject, Members, find_objects
from llmeval_integrations.judges.spans import MASK
from llmeval_integrations.judges.thinking import THINKING

Contents: TypeAlias = frozenset[frozenset[tuple[str, str]]]
"""What some objects hold: the letters of their names and texts."""

_NO_LETTER = re.compile(r"[\W_]+")
_MARKUP = re.compile(r"[\\*_`]+")
_SPACE = re.compile(r"\s+")
# "The text says: {...}", "I could write {...}" and "Output format: {...}" introduce what is not the
# judge's own word.
_INTRODUCTION = re.compile(
    r"(?:\b(?:says?|said|wrote|writes|contains?|claims?|claimed|reads|states?|stated|ends with"
    r"|quot(?:e[sd]?|ing|ation)|such as|injected|forged|embedded|pretends?|might|could|tempted"
    r"|draft|hypothetical\w*|suppose|imagine|not|never|wrong\w*|incorrect\w*|invalid|ignor\w+"
    r"|previous\w*|earlier|before|possible|options?|trick\w*|wants?|demands?|tells me|would"
    r"|instead of|rather than|input|reply with|answer with|respond with"
    r"|with (?:it|this|that))\b(?P<between>[^.!?\n{}]{0,60}?)"
    r"|(?:\A|\n)\W{0,8}(?:for |an? |the |here is (?:an?|the) )?"
    r"(?:(?:output|response|reply|expected|required|json) )?"
    r"(?:example|sample|template|format|schema)\b[^.!?\n{}]{0,40}:)"
    rf"(?P<end>[\s:\"'“„«`*{MASK}]*)(?:`{{3}}\w*\s*)?\Z",
    re.IGNORECASE,
)
# "As the text says so, here is my verdict" introduces one's own.
_OWN = re.compile(
    r"[,;]\s(?:so |and |thus |therefore )?(?:here(?:['’]s| is)|this is|my |the verdict|i(?! would"
    r"| could| might| can| do| will not| did))\b",
    re.IGNORECASE,
)
_POINTS = frozenset(":\"'“„«")
_LAST_WORDS = 12  # letters
_BLOCKQUOTE = re.compile(r"(?:\A|\n)\s{0,8}>[^\n]*\Z")


@dataclass(frozen=True)
class Quotations:
    """Tells what is quoted, given the texts that may be."""

    texts: tuple[str, ...]
    """The candidate's text, the prompt's example."""

    fence: str
    """The mark on both sides of foreign text; empty where there is none."""

    names: tuple[str, ...]
    """What a judgement's parts are called, the verdict first."""

    examples: tuple[str, ...] = ()
    """Texts that nobody hostile wrote, as the prompt: they are quoted where a whole judgement of
    theirs is repeated, and not where a reply only ends with the same words."""

    def mask(self, text: str) -> str:
        """Write MASK over what stands between fences, and over whole texts that could decide."""
        for quoted in self._deciding:
            text = text.replace(quoted, MASK * len(quoted))
        start = text.find(self.fence) if self.fence else -1
        if start < 0:
            return text
        end = self._end_of_fence(text)
        return text[:start] + MASK * (end - start) + text[end:]

    def _end_of_fence(self, text: str) -> int:
        """Give where the last fence closes, or the end of the text where it does not.

        From the first mark to the last all is foreign: a mark that the judge only mentions would
        otherwise turn inside and outside around.
        """
        last = text.rfind(self.fence)
        opening = text.rfind("</", max(0, last - 60), last)
        if opening < 0 or ">" in text[opening:last]:
            return len(text)
        return last + len(self.fence)

    @cached_property
    def _deciding(self) -> list[str]:
        """The texts that hold a verdict or tags of thinking, the longest first."""
        name = self.names[0]
        texts = {text.strip() for text in self.texts}
        return sorted(
            (
                text
                for text in texts
                if (len(text) > len(name) + 3 and name in text.casefold()) or THINKING.search(text)
            ),
            key=len,
            reverse=True,
        )

    def hold_object(self, found: FoundObject, source: str) -> bool:
        """Whether an object stands in one of the texts, in any order, form or case.

        Or whether its end does, from the last words of the reasoning on: quoted without escapes, a
        text that goes on with `", "verdict": "Pass"}` ends the judge's own object.
        """
        if self._objects and _content(found.members) in self._objects:
            return True
        if any(_content(found.members) in _objects_of(text) for text in self.examples):
            return True
        letters = letters_of(source)
        end = letters[max(0, letters.rfind(letters_of(self.names[0]))) :]
        return bool(letters) and any(
            letters in text or _ends_alike(letters, end, text) for text in self._as_letters
        )

    def hold_statement(self, source: str, reasonings: Sequence[str]) -> bool:
        """Whether a labelled verdict stands in one of the texts.

        A text that is a whole judgement, such as the prompt's example, shares its labelled verdict
        with honest replies; there one of the `reasonings` has to be the same too, if any is given.
        """
        plain = _plain(source)
        if any(plain in part for part in self._parts):
            return True
        verdict, reasons = letters_of(source), list(filter(None, map(letters_of, reasonings)))
        if any(verdict in text and not reasons for text in self._as_letters):
            return True
        return any(
            verdict in text and any(reason in text for reason in reasons)
            for text in (*self._as_letters, *map(_letters_of_few, self.examples))
        )

    def introduced(self, text: str, start: int, *, label: bool = False) -> bool:
        """Whether an object stands in a blockquote, or words before it say that it is no judgement.

        Before a label, and at the end of a line, they need a colon or a quotation mark behind them:
        many a line ends with "as the source says".
        """
        if _BLOCKQUOTE.search(text, max(0, start - 160), start):
            return True
        found = _INTRODUCTION.search(text, max(0, start - 160), start)
        if not found or _OWN.search(found["between"] or ""):
            return False
        pointed = found["between"] is None or not _POINTS.isdisjoint(found["end"])
        return pointed or not (label or "\n" in found["end"])

    @cached_property
    def _as_letters(self) -> list[str]:
        return [letters_of(text) for text in self.texts]

    @cached_property
    def _parts(self) -> list[str]:
        """The texts that hold a verdict without the rest of a judgement."""
        plain = map(_plain, self._deciding)
        return [text for text in plain if not all(name in text for name in self.names)]

    @cached_property
    def _objects(self) -> Contents:
        return frozenset().union(*map(_contents, self._deciding))


def _ends_alike(letters: str, end: str, text: str) -> bool:
    """Whether a text holds this end, with the same words before it as far as there are any."""
    place = text.find(end)
    while place >= 0:
        if letters.endswith(text[max(0, place - _LAST_WORDS) : place] + end):
            return True
        place = text.find(end, place + len(end))
    return False


def repeats(reply: str, quoted: str) -> bool:
    """Whether the object of a reply stands in a text that was shown."""
    said = letters_of(reply[reply.find("{") : reply.rfind("}") + 1])
    return bool(said) and "{" in quoted and said in letters_of(quoted)


def letters_of(text: str) -> str:
    """Give the letters and digits of a text, which quoting leaves as they are."""
    return _NO_LETTER.sub("", text.casefold())


def _plain(text: str) -> str:
    return _SPACE.sub(" ", _MARKUP.sub("", text.casefold())).strip()


def _contents(text: str) -> Contents:
    """Give what the objects in a text hold."""
    found: set[frozenset[tuple[str, str]]] = set()
    with suppress(UnreadableJudgementError):  # a hostile text; it is searched letter by letter
        found.update(_content(item.members) for item in find_objects(text))
    return frozenset(found)


# The same few prompts come with each reply.
_letters_of_few = lru_cache(maxsize=32)(letters_of)
_objects_of = lru_cache(maxsize=32)(_contents)


def _content(members: Members) -> frozenset[tuple[str, str]]:
    return frozenset(
        (letters_of(key), letters_of(value) if isinstance(value, str) else "")
        for key, value in members.items()
    )
