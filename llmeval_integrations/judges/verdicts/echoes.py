"""Telling an object that only repeats one of a text that the judge was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.errors import UnreadableJudgementError
from llmeval_integrations.judges.verdicts.objects import find_objects
from llmeval_integrations.judges.verdicts.parts import REASONS

Item: TypeAlias = tuple[str, str]
"""A member of an object: the letters of its name and of its value."""

_NO_LETTER = re.compile(r"[\W_]+")
_DEEPEST: Final = 4  # texts of objects in texts of objects


class ShownObjects(msgspec.Struct, frozen=True):
    """What the objects in a text hold, nested ones too."""

    wholes: frozenset[frozenset[Item]]
    """All that each object holds."""

    reasoned: Mapping[Item, Sequence[Mapping[str, str]]]
    """The objects that have a reasoning and more, by that reasoning."""

    @classmethod
    def of(cls, text: str, reasoning: str) -> ShownObjects:
        """Find the objects in a text; `reasoning` is what a reasoning may be called, too."""
        names = _names_of_reasons(reasoning)
        contents = {frozenset(content.items()): content for content in _contents(text)}
        reasoned: dict[Item, list[Mapping[str, str]]] = {}
        for whole, content in contents.items():
            for item in whole:
                if item[0] in names and len(content) > 1:
                    reasoned.setdefault(item, []).append(content)
        return cls(frozenset(contents), reasoned)

    def hold(self, members: Mapping[str, Any]) -> bool:
        """Whether one of the objects has the very same members."""
        return bool(self.wholes) and frozenset(_content(members).items()) in self.wholes

    def share_reasons(self, members: Mapping[str, Any]) -> bool:
        """Whether one of the objects has the same reasoning, and no other value under any name.

        Such an object is repeated, in whole or in part and whatever is added to it. Without a
        reasoning two may be the same by chance.
        """
        if not self.reasoned:
            return False
        content = _content(members)
        return any(
            _agree(content, shown)
            for item in content.items()
            for shown in self.reasoned.get(item, ())
        )


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, which quoting leaves as they are."""
    return _NO_LETTER.sub("", text.casefold())


def _agree(content: Mapping[str, str], shown: Mapping[str, str]) -> bool:
    """Whether two objects have two members in common at least, and differ in none."""
    common = content.keys() & shown.keys()
    return len(common) > 1 and all(content[name] == shown[name] for name in common)


def _contents(text: str) -> Iterator[dict[str, str]]:
    """Yield what each object in a text holds."""
    waiting: list[tuple[Any, int]] = [(text, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, Mapping):
            yield _content(value)
            waiting += [(inside, depth) for inside in value.values()]
        elif isinstance(value, list):
            waiting += [(inside, depth) for inside in value]
        elif isinstance(value, str) and depth < _DEEPEST and "{" in value:
            with suppress(UnreadableJudgementError):  # hostile; it is searched letter by letter
                for found in find_objects(value):
                    if not found.cut:
                        waiting.append((found.members, depth + 1))


def _content(members: Mapping[str, Any]) -> dict[str, str]:
    return {letters_of(name): _letters_of_value(value) for name, value in members.items()}


def _letters_of_value(value: Any) -> str:
    """Return the letters of a text or a number; what is nested is an object of its own."""
    if isinstance(value, str):
        return letters_of(value)
    if isinstance(value, (bool, int, float)) or value is None:
        return letters_of(f"{value:g}" if isinstance(value, float) else str(value))
    return ""


@lru_cache(maxsize=32)
def _names_of_reasons(reasoning: str) -> frozenset[str]:
    return frozenset(map(letters_of, (reasoning, *REASONS)))
