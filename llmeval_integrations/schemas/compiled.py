"""Schemas made ready to be asked whether a value conforms, and what is wrong where it does not."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.quoting import shown
from llmeval_integrations.json_values.equality import bag
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.schemas.document import subschemas
from llmeval_integrations.schemas.for_errors import may_need_preparing, prepare
from llmeval_integrations.schemas.patterns import MOST_ROOM, ROOM
from llmeval_integrations.schemas.reading import (
    decoded,
    is_about_a_pattern,
    parse_schema,
    what_is_wrong,
)
from llmeval_integrations.schemas.validator import build_validator

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

_LONE_REFERENCES = frozenset(("Draft4Validator", "Draft6Validator", "Draft7Validator"))
"""The validators of the drafts in which `$ref` hides what stands beside it."""


def compiled(
    schema: bytes | str, draft: str | int | None, check_formats: bool, parsing: Parsing
) -> Compiled:
    """Compile a schema's text, or find it compiled; raise InvalidSchemaError where it is none."""
    options = schema, draft, check_formats, parsing
    return _compile(*options) or _compile_large(*options)


@lru_cache(maxsize=512)
def _compile(
    schema: bytes | str, draft: str | None, check_formats: bool, parsing: Parsing
) -> Compiled | None:
    """Compile a schema's text, or raise InvalidSchemaError; None where it takes much room."""
    try:
        return Compiled(schema, draft, check_formats, parsing, ROOM)
    except InvalidSchemaError as error:
        if not is_about_a_pattern(error.__cause__):
            raise
    _compile_large(schema, draft, check_formats, parsing)
    return None


@lru_cache(maxsize=8)  # of these, 512 would fill the memory
def _compile_large(
    schema: bytes | str, draft: str | None, check_formats: bool, parsing: Parsing
) -> Compiled:
    return Compiled(schema, draft, check_formats, parsing, MOST_ROOM)


class Compiled:
    """A schema, ready to be asked whether a value conforms, and what is wrong where it does not.

    Raises InvalidSchemaError.
    """

    def __init__(
        self,
        schema: bytes | str,
        draft: str | None,
        check_formats: bool,
        parsing: Parsing,
        room: int,
    ) -> None:
        import jsonschema_rs

        self._schema, self._parsing = schema, parsing
        self._options = check_formats, room
        value = self._parsed()
        try:
            kind = getattr(jsonschema_rs, VALIDATORS[draft])
            validator = self._built(kind, value)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise InvalidSchemaError(
                f"{what_is_wrong(error)} in the schema {shown(decoded(schema))}"
            ) from error
        self._validator = validator
        self._kind = type(validator)
        self.is_valid = validator.is_valid
        if self._kind is jsonschema_rs.Draft4Validator:
            _check_enums(value, schema)

    def _built(self, kind: Any, value: Any) -> Any:
        return build_validator(kind, value, decoded(self._schema), *self._options)

    def _parsed(self) -> dict[str, Any] | bool:
        return parse_schema(self._schema, self._parsing)

    @cached_property
    def for_errors(self) -> Any:
        """The validator that is asked what is wrong; the same one where nothing is gained."""
        import jsonschema_rs

        if not may_need_preparing(decoded(self._schema)):
            return self._validator
        value = self._parsed()
        if not prepare(value, lone_references=self._kind.__name__ in _LONE_REFERENCES):
            return self._validator
        try:
            return self._built(self._kind, value)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            # A pointer leads beside a lone reference, or it has become too deep.
            return self._validator


def _check_enums(schema: Any, text: bytes | str) -> None:
    """Refuse an enum that is empty or repeats a value: draft 4 does, its validator does not.

    Raises InvalidSchemaError.
    """
    for part, _ in subschemas(schema):
        values = part.get("enum")
        if isinstance(values, list) and len(bag(values)) < max(len(values), 1):
            raise InvalidSchemaError(
                f"in draft 4 an enum has values, and each once, got {shown(values)} "
                f"in the schema {shown(decoded(text))}"
            )
