"""What a value stands for by the rules of its fields: the same for values that surely match."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.meanings import MEANINGS
from llmeval_integrations.fields.rule import Rule
from llmeval_integrations.fields.values import plain_text
from llmeval_integrations.json_value import canonical


def meant(field: Field, value: Any) -> Any:
    """Give a value whose canonical text equals another one's only where the two match in full.

    Texts are as they are compared, arrays in any order are sorted, what is ignored is left out.
    Values that match by a tolerance and the like may still differ.
    """
    place = field.place
    if place.is_literal or field.is_leaf:
        return value
    kind = type(value)
    if kind is str:
        return _of_text(field, value)
    if kind is dict:
        parts = [(field.member(name), name, part) for name, part in value.items()]
        found = {name: meant(its, part) for its, name, part in parts if not its.is_ignored}
        return found or dict.fromkeys(value)  # an empty object is a leaf, and this is none
    if kind is list and not place.has_positions:
        its = field.item(0)
        items = [None] if its.is_ignored else [meant(its, part) for part in value]
        return items if _keeps_order(field.rule, value) else sorted(items, key=canonical)
    return value


def _keeps_order(rule: Rule, items: list[Any]) -> bool:
    """Whether the order of an array's items counts, as where none of them has the key."""
    if rule.order == "by_key":
        return not any(type(item) is dict and rule.key in item for item in items)
    return rule.order == "ordered"


def _of_text(field: Field, text: str) -> str:
    rule = field.rule
    return plain_text(rule, text) if rule.format is None else repr(MEANINGS[rule.format](text))
