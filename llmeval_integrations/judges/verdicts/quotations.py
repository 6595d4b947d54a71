"""What in a reply is not the judge's own word: text of the candidate, or of the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from llmeval_integrations.judges.verdicts.echoes import ShownObjects, letters_of
from llmeval_integrations.judges.verdicts.objects import FoundObject
from llmeval_integrations.judges.verdicts.spans import MASK
from llmeval_integrations.judges.verdicts.statements import Statement, with_labels_for_tags
from llmeval_integrations.judges.verdicts.surroundings import Words, has_telling_word, names_in
from llmeval_integrations.llm.thinking import THINKING

_LAST_WORDS = 12  # letters
_BY_CHANCE = 8  # letters; a judge may well give the same reasons as an example, if so short


@dataclass(frozen=True)
class Quotations:
    """Tells what is quoted, given the texts that may be."""

    texts: tuple[str, ...]
    """The candidate's text, the prompt's example."""

    fence: str
    """The mark on both sides of foreign text; empty where there is none."""

    names: tuple[str, ...]
    """What a judgement's parts are called: the verdict, which is empty where any member may be
    it, the reasoning, others."""

    examples: tuple[str, ...] = ()
    """Texts that nobody hostile wrote, as the prompt: they are quoted where a whole judgement of
    theirs is repeated, and not where a reply only ends with the same words."""

    def mask(self, text: str) -> str:
        """Write MASK over what stands between fences, and over whole texts that could decide.

        A text that says no more than any judgement does is not known again.
        """
        names = names_in(self.names)
        for quoted in self._deciding:
            if has_telling_word(quoted, names):
                text = text.replace(quoted, MASK * len(quoted))
        start = text.find(self.fence) if self.fence else -1
        if start < 0:
            return text
        end = self._end_of_fence(text)
        return text[:start] + MASK * (end - start) + text[end:]

    def _end_of_fence(self, text: str) -> int:
        """Return where the last fence closes, or the end of the text where it does not.

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
        if self.hold_members(found.members):
            return True
        letters, name = letters_of(source), letters_of(self.names[0])
        start = letters.rfind(name)
        if start < 0 or not name:  # objects of any names may well have the same letters
            return False
        return any(
            letters in as_letters
            or ("}" in text and _ends_alike(letters, letters[start:], text, as_letters))
            for text, as_letters in zip(self._deciding, self._deciding_as_letters)
        )

    def hold_members(self, members: Mapping[str, Any]) -> bool:
        """Whether an object with these members only repeats one that stands in a text.

        A lone member of any name, such as a score, does not.
        """
        if len(members) < 2 and not self.names[0]:
            return False
        if any(shown.hold(members) or shown.share_reasons(members) for shown in self._objects):
            return True
        reasoning = self.names[1]
        shown_by_us = (_objects_of_few(text, reasoning) for text in self.examples if "{" in text)
        return any(shown.share_reasons(members, _BY_CHANCE) for shown in shown_by_us)

    def show(self, source: str) -> bool:
        """Whether a stated verdict stands in one of the texts."""
        stated = letters_of(source)
        return any(stated in text for text in self._as_letters)

    def repeat_reasons(self, source: str, reasonings: Sequence[str]) -> bool:
        """Whether one of the examples holds a stated verdict, and one of the reasonings too."""
        stated = letters_of(source)
        holding = [text for text in map(_letters_of_few, self.examples) if stated in text]
        reasons = filter(None, map(letters_of, reasonings if holding else ()))
        return any(reason in text for reason in reasons for text in holding)

    def repeated(self, text: str, statements: Sequence[Statement]) -> list[Statement]:
        """Return the statements that stand in one of the texts with the words around them.

        There are none where no verdict does.
        """
        verdicts = (item for item in statements if item.name == self.names[0])
        if not any(self._hold_value(text, item) for item in verdicts) or not self._runs:
            return []
        words, names = Words.of(text), names_in(self.names)
        return [
            item
            for item in statements
            if self._hold_value(text, item) and self._hold_runs(words.runs_at(item.label, names))
        ]

    def _hold_runs(self, runs: Iterable[str]) -> bool:
        return any(run in known for run in runs for known in self._runs)

    def _hold_value(self, text: str, statement: Statement) -> bool:
        """Whether what is stated stands in one of the texts; of a reasoning any words may."""
        if statement.name == self.names[1]:
            return True
        value = letters_of(text[statement.label : statement.told_end])
        return any(value in letters for letters in self._all_letters)

    @cached_property
    def _as_letters(self) -> list[str]:
        return [letters_of(text) for text in self.texts]

    @cached_property
    def _deciding_as_letters(self) -> list[str]:
        return [letters_of(text) for text in self._deciding]

    @cached_property
    def _all_letters(self) -> list[str]:
        return [*self._as_letters, *map(_letters_of_few, self.examples)]

    @cached_property
    def _runs(self) -> list[frozenset[str]]:
        """The runs of words around the labels in each text that has any."""
        foreign = (_runs_of(text, self.names) for text in self._deciding)
        examples = (_runs_of_few(text, self.names, whole_lines=True) for text in self.examples)
        return list(filter(None, (*foreign, *examples)))

    @cached_property
    def _objects(self) -> list[ShownObjects]:
        return [ShownObjects.of(text, self.names[1]) for text in self._deciding if "{" in text]


def _ends_alike(letters: str, end: str, text: str, as_letters: str) -> bool:
    """Whether a text holds this end, with the same words before it as far as there are any.

    A text that is an object of its own ends no other.
    """
    place = as_letters.find(end)
    while place >= 0:
        before = as_letters[max(0, place - _LAST_WORDS) : place]
        if (before or "{" not in text) and letters.endswith(before + end):
            return True
        place = as_letters.find(end, place + len(end))
    return False


# The same few prompts come with each reply.
_letters_of_few = lru_cache(maxsize=32)(letters_of)
_objects_of_few = lru_cache(maxsize=32)(ShownObjects.of)


def _runs_of(text: str, names: tuple[str, ...], *, whole_lines: bool = False) -> frozenset[str]:
    words = Words.of(with_labels_for_tags(text, names))
    return frozenset(words.all_runs(names_in(names), whole_lines=whole_lines))


_runs_of_few = lru_cache(maxsize=32)(_runs_of)
