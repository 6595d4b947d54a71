"""Reading a JSON Schema that a user passes, and describing what is wrong with it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, get_origin

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, copy_value, parse
from llmeval_integrations.json_values.values import encode, pointer
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
"""The keywords of drafts 4 to 2020-12 that constrain values or organize a schema."""

REMARKS: Final = frozenset(
    "id title description default examples $comment deprecated readOnly writeOnly".split()  # noqa: SIM905
)
"""The keywords that only annotate. They do not prove a schema: answers have such members, too."""

_OWN: Final = "http://json-schema.org/", "https://json-schema.org/"
"""The beginnings of each `$schema` that the validator supports."""


def schema_text(schema: Any) -> str:
    """Return a schema as the text that is its key in a cache.

    Raises InvalidSchemaError if it is not JSON and gives no JSON Schema.
    """
    if isinstance(schema, str):
        return str.__str__(schema)
    is_generic = get_origin(schema) is not None  # such as list[Model]
    if isinstance(schema, type) or is_generic or callable(getattr(schema, "json_schema", None)):
        schema = _schema_of_type(schema)
    return encode(copy_schema(schema)).decode()


@lru_cache(maxsize=128)
def _schema_of_type(kind: Any) -> Any:
    """Return the schema of a Pydantic model or TypeAdapter."""
    for method in ("model_json_schema", "json_schema", "schema"):
        if callable(getattr(kind, method, None)):
            try:
                return getattr(kind, method)()
            except Exception as error:
                raise InvalidSchemaError(f"{quote(kind)} has no JSON Schema: {error}") from error
    raise InvalidSchemaError(
        f"{quote(kind)} is neither a schema nor a Pydantic model; wrap other types in "
        "pydantic.TypeAdapter"
    )


def copy_schema(schema: Any) -> Any:
    """Copy a schema; raise InvalidSchemaError if it is not JSON."""
    value = parse(schema)
    if isinstance(value, Defect):
        raise InvalidSchemaError(f"the schema is not JSON: {value.reason}: {quote(schema)}")
    return value


def parse_schema(text: str) -> dict[str, Any] | bool:
    """Parse the text of a schema; raise InvalidSchemaError if it is not an object with a keyword.

    A boolean is accepted. So is an object that has only annotations and names that begin with
    `x-`. Any other object without a keyword is a mistake, since every value would conform.
    """
    value = parse(text)
    if isinstance(value, Defect):
        is_json = text.lstrip()[:1] in ("{", "[")
        hint = "" if is_json else "; if it is a path, read the file first"
        raise InvalidSchemaError(f"the schema is not JSON: {value.reason}{hint}: {quote(text)}")
    if isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        raise InvalidSchemaError(f"a schema is an object or a boolean, got {quote(text)}")
    others = [key for key in value if key not in REMARKS and not key.startswith("x-")]
    is_format = value.get("type") == "json_schema"  # as OpenAI's API calls a schema with its name
    if is_format or (others and KEYWORDS.isdisjoint(others)):
        inner = next((key for key in ("schema", "json_schema") if key in others), None)
        hint = f"did you mean its {inner!r}?" if inner else "its members belong under 'properties'"
        raise InvalidSchemaError(
            f"not a JSON Schema: any value conforms to it; {hint}: {quote(value)}"
        )
    return value


def read_schema(text: str) -> dict[str, Any] | bool:
    """Parse a schema that validates nothing here; raise InvalidSchemaError if it is invalid.

    Its references may lead nowhere; compiling it would reject them.
    """
    import jsonschema_rs

    value = parse_schema(text)
    if isinstance(value, bool) or not str(value.get("$schema", _OWN[0])).startswith(_OWN):
        return value  # the library would fetch any other `$schema`
    try:
        jsonschema_rs.meta.validate(value)
    except jsonschema_rs.ValidationError as error:
        problem = describe_problem(error)
        raise InvalidSchemaError(f"{problem} in the schema {quote(text)}") from error
    return value


def refuse_nan(value: Any, parsing: Parsing) -> Any:
    """Return a value, or a Defect if it contains NaN, which lenient parsing accepts."""
    if parsing != "lenient" or isinstance(value, Defect):
        return value
    return copy_value(value, finite=True)


def describe_problem(error: Any) -> str:
    """Describe the library's error about a schema, with its place if the error has one."""
    reason = restore_classes(str(error).split("\n\n", maxsplit=1)[0])
    if reason.endswith(' is not a "regex"') and "{" in reason:
        reason += ", or needs too much memory"
    if "retriev" in reason.lower():
        reason += "; nothing is fetched, so put it into the schema's $defs"
    place = restore_classes(pointer(getattr(error, "instance_path", ())))
    return f"{reason} at {place}" if place else reason
