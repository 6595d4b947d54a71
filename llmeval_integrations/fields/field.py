"""The fields of a document, each with its rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import shown
from llmeval_integrations.fields.rule import Rule, check_settings, inherited
from llmeval_integrations.fields.schema_settings import (
    cases_of,
    has_name_patterns,
    has_positions,
    names_in,
    settings_of,
)
from llmeval_integrations.fields.values import (
    compare,
    has_its_type,
    is_measured,
    meaning_of,
    number_in,
    plain_text,
)
from llmeval_integrations.json_values.equality import canonical, equal, write_scalar
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.node import Node, Verdict
from llmeval_integrations.schemas.document import read_pointer
from llmeval_integrations.schemas.walk import Schemas
from llmeval_integrations.text.edit_distance import edits_up_to

ANY: Final = "*"
"""The step of a path pattern that stands for every name and every position."""

_NO_ESCAPE: Final = re.compile("~(?![01])")

_MOST_KEPT: Final = 100_000
"""The most fields that are kept for the next document; names may be made up by a model."""


_FUZZY: Final = ("tolerance", "relative_tolerance", "compare", "coerce", "judge")


def _is_fuzzy(settings: Mapping[str, Any]) -> bool:
    return settings.get("similarity") is not None or any(map(settings.get, _FUZZY))


@lru_cache(maxsize=512)
def _is_exact(rule: Rule) -> bool:
    return msgspec.structs.replace(rule, weight=1.0, order="ordered", key=None) == Rule()


class Override(NamedTuple):
    """What a path pattern sets, as far as its path is still to be walked."""

    steps: tuple[str, ...]
    settings: Mapping[str, Any]


class Book:
    """What all fields of a document have in common."""

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self.defaults = defaults
        """What is set where neither schema nor override says otherwise."""
        self.left = _MOST_KEPT
        """How many more fields may be kept."""


class Place:
    """What holds for a field, whatever its path: fields whose names say nothing share one."""

    __slots__ = (
        "_book",
        "_inherited",
        "_named",
        "_other",
        "_overrides",
        "_schemas",
        "has_positions",
        "is_exact",
        "is_leaf",
        "is_literal",
        "rule",
    )

    def __init__(
        self,
        book: Book,
        schemas: Schemas,
        overrides: tuple[Override, ...],
        above: Mapping[str, Any],
    ) -> None:
        own: dict[str, Any] = dict(above)
        for override in overrides:
            if not override.steps:
                own.update(override.settings)
        cases = cases_of(schemas)
        settings = {**book.defaults, **settings_of(schemas, cases), **own}
        settings["values_only"] = "compare" not in own and settings.get("compare") is not None
        if any(each.settings.get("ignore") is False for each in overrides if each.steps):
            settings["ignore"] = False  # or this would hide what counts further in
        self.rule = Rule(**settings)
        """How values are compared there."""
        self.is_leaf = self.rule.is_leaf
        """Whether objects and arrays are compared as wholes there."""
        self.is_exact = self.rule.compare is None and _is_exact(self.rule)
        """Whether values match where they are written alike, and nowhere else."""
        self._book = book
        self._schemas = schemas
        self._overrides = tuple(override for override in overrides if override.steps)
        is_same_below = self.rule.order == book.defaults.get("order", "ordered") != "by_key"
        self.is_literal = self.is_exact and is_same_below and not (cases or self._overrides)
        """Whether the same holds for all that is in a value there."""
        self._inherited = inherited(own)
        steps = {each.steps[0] for each in self._overrides}
        self._named = names_in(schemas) | steps
        self.has_positions = has_positions(schemas.parts) or any(map(str.isdigit, steps))
        """Whether items at different positions may be compared in different ways."""
        self._other: Place | None = None

    @property
    def is_fuzzy(self) -> bool:
        """Whether values that match a third one need not match each other, here or below.

        Numbers that a schema has may be off by the noise of doubles and do not count: hardly ever
        do two differ by as little, and all pairs of every array with numbers would be tried.
        """
        # without what the schema says of this place, which does not hold for what is in it
        above = {**self._book.defaults, **self._inherited}
        below = [override.settings for override in self._overrides]
        return self.is_leaf or any(map(_is_fuzzy, [above, *below]))

    def member(self, name: str) -> Place:
        """Return the place of an object's member."""
        if self._other is None or name in self._named:
            made = self._made(name, self._schemas.member(name))
            if has_name_patterns(self._schemas) or name in self._named:
                return made
            self._other = made
        return self._other

    def item(self, position: int | None) -> Place:
        """Return the place of an array's item; of None, that of all items."""
        step = ANY if position is None else str(position)
        return self._made(step, self._schemas.item(position or 0))

    def _made(self, step: str, schemas: Schemas) -> Place:
        overrides = tuple(
            Override(each.steps[1:], each.settings)
            for each in self._overrides
            if each.steps[0] in (step, ANY)
        )
        return Place(self._book, schemas, overrides, self._inherited)

    def may_keep(self) -> bool:
        """Count one more kept field; False where there are too many."""
        self._book.left -= 1
        return self._book.left >= 0


