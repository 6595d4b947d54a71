"""How much work it is to try the items of two arrays with each other."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.keys import keyed
from llmeval_integrations.fields.meant import Meant
from llmeval_integrations.fields.side import Side
from llmeval_integrations.json_values.equality import CONTAINERS, canonical

LETTERS: Final = 500_000
"""The pairs of characters of texts whose distance takes as long as a pair of items does."""


def may_match(field: Field, side: Side) -> bool:
    """Whether items that are equal to no other may still have something in common with one."""
    return any(
        type(side.items[place]) in CONTAINERS or not field.item(place).is_exact
        for place in side.places
    )


class Effort:
    """Counts pairs for values of two documents, which are to be kept meanwhile."""

    def __init__(self, meant: Meant) -> None:
        self._meant = meant
        self._known: dict[tuple[str, int], int] = {}

    def of(self, field: Field, here: Side, there: Side) -> int:
        """Count the pairs of items that are compared at most, with those inside of them.

        Long texts whose distance may be measured count as several.
        """
        inside = [
            sum(self._inside(field.item(place), side.items[place]) for place in side.places)
            for side in (here, there)
        ]
        pairs = len(here.places) * len(there.places) + inside[0] * inside[1]
        return pairs + _letters(field, here, there) // LETTERS if field.is_fuzzy else pairs

    def _inside(self, field: Field, value: Any) -> int:
        """Count the items of arrays inside a value that would have to be tried with each other."""
        if type(value) not in CONTAINERS or field.is_ignored or field.is_leaf:
            return 0
        known = field.path, id(value)
        count = self._known.get(known)
        if count is None:
            if type(value) is dict:
                parts = [(field.member(name), part) for name, part in value.items()]
            else:
                parts = [(field.item(place), part) for place, part in enumerate(value)]
            count = sum(self._inside(its, part) for its, part in parts)
            if type(value) is list:
                count += self._tried(field, value)
            self._known[known] = count
        return count

    def _tried(self, field: Field, items: list[Any]) -> int:
        """Count the items of an array that would have to be tried with each other."""
        rule = field.rule
        if rule.order == "ordered":
            return 0
        groups = [[*range(len(items))]]
        if rule.order == "by_key":
            groups = [each for each in keyed(self._meant, field, items).values() if len(each) > 1]
        return sum(len(places) for places in groups if may_match(field, Side(items, places)))


def _letters(field: Field, here: Side, there: Side) -> int:
    """Count the pairs of characters of texts whose distance may be measured."""
    found: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for side, letters in zip((here, there), found):
        for place in side.places:
            _count_letters(field.item(place), side.items[place], "", letters)
    return sum(count * found[1][path] for path, count in found[0].items())


def _count_letters(field: Field, value: Any, path: str, found: Counter[str]) -> None:
    """Count the characters of texts by where they stand, those together that may meet."""
    if field.is_ignored:
        return
    rule = field.rule
    if field.is_leaf or type(value) not in CONTAINERS:
        if rule.judge:
            found[path] += len(value if type(value) is str else canonical(value))
        elif rule.similarity is not None and type(value) is str:
            found[path] += len(value)
    elif type(value) is dict:
        for name, part in value.items():
            _count_letters(field.member(name), part, f"{path}/{name}", found)
    else:
        for place, part in enumerate(value):
            step = place if rule.order == "ordered" else "*"
            _count_letters(field.item(place), part, f"{path}/{step}", found)
