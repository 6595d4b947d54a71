"""Does the output conform to the JSON Schema that is its reference?

The cases cover evaluators and differences of validators. JSON-Schema-Test-Suite covers keywords.
"""

# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.claims import json_equality

_ANY: Final = {"type": ["object", "array", "string", "number", "boolean", "null"]}
_RECORD: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "tags": {"type": "array"},
        "note": {"type": "string"},
    },
    "required": ["id"],
    "additionalProperties": False,
}
_TREE: Final[dict[str, Any]] = {"type": "array", "items": {"$ref": "#"}}

_2020: Final = {"$schema": "https://json-schema.org/draft/2020-12/schema"}

_TYPE: Final = "a value of another type passes"
_BOOLEAN: Final = "true and 1 are equal only in Python"
_RIGHT: Final = "right outputs count as wrong"
_KEYWORD: Final = "a keyword of the schema is ignored"
_BLAME: Final = "an invalid schema lowers or raises the model's figure"
_LIMIT: Final = "one long or deep output ends the run, or is counted as wrong"

CASES: Final[tuple[Case, ...]] = (
    *(replace(each, reference=_ANY) for each in json_equality.NOT_JSON),
    Case("conforming record", "yes", '{"id": 1, "tags": [], "note": ""}', _RECORD, _RIGHT),
    Case("missing required key", "no", '{"tags": []}', _RECORD, _KEYWORD),
    Case("null for an optional key", "no", '{"id": 1, "note": null}', _RECORD, "null is not a string"),
    Case("an extra key", "no", '{"id": 1, "x": 1}', _RECORD, _KEYWORD),
    Case("number as string", "no", '{"id": "1"}', _RECORD, _TYPE),
    Case("true as an integer", "no", '{"id": true}', _RECORD, _BOOLEAN),
    Case("1.0 as an integer", "yes", '{"id": 1.0}', _RECORD, _RIGHT),
    Case("key twice, the first is right", "no", '{"id": 1, "id": "x"}', _RECORD, "parsers take the last value"),
    Case("enum of numbers", "no", "false", {"enum": [0, 1]}, _BOOLEAN),
    Case("unique items, true and 1", "yes", "[1, true]", {"uniqueItems": True}, _BOOLEAN),
    Case("unique items, 1 and 1.0", "no", "[1, 1.0]", {"uniqueItems": True}, _KEYWORD),
    Case("length in characters", "yes", '"😀"', {"maxLength": 1}, _RIGHT),
    Case("items after the first", "no", '["x", "y"]', {**_2020, "prefixItems": [{}], "items": {"type": "number"}}, _KEYWORD),
    Case("unevaluated keys", "no", '{"a": 1, "b": 2}', {**_2020, "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, _KEYWORD),
    Case("one of two, both fit", "no", "5", {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, _KEYWORD),
    Case("definition within", "no", '{"a": "x"}', {"$defs": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}, _KEYWORD),
    Case("recursive schema", "no", "[[[1]]]", _TREE, _KEYWORD),
    Case("recursive schema, 100 levels", "yes", "[" * 100 + "]" * 100, _TREE, _LIMIT),
    Case("half a pair, raw", "no", '"\ud800"', {"type": "number"}, "what cannot be encoded ends the run"),
    Case("an integer of 308 digits", "yes", "7" * 308, {"type": "integer"}, _LIMIT),
    Case("100,000 levels", "either", "[" * 100_000 + "]" * 100_000, {"type": "array"}, _LIMIT),
    Case("schema cut", "an error", "{}", '{"type": "object"', _BLAME),
    Case("schema that is prose", "an error", "{}", "the output of the form", _BLAME),
    Case("schema with an unknown type", "an error", "{}", {"type": "objekt"}, _BLAME),
    Case("schema with a wrong keyword", "an error", '{"a": 1}', {"required": "a"}, _BLAME),
    Case("schema with a broken reference", "an error", "{}", {"$ref": "#/$defs/absent"}, _BLAME),
)  # fmt: skip

GROWTHS: Final = tuple(
    Growth(each.name, lambda size, make=each.make: (make(size)[0], _ANY))  # type: ignore[misc]
    for each in json_equality.GROWTHS
)
