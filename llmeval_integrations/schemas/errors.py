"""The errors of a value against a JSON Schema, and the share of the value without one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.errors import RegexTimeoutError
from llmeval_integrations.core.quote import MAX_QUOTE, shorten_middle
from llmeval_integrations.json_values.values import Extent, measure, pointer
from llmeval_integrations.schemas.document import NAMED
from llmeval_integrations.schemas.error_schema import read_stand_in
from llmeval_integrations.schemas.patterns import restore_classes

if TYPE_CHECKING:
    from llmeval_integrations.schemas.validator import CompiledSchema

# An error of these concerns the container alone, not the values in it.
_CONTAINER_KEYWORDS: Final = frozenset(
    (
        *("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
        *("minProperties", "maxProperties", "propertyNames"),
    )
)

_MOST_LEVELS: Final = 16
_MOST_PATHS: Final = 2**16
"""All errors are listed for values up to this depth, and for deeper ones if only so many paths lead
along the references of the schema. A recursive schema may report one value along twice as many
paths with each level."""

_MOST_MEMBERS: Final = 1_000
"""All errors are listed for objects up to this size: each error copies its whole object."""


def is_listed(extent: Extent, schema: CompiledSchema) -> bool:
    """Return whether all errors of a value of this extent are listed."""
    if extent.widest > _MOST_MEMBERS:
        return False
    return extent.levels <= _MOST_LEVELS or schema.paths <= _MOST_PATHS


def find_errors(value: Any, schema: CompiledSchema, extent: Extent) -> list[Any]:
    """Return all errors of an invalid value, or the first if the value is too large to list them.

    Raises RegexTimeoutError if a pattern gives no answer.
    """
    import jsonschema_rs

    errors = []
    if is_listed(extent, schema):
        found = chain.from_iterable(map(_expand, schema.error_validator.iter_errors(value)))
        errors = [error for error in found if not _misses_member(error)]
    else:
        try:
            schema.error_validator.validate(value)
        except jsonschema_rs.ValidationError as first:
            errors = _expand(first)
    for error in errors:
        if type(error.kind).__name__ in ("BacktrackLimitExceeded", "RegexEngineFailure"):
            said = describe(error)
            raise RegexTimeoutError(
                f"the pattern at {said['schema_pointer']} gives no answer for the text at "
                f"{said['pointer'] or 'the root'}: {said['message']}"
            )
    return errors


def _expand(error: Any) -> list[Any]:
    """Return the errors of the only alternative apart from null, as in a Pydantic `Optional`.

    Any other error is returned as it is.
    """
    if type(error.kind).__name__ not in ("AnyOf", "OneOfNotValid"):
        return [error]
    place = error.instance_path
    others = [found for found in error.kind.context if not _wants_null(found[0], place)]
    return [*chain.from_iterable(map(_expand, others[0]))] if len(others) == 1 else [error]


def _wants_null(error: Any, place: list[Any]) -> bool:
    is_type = error.kind.name == "type" and error.instance_path == place
    return bool(is_type and error.kind.as_dict()["types"] == ["null"])


def _misses_member(error: Any) -> bool:
    """Return whether the error misses a member that is there.

    The validator does so if the schema also forbids this member, which is an error of its own.
    """
    return error.kind.name == "required" and error.kind.as_dict()["property"] in error.instance


def describe(error: Any) -> dict[str, Any]:
    """Describe an error for a result, with the keyword of the original schema."""
    keyword, message, schema_path = error.kind.name, error.message, error.schema_path
    is_required = keyword == "required"
    if is_required:  # `dependentRequired` and `dependencies` as well
        keyword = schema_path[-1]
    elif keyword == "falseSchema":
        *_, above, last = [None, None, *(step for step in schema_path if isinstance(step, str))]
        keyword = above if above in NAMED else last or keyword
    elif keyword == "not":
        keyword, message, schema_path = read_stand_in(message, schema_path)
    message = restore_classes(message)
    return {
        "pointer": pointer(error.instance_path),
        "schema_pointer": restore_classes(pointer(schema_path)),
        "keyword": keyword,
        # Most messages begin with the value, which may be long; `required` quotes only a name.
        "message": message if is_required else shorten_middle(message, MAX_QUOTE),
    }


def _follow_path(value: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path, or None; the validator's paths leave out empty names."""
    try:
        for step in path:
            value = value[int(step)] if isinstance(value, list) else value[str(step)]
    except (LookupError, TypeError, ValueError):
        return None
    return value


def schema_score(value: Any, errors: list[Any], values: int) -> float:
    """Return the share of values without an error; missing required members count as values."""
    alone: set[tuple[str, ...]] = set()
    whole: set[tuple[str, ...]] = set()
    missing: set[tuple[str, ...]] = set()
    for error in errors:
        path, keyword = tuple(map(str, error.instance_path)), error.kind.name
        if keyword == "required":
            missing.add((*path, error.kind.as_dict()["property"]))
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            whole.update((*path, name) for name in error.kind.as_dict()["unexpected"])
        else:
            (alone if keyword in _CONTAINER_KEYWORDS else whole).add(path)
    if () in whole:
        return 0.0

    def is_within(path: tuple[str, ...]) -> bool:
        return any(path[:length] in whole for length in range(len(path)))

    bad = sum(measure(_follow_path(value, path)).values for path in whole if not is_within(path))
    bad += sum(not is_within(path) for path in alone - whole)
    return 1 - (bad + len(missing)) / (values + len(missing))
