"""Reading what somebody gives as a JSON Schema, and wording what is wrong with it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, get_origin

import msgspec

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.json_values.pointer import pointer
from llmeval_integrations.json_values.python_values import copy_value
from llmeval_integrations.schemas.patterns import restore_classes

KEYWORDS: Final = frozenset(
    """
    $schema $id $vocabulary $anchor $dynamicAnchor $recursiveAnchor
    $ref $dynamicRef $recursiveRef $defs definitions
    type enum const format not allOf anyOf oneOf if then else
    properties patternProperties additionalProperties unevaluatedProperties propertyNames
    required minProperties maxProperties dependencies dependentRequired dependentSchemas
    items prefixItems additionalItems unevaluatedItems
    contains minContains maxContains minItems maxItems uniqueItems
    minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern
    contentEncoding contentMediaType contentSchema
    """.split()  # noqa: SIM905 - a list would fill a page
)
"""The keywords of drafts 4 to 2020-12 that ask for something."""

REMARKS: Final = frozenset(
    "id title description default examples $comment deprecated readOnly writeOnly".split()  # noqa: SIM905
)
"""The keywords that ask for nothing, and are no sign of a schema: answers have such members."""

_OWN: Final = "http://json-schema.org/", "https://json-schema.org/"
"""How a `$schema` begins that the validator knows."""

encode = msgspec.json.Encoder(decimal_format="number").encode
"""Writes a schema as the text that stands for it in a cache."""


def schema_text(schema: Any) -> str:
    """Write a schema as the text that stands for it in a cache.

    Raises InvalidSchemaError where it is neither JSON nor has a JSON Schema.
    """
    if isinstance(schema, str):
        return str.__str__(schema)
    is_generic = get_origin(schema) is not None  # such as list[Model]
    if isinstance(schema, type) or is_generic or callable(getattr(schema, "json_schema", None)):
        schema = _schema_of_type(schema)
    return encode(copy_schema(schema)).decode()


@lru_cache(maxsize=128)
def _schema_of_type(kind: Any) -> Any:
    """Ask a Pydantic model, or a TypeAdapter, for its schema."""
    for method in ("model_json_schema", "json_schema", "schema"):
        if callable(getattr(kind, method, None)):
            try:
                return getattr(kind, method)()
            except Exception as error:
                raise InvalidSchemaError(f"{quote(kind)} has no JSON Schema: {error}") from error
    raise InvalidSchemaError(
        f"{quote(kind)} is neither a schema nor a Pydantic model; of other types "
        "pydantic.TypeAdapter makes what is taken here"
    )


def copy_schema(schema: Any) -> Any:
    """Copy a schema; raise InvalidSchemaError where it is not JSON."""
    value = parse(schema)
    if isinstance(value, Defect):
        raise InvalidSchemaError(f"the schema is not JSON: {value.reason}: {quote(schema)}")
    return value


def parse_schema(text: str, parsing: Parsing) -> dict[str, Any] | bool:
    """Read a schema's text; raise InvalidSchemaError where it is not an object with a keyword.

    An empty object, remarks alone, and names that begin with `x-` may be meant; to anything else
    without a keyword everything would conform.
    """
    parsing = "lenient" if parsing == "lenient" else "markdown"
    value = refuse_nan(parse(text, parsing), parsing)
    if isinstance(value, Defect):
        is_json = text.lstrip()[:1] in ("{", "[")
        hint = "" if is_json else "; is it a path? then read the file first"
        raise InvalidSchemaError(f"the schema is not JSON: {value.reason}{hint}: {quote(text)}")
    if isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        raise InvalidSchemaError(f"a schema is an object or a boolean, got {quote(text)}")
    others = [key for key in value if key not in REMARKS and not key.startswith("x-")]
    if others and KEYWORDS.isdisjoint(others):
        inner = next((key for key in ("schema", "json_schema") if key in others), None)
        hint = f"is its {inner!r} meant?" if inner else "its members belong under 'properties'"
        raise InvalidSchemaError(
            f"without a keyword of JSON Schema everything would conform to {quote(value)}; {hint}"
        )
    return value


def read_schema(text: str) -> dict[str, Any] | bool:
    """Read a schema that nothing is validated by; raise InvalidSchemaError where it is none.

    It may point to what is not there, which its compiling would refuse.
    """
    import jsonschema_rs

    value = parse_schema(text, "markdown")
    if isinstance(value, bool) or not str(value.get("$schema", _OWN[0])).startswith(_OWN):
        return value  # others would be fetched
    try:
        jsonschema_rs.meta.validate(value)
    except jsonschema_rs.ValidationError as error:
        problem = describe_problem(error)
        raise InvalidSchemaError(f"{problem} in the schema {quote(text)}") from error
    return value


def refuse_nan(value: Any, parsing: Parsing) -> Any:
    """Return a value; the Defect where it holds NaN, which lenient parsing lets in."""
    if parsing != "lenient" or isinstance(value, Defect):
        return value
    return copy_value(value, finite=True)


def describe_problem(error: Any) -> str:
    """Word what the library has against a schema, with the place where it says one."""
    reason = restore_classes(str(error).split("\n\n", maxsplit=1)[0])
    if reason.endswith(' is not a "regex"') and "{" in reason:
        reason += ", or one that would take too much room"
    if "retriev" in reason.lower():
        reason += "; nothing is fetched, put it into the schema's $defs"
    place = restore_classes(pointer(getattr(error, "instance_path", ())))
    return f"{reason} at {place}" if place else reason
