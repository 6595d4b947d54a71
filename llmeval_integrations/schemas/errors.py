"""What violates a JSON Schema, and how much of a value that concerns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from llmeval_integrations.core.errors import RunawayPatternError
from llmeval_integrations.core.quoting import MOST, cut_inside
from llmeval_integrations.json_values.pointer import pointer
from llmeval_integrations.schemas.document import NAMED
from llmeval_integrations.schemas.for_errors import REFERENCES, unfollowed
from llmeval_integrations.schemas.patterns import as_written

if TYPE_CHECKING:
    from llmeval_integrations.schemas.compiled import Compiled

# These say nothing about the parts of the value that they stand at.
_OF_THE_CONTAINER: Final = frozenset(
    [
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
        "propertyNames",
    ]
)

MOST_LEVELS: Final = 16
"""How deep a value may be for all its errors to be listed."""

_MOST_MEMBERS: Final = 1_000
"""How many members an object may have for that: each error holds a copy of its whole object."""

_RUNAWAY: Final = frozenset(("BacktrackLimitExceeded", "RegexEngineFailure"))

_ONE_OF_NONE: Final = " is not one of "

Steps = list[str | int]


class Violation(NamedTuple):
    """An error of the validator, whose paths lack empty names."""

    error: Any
    kind: Any
    message: str
    path: Steps
    schema_path: Steps


def told(error: Violation) -> dict[str, Any]:
    """Return an error as it stands in a result, with the keyword that the schema has."""
    keyword, message, schema_path = error.kind.name, error.message, error.schema_path
    if keyword == "required":  # `dependentRequired` and `dependencies` as well
        keyword = schema_path[-1]
    elif keyword == "falseSchema":
        last = (error.error.evaluation_path or [None])[-1]  # in which references are steps, too
        keyword = last if last in REFERENCES else _last_keyword(schema_path) or keyword
    elif keyword == "enum" and message.endswith(_ONE_OF_NONE):
        message = message.removesuffix(_ONE_OF_NONE) + " is not allowed by an empty enum"
    elif keyword == "not":
        found = unfollowed(message, schema_path)
        keyword, message, schema_path = found or (keyword, message, schema_path)
    message = as_written(message)
    if error.kind.name != "required":  # most begin with the value; this one is a name alone
        message = cut_inside(message, MOST)
    return {
        "pointer": pointer(error.path),
        "schema_pointer": as_written(pointer(schema_path)),
        "keyword": keyword,
        "message": message,
    }


def _last_keyword(path: Steps) -> str | None:
    """Return the last step of a path through a schema that is neither a name nor a position."""
    keyword = None
    steps = iter(path)
    for step in steps:
        if isinstance(step, str):
            keyword = step
            if step in NAMED:
                next(steps, None)
    return keyword


def find_errors(value: Any, schema: Compiled) -> tuple[list[Violation], bool]:
    """List the errors, and say whether these are all; none where the value is too deep.

    Raises RunawayPatternError where a pattern gives no answer.

    A schema that refers to itself may say the same thing about one value along twice as many
    ways with each level, so of a deeper value only the first error is asked for.
    """
    complete = not is_deeper(value, MOST_LEVELS) and not _has_large_object(value)
    validator = schema.for_errors
    errors_of = validator.iter_errors if complete else partial(_first_error, validator)
    try:
        errors = [_violation(error) for error in errors_of(value)]
    except ValueError:  # too deep, or a number of more than 4,300 digits
        try:
            errors = [_violation(error) for error in errors_of(_with_short_numbers(value))]
        except (ValueError, RecursionError):
            return [], False
    for error in errors:
        if type(error.kind).__name__ in _RUNAWAY:
            said = told(error)
            raise RunawayPatternError(
                f"the pattern at {said['schema_pointer']} gives no answer for the text at "
                f"{said['pointer'] or 'the root'}: {said['message']}"
            )
    return [error for error in errors if not _is_refuted(error, value)], complete


def _has_large_object(value: Any) -> bool:
    return any(len(one) > _MOST_MEMBERS for one in _containers(value) if isinstance(one, dict))


def _violation(error: Any) -> Violation:
    return Violation(error, error.kind, error.message, error.instance_path, error.schema_path)


def _is_refuted(error: Violation, value: Any) -> bool:
    """Whether what is said to be missing is there.

    The validator, where one member is required, says so of one that is not allowed either.
    """
    if error.kind.name != "required":
        return False
    place = _at(value, error.path)
    return isinstance(place, dict) and error.kind.as_dict()["property"] in place


def _at(value: Any, path: Iterable[str | int]) -> Any:
    """Follow a path; None where it leads nowhere, as one does that lacks an empty name."""
    try:
        for step in path:
            value = value[int(step)] if isinstance(value, list) else value[str(step)]
    except (LookupError, TypeError, ValueError):
        return None
    return value


def _first_error(validator: Any, value: Any) -> Iterator[Any]:
    import jsonschema_rs

    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        yield error


def is_deeper(value: Any, levels: int) -> bool:
    """Whether a value has more levels of arrays and objects than these."""
    level = [value]
    for _ in range(levels + 1):
        level = [part for item in level for part in _parts(item)]
        if not level:
            return False
    return True


def _parts(item: Any) -> Collection[Any]:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()


def shorten(value: Any, levels: int = MOST_LEVELS - 1) -> Any:
    """Leave out what keeps all errors of an object with this member from being listed."""
    if isinstance(value, dict):
        members = islice(value.items(), _MOST_MEMBERS if levels else 0)
        return {name: shorten(part, levels - 1) for name, part in members}
    if isinstance(value, list):
        return [shorten(part, levels - 1) for part in value] if levels else []
    return value


def _with_short_numbers(value: Any) -> Any:
    """Round the numbers that are too long to be written."""
    if isinstance(value, dict):
        return {key: _with_short_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_short_numbers(item) for item in value]
    return _ROUGHLY.plus(value) if isinstance(value, Decimal) else value


_ROUGHLY = Context(prec=30, Emin=MIN_EMIN, Emax=MAX_EMAX)


def conformity(value: Any, errors: list[Violation]) -> float:
    """Return the share of values, and of required members that are missing, without an error."""
    alone: set[tuple[str, ...]] = set()
    whole: set[tuple[str, ...]] = set()
    missing: set[tuple[str, ...]] = set()
    for error in errors:
        path, keyword = tuple(map(str, error.path)), error.kind.name
        if keyword == "required":
            missing.add((*path, error.kind.as_dict()["property"]))
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            whole.update((*path, name) for name in error.kind.as_dict()["unexpected"])
        elif keyword in _OF_THE_CONTAINER:
            alone.add(path)
        else:
            whole.add(path)
    if () in whole:
        return 0.0
    bad = len([path for path in alone - whole if not _is_within(path, whole)])
    bad += sum(_size(_at(value, path)) for path in whole if not _is_within(path, whole))
    return 1 - (bad + len(missing)) / (_size(value) + len(missing))


def _is_within(path: tuple[str, ...], whole: set[tuple[str, ...]]) -> bool:
    """Whether a path leads through one of `whole`."""
    return any(path[:length] in whole for length in range(len(path)))


def _size(value: Any) -> int:
    """Count a value and all that are within."""
    return 1 + sum(map(len, _containers(value)))


def _containers(value: Any) -> list[Any]:
    """List the arrays and objects of a value, each before those within it."""
    found = [value] if isinstance(value, (dict, list)) else []
    for container in found:  # which grows meanwhile
        found += [part for part in _parts(container) if isinstance(part, (dict, list))]
    return found
