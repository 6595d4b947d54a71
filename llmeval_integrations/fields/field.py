"""The fields of a document, each with its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from llmeval_integrations.errors import InvalidOptionError
from llmeval_integrations.fields.rule import Rule, check_settings, inherited
from llmeval_integrations.fields.schema_settings import (
    Part,
    has_positions,
    item,
    member,
    parts_of,
    settings_of,
)
from llmeval_integrations.json_pointer import escape
from llmeval_integrations.schema_document import SchemaDocument
from llmeval_integrations.wording import shown

ANY: Final = "*"
"""The step of a path pattern that stands for every name and every position."""

_MOST_KEPT: Final = 10_000
"""The most fields that are kept for the next document; names may be made up by a model."""


_FUZZY: Final = ("tolerance", "relative_tolerance", "similarity", "compare", "coerce", "judge")


def _is_fuzzy(settings: Mapping[str, Any]) -> bool:
    return any(map(settings.get, _FUZZY))


@lru_cache(maxsize=512)
def _is_exact(rule: Rule) -> bool:
    return msgspec.structs.replace(rule, weight=1.0, order="ordered", key=None) == Rule()


class Override(NamedTuple):
    """What a path pattern sets, as far as its path is still to be walked."""

    steps: tuple[str, ...]
    settings: Mapping[str, Any]


class Book:
    """What all fields of a document have in common."""

    def __init__(self, schema: SchemaDocument, defaults: Mapping[str, Any]) -> None:
        self.schema = schema
        """The whole schema."""
        self.defaults = defaults
        """What is set where neither schema nor override says otherwise."""
        self.left = _MOST_KEPT
        """How many more fields may be kept."""


class Field:
    """One field, the positions of lists folded: where it is, and how its values are compared."""

    __slots__ = (
        "_book",
        "_inherited",
        "_item",
        "_items",
        "_overrides",
        "_parts",
        "is_ignored",
        "members",
        "path",
        "rule",
    )

    def __init__(
        self,
        book: Book,
        path: str,
        parts: tuple[Part, ...],
        overrides: tuple[Override, ...],
        above: Mapping[str, Any],
    ) -> None:
        own: dict[str, Any] = dict(above)
        for override in overrides:
            if not override.steps:
                own.update(override.settings)
        self.path = path
        """The path as a JSON Pointer, with `*` for every position of a list."""
        settings = {**book.defaults, **settings_of(parts)}
        if overrides and any(
            each.settings.get("ignore") is False for each in overrides if each.steps
        ):
            settings["ignore"] = False  # or the default would hide what counts further in
        settings["values_only"] = "compare" in book.defaults and "compare" not in own
        settings.update(own)
        self.rule = Rule(**settings)
        """How its values are compared."""
        self.is_ignored = self.rule.ignore
        """The same as `rule.ignore`, which every leaf asks for."""
        self._book = book
        self._parts = parts
        self._overrides = tuple(override for override in overrides if override.steps)
        self._inherited = inherited(own)
        self.members: dict[str, Field] = {}
        """The fields that documents have had in it, by the name of the member."""
        self._item: Field | None = None
        self._items: dict[int, Field] = {}

    @property
    def is_exact(self) -> bool:
        """Whether values match where they are written alike, and nowhere else."""
        return self.rule.compare is None and _is_exact(self.rule)

    @property
    def is_fuzzy(self) -> bool:
        """Whether values that match a third one need not match each other, here or below."""
        below = [override.settings for override in self._overrides]
        return any(map(_is_fuzzy, [msgspec.structs.asdict(self.rule), *below]))

    def member(self, name: str) -> Field:
        """Give the field of an object's member."""
        found = self.members.get(name)
        if found is None:
            parts = member(self._parts, name, self._book.schema)
            found = self._child(name, f"{self.path}/{escape(name)}", parts)
        return found

    def item(self, position: int) -> Field:
        """Give the field of an array's item: one for all, unless they are told apart."""
        if self._item is None:
            self._item = self._common_item()
        if self._item is self:
            return self._item_at(position)
        return self._item

    def _common_item(self) -> Field:
        """Give the field of all items; this one itself where there is none for all."""
        if has_positions(self._parts) or any(each.steps[0].isdigit() for each in self._overrides):
            return self
        return self._made(ANY, f"{self.path}/{ANY}", item(self._parts, 0, self._book.schema))

    def _item_at(self, position: int) -> Field:
        found = self._items.get(position)
        if found is None:
            parts = item(self._parts, position, self._book.schema)
            found = self._made(str(position), f"{self.path}/{ANY}", parts)
            if self._may_keep():
                self._items[position] = found
        return found

    def _child(self, name: str, path: str, parts: tuple[Part, ...]) -> Field:
        found = self._made(name, path, parts)
        if self._may_keep():
            self.members[name] = found
        return found

    def _may_keep(self) -> bool:
        """Take down that one more field is kept, unless there are too many."""
        self._book.left -= 1
        return self._book.left >= 0

    def _made(self, step: str, path: str, parts: tuple[Part, ...]) -> Field:
        overrides = tuple(
            Override(each.steps[1:], each.settings)
            for each in self._overrides
            if each.steps[0] in (step, ANY)
        )
        return Field(self._book, path, parts, overrides, self._inherited)


def root_field(
    schema: Any,
    overrides: Mapping[str, Any],
    defaults: Mapping[str, Any],
    judged: Sequence[str] = (),
) -> Field:
    """Give the field of whole documents.

    `schema` is a parsed JSON Schema or None, `overrides` maps path patterns to settings, `judged`
    are the patterns of fields for a judge. Of two patterns that fit, the one with more names in it
    counts, then the later one. Raises InvalidOptionError.
    """
    found = [
        Override(_steps(pattern), check_settings(settings, f"fields[{pattern!r}]"))
        for pattern, settings in overrides.items()
    ]
    found += [Override(_steps(pattern), {"judge": True, "ignore": False}) for pattern in judged]
    found.sort(key=lambda each: sum(step != ANY for step in each.steps))
    document = SchemaDocument(schema)
    return Field(Book(document, defaults), "", parts_of(schema, document), tuple(found), {})


def _steps(pattern: Any) -> tuple[str, ...]:
    if not isinstance(pattern, str) or (pattern and not pattern.startswith("/")):
        raise InvalidOptionError(
            f"fields: {shown(pattern)} is not a path such as '/items/*/price', or '' for the whole"
        )
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pattern.split("/")[1:])
