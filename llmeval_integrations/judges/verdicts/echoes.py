"""Telling an object that only repeats one of a text that the judge was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.judges.verdicts.objects import find_objects
from llmeval_integrations.judges.verdicts.parts import REASONS

Item: TypeAlias = tuple[str, str]
"""A member of an object: the letters of its name and of its value."""

_NO_LETTER = re.compile(r"[\W_]+")
_DEEPEST: Final = 4  # texts of objects in texts of objects; lists and objects in a value
_MANY: Final = 50  # objects


class ShownObjects(msgspec.Struct, frozen=True):
    """What the objects in a text hold, nested ones too."""

    wholes: frozenset[frozenset[Item]]
    """All that each object holds."""

    members: frozenset[Item]
    """The members of all of them."""

    reasoned: Mapping[Item, Mapping[Item, Sequence[Mapping[str, str]]]]
    """The objects that have a reasoning and more, by that reasoning and by each other member."""

    @classmethod
    def of(cls, text: str, reasoning: str) -> ShownObjects:
        """Find the objects in a text; `reasoning` is what a reasoning may be called, too."""
        names = _names_of_reasons(reasoning)
        contents = {frozenset(content.items()): content for content in _contents(text)}
        reasoned: dict[Item, dict[Item, list[Mapping[str, str]]]] = {}
        for whole, content in contents.items():
            for reason in whole:
                if reason[0] in names and reason[1]:
                    by_member = reasoned.setdefault(reason, {})
                    for other in whole - {reason}:
                        by_member.setdefault(other, []).append(content)
        return cls(frozenset(contents), frozenset().union(*contents), reasoned)

    def hold(self, members: Mapping[str, Any]) -> bool:
        """Whether one of the objects has the very same members, or the only one among others."""
        if not self.wholes:
            return False
        content = frozenset(_content(members).items())
        return content in self.wholes or (len(content) == 1 and content <= self.members)

    def share_reasons(self, members: Mapping[str, Any], letters: int = 1) -> bool:
        """Whether one of the objects has the same reasoning, and no other value under any name.

        Such an object is repeated, in whole or in part and whatever is added to it. Without a
        reasoning of so many letters two may be the same by chance.
        """
        if not self.reasoned:
            return False
        content = _content(members)
        reasons = [item for item in content.items() if len(item[1]) >= letters]
        return any(
            _agree(content, self.reasoned[reason].get(other, ()))
            for reason in reasons
            if reason in self.reasoned
            for other in content.items()
        )


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, which quoting leaves as they are."""
    return _NO_LETTER.sub("", text.casefold())


def _agree(content: Mapping[str, str], shown: Sequence[Mapping[str, str]]) -> bool:
    """Whether an object differs in no common member from one of several that share two with it.

    Of very many it is taken to do so.
    """
    return len(shown) > _MANY or any(
        all(content.get(name, value) == value for name, value in one.items()) for one in shown
    )


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


def _letters_of_value(value: Any, depth: int = 0) -> str:
    """Return the letters of a text and of what is nested, a number with its sign and point."""
    if isinstance(value, str):
        return letters_of(value)
    if isinstance(value, bool):
        return str(value).casefold()
    if isinstance(value, (int, float)):
        return repr(value).removesuffix(".0")
    if depth == _DEEPEST:
        return ""
    if isinstance(value, Mapping):
        items = ((letters_of(name), _letters_of_value(value[name], depth + 1)) for name in value)
        return f"{{{','.join(':'.join(item) for item in sorted(items))}}}"
    if isinstance(value, list):
        return f"[{','.join(_letters_of_value(item, depth + 1) for item in value)}]"
    return ""


@lru_cache(maxsize=32)
def _names_of_reasons(reasoning: str) -> frozenset[str]:
    return frozenset(map(letters_of, (reasoning, *REASONS)))
