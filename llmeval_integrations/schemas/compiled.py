"""Schemas compiled: does a value conform, and what is wrong where it does not?"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.schemas.document import subschemas
from llmeval_integrations.schemas.error_schema import may_change, simplify
from llmeval_integrations.schemas.patterns import (
    MOST_ROOM,
    ROOM,
    expand_classes,
    may_look_around,
    pattern_options,
)
from llmeval_integrations.schemas.reading import describe_problem, is_about_a_pattern, parse_schema
from llmeval_integrations.schemas.unique import UniqueItems, has_many_long_integers

Draft = Literal["4", "6", "7", "2019-09", "2020-12"]

VALIDATORS: Final[dict[str | None, str]] = {
    None: "validator_for",
    "4": "Draft4Validator",
    "6": "Draft6Validator",
    "7": "Draft7Validator",
    "2019-09": "Draft201909Validator",
    "2020-12": "Draft202012Validator",
}
"""The drafts, and what makes a validator for each; None goes by `$schema`."""

_BASE: Final = "json-schema:///"
"""Where the validator takes an address to begin that says nothing of it."""

_LONE_REFERENCES: Final = frozenset(("Draft4Validator", "Draft6Validator", "Draft7Validator"))
"""The validators of the drafts in which `$ref` hides what stands beside it."""


def compile_schema(
    text: str, draft: str | None, check_formats: bool, parsing: Parsing
) -> CompiledSchema:
    """Compile a schema's text, or find it compiled; raise InvalidSchemaError where it is none."""
    options = text, draft, check_formats, parsing
    return _compile(*options) or _compile_large(*options)


@lru_cache(maxsize=512)
def _compile(
    text: str, draft: str | None, check_formats: bool, parsing: Parsing
) -> CompiledSchema | None:
    """Compile a schema's text; None where its patterns take much room."""
    try:
        return CompiledSchema(text, draft, check_formats, parsing, ROOM)
    except InvalidSchemaError as error:
        if not is_about_a_pattern(error.__cause__):
            raise
    _compile_large(text, draft, check_formats, parsing)
    return None


@lru_cache(maxsize=8)  # of these, 512 would fill the memory
def _compile_large(
    text: str, draft: str | None, check_formats: bool, parsing: Parsing
) -> CompiledSchema:
    return CompiledSchema(text, draft, check_formats, parsing, MOST_ROOM)


class CompiledSchema:
    """A schema as validators; raises InvalidSchemaError where it is none."""

    def __init__(
        self, text: str, draft: str | None, check_formats: bool, parsing: Parsing, room: int
    ) -> None:
        import jsonschema_rs

        self._text, self._parsing = text, parsing
        self._check_formats, self._room = check_formats, room
        schema = parse_schema(text, parsing)
        try:
            self._validator = self._build(getattr(jsonschema_rs, VALIDATORS[draft]), schema)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            problem = describe_problem(error)
            raise InvalidSchemaError(f"{problem} in the schema {quote(text)}") from error
        self.is_valid = self._is_valid if "uniqueItems" in text else self._validator.is_valid
        """Whether a value conforms."""

    def _is_valid(self, value: Any) -> bool:
        validator = self._validator
        if has_many_long_integers(value):
            validator = self._unique_validator
        return bool(validator.is_valid(value))

    @cached_property
    def _unique_validator(self) -> Any:
        schema = parse_schema(self._text, self._parsing)
        return self._build(type(self._validator), schema, uniqueItems=UniqueItems)

    def error_validator(self, value: Any) -> Any:
        """Return the validator that is asked what is wrong with a value."""
        if "uniqueItems" in self._text and has_many_long_integers(value):
            return self._unique_validator
        return self._simple_validator

    @cached_property
    def _simple_validator(self) -> Any:
        """The validator of a schema with shorter errors; the same one where nothing is gained."""
        import jsonschema_rs

        if not may_change(self._text):
            return self._validator
        kind = type(self._validator)
        schema = parse_schema(self._text, self._parsing)
        if not simplify(schema, lone_references=self.has_lone_references):
            return self._validator
        try:
            return self._build(kind, schema)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            return self._validator  # a pointer leads beside a lone reference

    @property
    def draft(self) -> str:
        """The draft that applies, by the name of its validator, such as `Draft7Validator`."""
        return type(self._validator).__name__

    @property
    def has_lone_references(self) -> bool:
        """Whether `$ref` hides what stands beside it, as in the drafts up to 7."""
        return self.draft in _LONE_REFERENCES

    def build_part(self, place: str, *, words_errors: bool = False) -> Any:
        """Build the validator of the part that a JSON Pointer leads to, as it holds in its place.

        With `words_errors` it has shorter errors, and takes longer.
        """
        from urllib.parse import quote as escape

        keywords = {"uniqueItems": UniqueItems} if "uniqueItems" in self._text else None
        return type(self._validator)(
            {"$ref": f"{self._address}#{escape(place)}"},
            registry=self._error_registry if words_errors else self._registry,
            validate_formats=self._check_formats,
            offline=True,
            keywords=keywords,
            pattern_options=pattern_options(self._room),
        )

    def read(self) -> Any:
        """Return the schema as a new value, in which the places of `build_part` are found."""
        schema = parse_schema(self._text, self._parsing)
        self._spell_patterns(schema)
        return schema

    @cached_property
    def _registry(self) -> Any:
        return self._register(self.read())

    @cached_property
    def _error_registry(self) -> Any:
        schema = self.read()
        simplify(schema, lone_references=self.has_lone_references)
        return self._register(schema)

    def _register(self, schema: Any) -> Any:
        import jsonschema_rs

        draft = getattr(jsonschema_rs, self.draft.removesuffix("Validator"))
        return jsonschema_rs.Registry([(self._address, schema)], draft=draft)

    @cached_property
    def _address(self) -> str:
        """The address from which the schema's references lead."""
        schema = parse_schema(self._text, self._parsing)
        keyword = "id" if self.draft == "Draft4Validator" else "$id"
        own = schema.get(keyword) if isinstance(schema, dict) else None
        address = own.partition("#")[0] if isinstance(own, str) else ""
        return address if ":" in address else _BASE + (address.lstrip("/") or "schema")

    def _build(self, kind: Any, schema: Any, **keywords: Any) -> Any:
        """Build a validator; `keywords` are classes that stand in for its own keywords."""
        self._spell_patterns(schema)
        return kind(
            schema,
            validate_formats=self._check_formats,
            offline=True,
            keywords=keywords or None,
            pattern_options=pattern_options(self._room),
        )

    def _spell_patterns(self, schema: Any) -> None:
        """Change a schema so that patterns read alike whether they look around or not."""
        if may_look_around(self._text):
            is_pointed_at = "patternProperties/" in self._text  # and may lead through a pattern
            for part, _ in subschemas(schema):
                if isinstance(part.get("pattern"), str):
                    part["pattern"] = expand_classes(part["pattern"])
                named = part.get("patternProperties")
                if isinstance(named, dict) and not is_pointed_at:
                    part["patternProperties"] = {
                        expand_classes(name): one for name, one in named.items()
                    }
