"""Read the paths of settings, and check them against a schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quote import OTHER, hint, quote
from llmeval_integrations.fields.rule import check_settings, read_key
from llmeval_integrations.fields.schema_rules import list_types
from llmeval_integrations.json_values.values import escape, read_pointer
from llmeval_integrations.schemas.document import items_of, list_of, object_of
from llmeval_integrations.schemas.walk import Schema, branches, conjuncts, reach

ANY: Final = "*"
"""The step of a path pattern that matches every name and every position."""

_NO_ESCAPE: Final = re.compile("~(?![01])")
_POSITION: Final = re.compile("0|[1-9][0-9]{0,8}")
_ELSEWHERE: Final = ("$ref", "allOf", "anyOf", "oneOf")
"""Keywords that name other schemas of the same object."""

_UNKNOWN: Final = frozenset(
    (
        *("patternProperties", "unevaluatedProperties", "dependentSchemas", "dependencies"),
        *("if", "$dynamicRef", "$recursiveRef"),
    )
)
"""Keywords that may define members, but are not followed here."""


class Override(NamedTuple):
    """Settings with the steps that are left from the current place to the places they apply to."""

    steps: tuple[str, ...]
    settings: Mapping[str, Any]


class Settings:
    """What a user sets for fields: by path, and as defaults."""

    def __init__(
        self, fields: Mapping[str, Any], defaults: Mapping[str, Any], judged: Sequence[str] = ()
    ) -> None:
        """`judged` are the paths of fields that a judge compares.

        If two paths match a place, the later one wins. So paths with more names come later. Raises
        InvalidOptionError for a wrong path, setting or value.
        """
        overrides = [
            Override(_steps(path), check_settings(settings, f"fields[{path!r}]"))
            for path, settings in fields.items()
        ]
        overrides += [Override(_steps(path), {"judge": True, "ignore": False}) for path in judged]
        overrides.sort(key=lambda each: sum(step != ANY for step in each.steps))
        _check_positions(overrides)
        self.overrides, self.defaults = overrides, check_settings(defaults, "defaults")
        several = [*fields.values(), self.defaults]
        self.ignored = [path for path, settings in fields.items() if settings.get("ignore")]
        """The paths that are ignored."""
        self.calls_functions = bool(judged) or any(each.get("compare") for each in several)
        """Whether a judge or a function of the caller compares values."""


def _steps(pattern: Any) -> tuple[str, ...]:
    if not isinstance(pattern, str) or (pattern and not pattern.startswith("/")):
        problem = " is not a path such as '/items/*/price', or '' for the whole"
    elif _NO_ESCAPE.search(pattern):
        problem = " is not a JSON Pointer: ~ is written ~0, and / in a name ~1"
    elif "**" in pattern.split("/"):  # other tools have this pattern; here it would be a name
        problem = ": '**' is not supported; '*' matches one name or position"
    else:
        return tuple(read_pointer(pattern))
    raise InvalidOptionError(f"fields: {quote(pattern)}{problem}")


def _check_positions(overrides: Sequence[Override]) -> None:
    """Raise InvalidOptionError for a position in an array whose order does not count.

    Patterns are compared as they are written: a `*` may match an object, where digits are a name.
    """
    unordered = {
        each.steps
        for each in overrides
        if each.settings.get("order", "ordered") in ("any_order", "by_key")
    }
    for steps, _ in overrides if unordered else ():
        for at, step in enumerate(steps):
            if step.isdigit() and steps[:at] in unordered:
                array = "".join(f"/{escape(name)}" for name in steps[:at])
                raise InvalidOptionError(
                    f"fields: there is a setting for position {step} of {quote(array)}, whose "
                    "order does not count; leave out the position or the order"
                )


def check_path(path: str, settings: Mapping[str, Any], schema: Any) -> None:
    """Raise InvalidOptionError for a path, or a member of its `key`, that the schema does not have.

    An object with `type` and `properties` has no other members, unless `additionalProperties`
    allows them: Pydantic's schemas mean it so. If a schema says less, any path may be right.
    """

    def follow(part: Schema) -> list[Any]:  # schemas that apply, or may apply, at the same place
        return conjuncts(part, schema) + branches(part)

    place = read_pointer(path)
    for steps in (place, *([*place, ANY, key] for key in read_key(settings.get("key")))):
        here, walked = [schema], ""
        for step in steps:
            parts = [part for part in reach(here, follow) if part is not False]
            inner = (one for part in parts for one in _enter(part, step, schema))
            here = [one for one in inner if one is not False]
            if not here:
                raise _unknown_path(walked, step, parts)
            walked += f"/{escape(step)}"


def _enter(part: Any, step: str, document: Any) -> list[Any]:
    """Return the schemas of the place that a step leads to; True allows any value."""
    if not isinstance(part, dict) or not _UNKNOWN.isdisjoint(part):
        return [True]
    if "$id" in part and part is not document:  # references in it have another root
        return [True]
    if step in list_of(part, "required"):
        return [object_of(part, "properties").get(step, True)]
    types = list_types(part)
    found = _members(part, step) if not types or "object" in types else []
    return found + _items(part, step) if "array" in types else found


def _items(part: Schema, step: str) -> list[Any]:
    first, rest = items_of(part)
    others = [True if rest is None else rest]
    if step == ANY:
        return [*first, *others]
    if not _POSITION.fullmatch(step):
        return []
    position = int(step)
    if position < len(first):
        return [first[position]]
    most: Any = part.get("maxItems")
    return others if not is_number(most) or position < most else []


def _members(part: Schema, step: str) -> list[Any]:
    named = object_of(part, "properties")
    if step in named and step != ANY:
        return [named[step]]
    says_all = "properties" in part and "type" in part
    is_elsewhere = "properties" not in part and not part.keys().isdisjoint(_ELSEWHERE)
    more = part.get("additionalProperties", not (says_all or is_elsewhere))
    return [*(named.values() if step == ANY else ()), *([] if more is False else [more])]


def _unknown_path(walked: str, step: str, parts: Iterable[Schema]) -> InvalidOptionError:
    names = dict.fromkeys(name for part in parts for name in object_of(part, "properties"))
    more = ' ("additionalProperties": true says that an object may have others)' if names else ""
    names.update((ANY, None) for part in parts if "array" in list_types(part))
    paths = [f"{walked}/{escape(name)}" for name in names]
    path = f"{walked}/{escape(step)}"
    advice = f"; {hint(path, paths)}{more}" if paths else ""
    return InvalidOptionError(f"fields: the schema has no {quote(path)}{advice}")


def is_met(pattern: str, fields: Iterable[str]) -> bool:
    """Return whether a pattern matches a field, or an object or array with a field.

    It is also True if there were too many fields to know.
    """
    wanted = pattern.split("/")
    return any(
        path == OTHER
        or all(
            one == other or ANY in (one, other)
            for one, other in zip_longest(wanted, path.split("/")[: len(wanted)])
        )
        for path in fields
    )


def has_place(path: str, value: Any) -> bool:
    """Return whether a document has a place that a path matches."""
    places = [value]
    for step in read_pointer(path):
        inner: list[Any] = []
        for place in places:
            parts = dict(enumerate(place)) if isinstance(place, list) else place
            if isinstance(parts, dict):
                named = {str(name): part for name, part in parts.items()}
                inner += named.values() if step == ANY else [named[step]] if step in named else []
        places = inner
    return bool(places)