class Field(Node):
    """The node of JsonFields: one place of documents, the positions of lists folded."""

    __slots__ = (
        "_item",
        "_items",
        "exact",
        "fuzzy",
        "ignored",
        "key",
        "literal",
        "members",
        "order",
        "path",
        "place",
        "rule",
        "weight",
        "whole",
    )

    def __init__(self, path: str, place: Place) -> None:
        rule = place.rule
        self.path = path
        self.place = place
        self.rule = rule
        self.weight = rule.weight
        self.ignored = rule.ignore
        self.whole = place.is_leaf
        self.exact = place.is_exact
        self.literal = place.is_literal
        self.fuzzy = place.is_fuzzy
        self.order = rule.order
        self.key = rule.key
        self.members: dict[str, Field] = {}
        self._item: Field | None = None
        self._items: dict[int, Field] = {}

    def member(self, name: str) -> Field:
        found = self.members.get(name)
        if found is None:
            place = self.place.member(name)
            found = Field(f"{self.path}/{escape(name)}", place)
            if place.may_keep():
                self.members[name] = found
        return found

    def item(self, position: int) -> Field:
        """Return the field of an array's item: one for all, unless positions have their own rules.

        Where the order does not count, such rules have no effect.
        """
        if self._item is None:
            if self.place.has_positions and self.order == "ordered":
                return self._item_at(position)
            self._item = Field(f"{self.path}/{ANY}", self.place.item(None))
        return self._item

    def _item_at(self, position: int) -> Field:
        found = self._items.get(position)
        if found is None:
            place = self.place.item(position)
            found = Field(f"{self.path}/{ANY}", place)
            if place.may_keep():
                self._items[position] = found
        return found

    def leaf(self, output: Any, reference: Any) -> Verdict:
        rule = self.rule
        if rule.judge:
            if has_its_type(output, reference) and not equal(output, reference):
                return Verdict("open", _likeness(output, reference))
            rule = msgspec.structs.replace(rule, compare=None)  # a judge decides in its place
        kind, score = compare(rule, output, reference, self.path)
        if rule.similarity is None or score == 1.0 or is_measured(rule, output, reference, score):
            return Verdict(kind, score)
        return Verdict(kind, score, exact=False)

    def leaf_text(self, value: Any) -> str:
        rule = self.rule
        if type(value) is not str or self.exact or rule.compare or rule.judge:
            return canonical(value)
        if rule.is_decimal:
            number = number_in(rule, value)
            if number is not None:
                return write_scalar(number)
        return repr(meaning_of(rule, plain_text(rule, value)))


def _likeness(output: Any, reference: Any) -> float:
    """Return the similarity of two texts, by which items with prose are paired."""
    one, other = (each if type(each) is str else canonical(each) for each in (output, reference))
    longest = max(len(one), len(other))
    return 1.0 - edits_up_to(longest, one, other) / longest


def root_field(
    schema: Any,
    overrides: Mapping[str, Any],
    defaults: Mapping[str, Any],
    judged: Sequence[str] = (),
) -> Field:
    """Return the field of whole documents.

    `schema` is a parsed JSON Schema or None, `overrides` maps path patterns to settings, `judged`
    are the patterns of fields for a judge. Of two patterns that fit, the longer one counts, since
    it is of what is further in; of two as long the one with more names in it, then the later one.
    Raises InvalidOptionError.
    """
    found = [
        Override(_steps(pattern), check_settings(settings, f"fields[{pattern!r}]"))
        for pattern, settings in overrides.items()
    ]
    found += [Override(_steps(pattern), {"judge": True, "ignore": False}) for pattern in judged]
    found.sort(key=lambda each: sum(step != ANY for step in each.steps))
    _check_positions(found)
    schemas = Schemas.of(schema, conditions=True)
    return Field("", Place(Book(defaults), schemas, tuple(found), {}))


def _check_positions(overrides: Sequence[Override]) -> None:
    """Raise InvalidOptionError for a position in an array that is said to have no order.

    `*` is not matched: a name may consist of digits, and what it is in be no array.
    """
    unordered = {
        each.steps for each in overrides if each.settings.get("order", "ordered") != "ordered"
    }
    for steps, _ in overrides if unordered else ():
        for at, step in enumerate(steps):
            if step.isdigit() and steps[:at] in unordered:
                array = "".join(f"/{escape(name)}" for name in steps[:at])
                raise InvalidOptionError(
                    f"fields: there is a setting for position {step} of {shown(array)}, whose "
                    "order does not count; leave out the position or the order"
                )


def _steps(pattern: Any) -> tuple[str, ...]:
    if not isinstance(pattern, str) or (pattern and not pattern.startswith("/")):
        raise InvalidOptionError(
            f"fields: {shown(pattern)} is not a path such as '/items/*/price', or '' for the whole"
        )
    if _NO_ESCAPE.search(pattern):
        raise InvalidOptionError(
            f"fields: {shown(pattern)} is not a JSON Pointer: ~ is written ~0, and / in a name ~1"
        )
    steps = tuple(read_pointer(pattern))
    if "**" in steps:  # which is a pattern elsewhere, and would be a name here
        raise InvalidOptionError(
            f"fields: {shown(pattern)}: there is no '**'; '*' is any one name or position"
        )
    return steps
