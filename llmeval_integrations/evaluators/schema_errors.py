"""What violates a JSON Schema, and how much of a value that concerns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import partial
from typing import Any, Final

from llmeval_integrations.evaluators.schema_for_errors import unfollowed
from llmeval_integrations.json_pointer import pointer
from llmeval_integrations.schema_document import NAMED

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

_MOST_LEVELS: Final = 16
_ONE_OF_NONE: Final = " is not one of "


def told(error: Any) -> dict[str, Any]:
    """Give an error as it stands in a result, with the keyword that the schema has."""
    keyword, message, schema_path = error.kind.name, error.message, error.schema_path
    if keyword == "required":  # `dependentRequired` and `dependencies` as well
        keyword = schema_path[-1]
    elif keyword == "falseSchema":
        keyword = _last_keyword(error.evaluation_path) or keyword
    elif keyword == "enum" and message.endswith(_ONE_OF_NONE):
        message = message.removesuffix(_ONE_OF_NONE) + " is not allowed by an empty enum"
    elif keyword == "not":
        found = unfollowed(message, schema_path)
        keyword, message, schema_path = found or (keyword, message, schema_path)
    return {
        "pointer": pointer(error.instance_path),
        "schema_pointer": pointer(schema_path),
        "keyword": keyword,
        "message": message,
    }


def _last_keyword(path: list[str | int]) -> str | None:
    """Give the last step of a path through a schema that is no name and no position."""
    keyword = None
    steps = iter(path)
    for step in steps:
        if isinstance(step, str):
            keyword = step
            if step in NAMED:
                next(steps, None)
    return keyword


def find_errors(value: Any, validator: Any) -> tuple[list[Any], bool]:
    """List the validator's errors, and say whether these are all; none where it is too deep.

    A schema that refers to itself may say the same thing about one value along twice as many
    ways with each level, so of a deeper value only the first error is asked for.
    """
    complete = not _is_deeper(value, _MOST_LEVELS)
    errors_of = validator.iter_errors if complete else partial(_first_error, validator)
    try:
        return list(errors_of(value)), complete
    except ValueError:  # too deep, or a number of more than 4,300 digits
        pass
    try:
        return list(errors_of(_with_short_numbers(value))), complete
    except (ValueError, RecursionError):
        return [], False


def _first_error(validator: Any, value: Any) -> Iterator[Any]:
    import jsonschema_rs

    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        yield error


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value has more levels of arrays and objects than these."""
    level = [value]
    for _ in range(levels + 1):
        level = [part for item in level for part in _parts(item)]
        if not level:
            return False
    return True


def _parts(item: Any) -> Iterable[Any]:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()


def _with_short_numbers(value: Any) -> Any:
    """Round the numbers that are too long to be written."""
    if isinstance(value, dict):
        return {key: _with_short_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_short_numbers(item) for item in value]
    return _ROUGHLY.plus(value) if isinstance(value, Decimal) else value


_ROUGHLY = Context(prec=30, Emin=MIN_EMIN, Emax=MAX_EMAX)


def conformity(value: Any, errors: list[Any]) -> float:
    """Give the share of values, and of required members that are missing, without an error."""
    alone: set[tuple[str, ...]] = set()
    whole: set[tuple[str, ...]] = set()
    missing: set[tuple[str, ...]] = set()
    for error in errors:
        path, keyword = tuple(map(str, error.instance_path)), error.kind.name
        if keyword == "required":
            missing.add((*path, error.kind.as_dict()["property"]))
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            whole.update((*path, name) for name in error.kind.as_dict()["unexpected"])
        elif keyword in _OF_THE_CONTAINER:
            alone.add(path)
        else:
            whole.add(path)
    total = bad = 0
    for path, inside in _places(value, whole):
        total += 1
        bad += inside or path in alone
    return 1 - (bad + len(missing)) / (total + len(missing))


def _places(value: Any, whole: set[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Walk all values with their paths, and whether they stand at or inside one of `whole`."""
    waiting: list[tuple[tuple[str, ...], Any, bool]] = [((), value, False)]
    while waiting:
        path, item, inside = waiting.pop()
        inside = inside or path in whole
        yield path, inside
        if isinstance(item, dict):
            waiting.extend(((*path, key), part, inside) for key, part in item.items())
        elif isinstance(item, list):
            waiting.extend(((*path, str(n)), part, inside) for n, part in enumerate(item))
