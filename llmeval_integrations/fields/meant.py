"""What a value stands for by the rules of its fields: the same for values that surely match."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.rule import Rule
from llmeval_integrations.fields.values import meaning_of, number_in, plain_text
from llmeval_integrations.json_values.equality import CONTAINERS, canonical


class Meant:
    """What the values of two documents stand for, which are to be kept meanwhile.

    `as_written` tells texts apart that mean the same: only the order of items makes no difference.
    """

    def __init__(self, *, as_written: bool = False) -> None:
        self._as_written = as_written
        self._marks: dict[tuple[str, int], str] = {}

    def of(self, field: Field, value: Any) -> Any:
        """Return a value whose canonical text equals another's only where the two match in full.

        Texts are as they are compared, arrays in any order are sorted, what is ignored is left out.
        Values that match by a tolerance and the like may still differ. Objects and arrays in it
        are a mark each, or every array of nested ones would write anew all that is in it.
        """
        place = field.place
        if place.is_literal or field.is_leaf:
            return value
        kind = type(value)
        if kind is str:
            return value if self._as_written else _of_text(field.rule, value)
        if kind is dict:
            parts = [(field.member(name), name, part) for name, part in value.items()]
            found = {name: self._part(its, part) for its, name, part in parts if not its.is_ignored}
            return found or dict.fromkeys(value)  # an empty object is a leaf, and this is none
        return self._of_array(field, value) if kind is list else value

    def _of_array(self, field: Field, items: list[Any]) -> list[Any]:
        if field.place.has_positions:
            if not _keeps_order(field.rule, items):
                return items  # an item's rules hang on its position
            parts = [(field.item(position), item) for position, item in enumerate(items)]
            return [None if its.is_ignored else self._part(its, item) for its, item in parts]
        its = field.item(0)
        if its.is_ignored:
            return items and [None]  # as with objects
        found = [self._part(its, item) for item in items]
        return found if _keeps_order(field.rule, items) else sorted(found, key=canonical)

    def _part(self, field: Field, value: Any) -> Any:
        """Return what a part of a value stands for, in an array of its own where that is a mark."""
        if type(value) not in CONTAINERS or field.place.is_literal or field.is_leaf:
            return self.of(field, value)
        known = field.path, id(value)
        mark = self._marks.get(known)
        if mark is None:
            from hashlib import blake2b  # here, as importing it takes long

            text = canonical(self.of(field, value))
            mark = blake2b(text.encode(), digest_size=16).hexdigest()
            self._marks[known] = mark
        return [mark]


def _keeps_order(rule: Rule, items: list[Any]) -> bool:
    """Whether the order of an array's items counts, as where none of them has the key."""
    if rule.order == "by_key":
        return not any(type(item) is dict and rule.key in item for item in items)
    return rule.order == "ordered"


def _of_text(rule: Rule, text: str) -> Any:
    if rule.compare is not None:  # which is given texts as they are
        return text
    if rule.is_decimal:
        number = number_in(rule, text)
        if number is not None:
            return _as_float(number)
    plain = plain_text(rule, text)
    return plain if rule.format is None else repr(meaning_of(rule, plain))


def _as_float(number: Any) -> Any:
    """Return the float that is the same number as a Decimal, whose canonical text may differ."""
    if type(number) is not Decimal:
        return number
    near = float(number)
    return near if Decimal(repr(near)) == number else number
