"""By which keys the items of arrays are told apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.meant import Meant
from llmeval_integrations.fields.rule import Rule
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.numbers import read_number

_NEAR: Final = (
    "tolerance",
    "relative_tolerance",
    "multiple_of",
    "is_number",
    "similarity",
    "compare",
)
"""Settings by which values may match that do not stand for the same; `coerce` is another one."""


def has_key(field: Field, item: Any) -> bool:
    """Whether an item of an array has the key of that array's items."""
    return type(item) is dict and field.rule.key in item


def keyed(meant: Meant, field: Field, items: list[Any]) -> dict[str, list[int]]:
    """List the positions of items by the text of what their key stands for.

    Those without one are listed by themselves.
    """
    key: Any = field.rule.key
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        text = ""
        if has_key(field, item):
            text = canonical(meant.of(field.item(position).member(key), item[key]))
        found[text].append(position)
    return found


def is_loose(field: Field) -> bool:
    """Whether keys of an array's items may match that do not stand for the same."""
    rule = _rule_of_key(field, 0)
    return rule.coerce or _is_near(rule)


def loosely_keyed(field: Field, items: list[Any], places: Iterable[int]) -> dict[str, list[int]]:
    """List those of these places whose items have a key, together where their keys may match."""
    key: Any = field.rule.key
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place in places:
        if has_key(field, items[place]):
            found[_loosely(_rule_of_key(field, place), items[place][key])].append(place)
    return found


def _rule_of_key(field: Field, position: int) -> Rule:
    key: Any = field.rule.key
    return field.item(position).member(key).rule


def _is_near(rule: Rule) -> bool:
    return any(getattr(rule, name) for name in _NEAR)


def _loosely(rule: Rule, key: Any) -> str:
    """Write a key, the same as all others that it may match."""
    if _is_near(rule):
        return ""
    if not isinstance(key, str):
        return canonical(key)
    text = key.strip()
    number = read_number(text)
    return text.lower() if number is None else canonical(number)
