"""Compiled schemas, which validate values and list their errors."""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import inf
from typing import Any, Final, Literal
from urllib.parse import quote as escape

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.schemas.document import count_paths
from llmeval_integrations.schemas.error_schema import LONE_REFERENCES, simplify
from llmeval_integrations.schemas.parse import describe_problem, parse_schema
from llmeval_integrations.schemas.patterns import pattern_options, spell_patterns

Draft = Literal["4", "6", "7", "2019-09", "2020-12"]

_BASE: Final = "json-schema:///"
"""The base address that the validator assumes for a schema without one."""


class CompiledSchema:
    """A schema with its validators; raises InvalidSchemaError if the schema is invalid."""

    def __init__(self, text: str, draft: str | None, check_formats: bool) -> None:
        import jsonschema_rs

        self._text, self._check_formats = text, check_formats
        schema = self.read()
        # Without a draft, `$schema` decides.
        kind = f"Draft{draft.replace('-', '')}Validator" if draft else "validator_for"
        try:
            self._validator = self._build(getattr(jsonschema_rs, kind), schema)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            problem = describe_problem(error)
            raise InvalidSchemaError(f"{problem} in the schema {quote(text)}") from error
        self.is_valid = self._validator.is_valid
        """Return whether a value conforms."""

    def read(self) -> Any:
        """Return the schema as a new value; `build_part` takes pointers into it."""
        schema = parse_schema(self._text)
        spell_patterns(schema)
        return schema

    @cached_property
    def error_validator(self) -> Any:
        """The validator that lists errors; its schema is simplified, so there are fewer of them."""
        import jsonschema_rs

        schema = self.read()
        if not simplify(schema, self.draft, is_recursive=self.paths == inf):
            return self._validator
        try:
            return self._build(type(self._validator), schema)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            return self._validator  # a pointer leads to a part that a lone reference overrides

    @cached_property
    def paths(self) -> float:
        """How many paths lead along its references; infinitely many if it may refer to itself."""
        return count_paths(self.read())

    @property
    def draft(self) -> str:
        """The draft that applies, by the name of its validator, such as `Draft7Validator`."""
        return type(self._validator).__name__

    @property
    def has_lone_references(self) -> bool:
        """Whether `$ref` overrides its sibling keywords, as in the drafts up to 7."""
        return self.draft in LONE_REFERENCES

    def build_part(self, place: str) -> Any:
        """Build the validator of the part at a JSON Pointer, whose references stay valid."""
        address, registry = self._registry
        schema = {"$ref": f"{address}#{escape(place)}"}
        return self._build(type(self._validator), schema, registry=registry)

    @cached_property
    def _registry(self) -> tuple[str, Any]:
        """The address of the schema, and a registry with the simplified schema at this address."""
        import jsonschema_rs

        schema = self.read()
        simplify(schema, self.draft, is_recursive=self.paths == inf)
        keyword = "id" if self.draft == "Draft4Validator" else "$id"
        own = schema.get(keyword) if isinstance(schema, dict) else None
        address = own.partition("#")[0] if isinstance(own, str) else ""
        if ":" not in address:  # references need an absolute one
            address = _BASE + (address.lstrip("/") or "schema")
        draft = getattr(jsonschema_rs, self.draft.removesuffix("Validator"))
        return address, jsonschema_rs.Registry([(address, schema)], draft=draft)

    def _build(self, kind: Any, schema: Any, **options: Any) -> Any:
        return kind(
            schema,
            validate_formats=self._check_formats,
            offline=True,
            # The library compares integers over 64 bits in pairs: 1,000 take 3 s.
            keywords={"uniqueItems": _UniqueItems} if "uniqueItems" in self._text else None,
            pattern_options=pattern_options(),
            **options,
        )


compile_schema: Final = lru_cache(maxsize=64)(CompiledSchema)
"""Compile the text of a schema, with a cache."""


class _UniqueItems:
    """`uniqueItems` for the validator; compares items by their canonical texts."""

    def __init__(self, schema: Any, value: Any, path: Any) -> None:  # noqa: ARG002
        self._is_asserted = value is True

    def validate(self, instance: Any) -> None:
        """Raise ValueError if items repeat; the validator turns it into its own error."""
        if not (self._is_asserted and isinstance(instance, list)):
            return
        if len({*map(canonical, instance)}) < len(instance):
            raise ValueError(f"{canonical(instance)} has non-unique elements")
