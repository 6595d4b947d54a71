"""Does the output conform to a JSON Schema?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, Literal

import msgspec

from llmeval_integrations.errors import (
    InvalidSchemaError,
    MissingFieldError,
    RunawayPatternError,
)
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.evaluators.parsed import read
from llmeval_integrations.evaluators.schema_errors import conformity, find_errors, told
from llmeval_integrations.evaluators.schema_for_errors import may_need_preparing, prepare
from llmeval_integrations.evaluators.schema_keywords import require_keyword
from llmeval_integrations.evaluators.schema_validator import build_validator
from llmeval_integrations.json_defects import Defect, check_value
from llmeval_integrations.json_pointer import pointer
from llmeval_integrations.json_text import PARSINGS, Parsing, parse
from llmeval_integrations.json_value import bag, equal
from llmeval_integrations.options import check_choice, check_flag
from llmeval_integrations.printable import printable
from llmeval_integrations.result import Result
from llmeval_integrations.sample import MISSING, Sample
from llmeval_integrations.schema_document import subschemas
from llmeval_integrations.schema_patterns import MOST_ROOM, ROOM, as_written
from llmeval_integrations.wording import shown

Draft = Literal["4", "6", "7", "2019-09", "2020-12"]

_VALIDATORS: Final[dict[str | None, str]] = {
    None: "validator_for",
    "4": "Draft4Validator",
    "6": "Draft6Validator",
    "7": "Draft7Validator",
    "2019-09": "Draft201909Validator",
    "2020-12": "Draft202012Validator",
}
"""The drafts, and what makes a validator for each; None goes by `$schema`."""

_OWN = "http://json-schema.org/", "https://json-schema.org/"
"""How a `$schema` begins that the validator knows."""

_RUNAWAY = frozenset(("BacktrackLimitExceeded", "RegexEngineFailure"))

_LONE_REFERENCES = frozenset(("Draft4Validator", "Draft6Validator", "Draft7Validator"))
"""The validators of the drafts in which `$ref` hides what stands beside it."""


@dataclass(frozen=True)
class JsonSchema(Evaluator):  # noqa: PLW1641 - the decorator writes __hash__
    """Does the output conform to a JSON Schema?

    Score True or False. The reason words the first violation, the label is its keyword, or
    `falseSchema` where the whole schema is false. Metadata: `errors`, each with `pointer`,
    `schema_pointer`, `keyword` and `message`; `conformity`, from 0 to 1: the share of the values
    in the output, containers included, that no error concerns. A required member that is missing
    counts as one more value; an error that is about a container's members as a whole concerns the
    container alone. Of an output more than 16 levels deep only the first error is looked for, and
    `errors_limit_reached` is True; there is none where it is about a value that has more than 250
    levels itself, and the label is `too_deep`.

    Drafts 6 and 7 assert `contentEncoding` and `contentMediaType` whatever `check_formats` says.
    Nothing is fetched: a `$ref` or `$schema` that points outside is an InvalidSchemaError. So is
    an object without a keyword of JSON Schema, to which everything would conform, and a pattern
    that takes more than 120 MB. One that looks around or back, and backtracks without end, is a
    RunawayPatternError.
    """

    aliases: ClassVar[tuple[str, ...]] = ("json_schema_validation",)

    schema: Any = field(default=None, hash=False)
    """The schema: a mapping, a boolean, JSON text, a Pydantic model or TypeAdapter. None takes
    each sample's reference."""

    check_formats: bool = False
    """Whether `format` is asserted, rather than a remark."""

    draft: Draft | Literal[4, 6, 7] | None = None
    """The draft that applies; None goes by `$schema`, and by 2020-12 where there is none."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON; `lenient` completes a schema's text as well."""

    def __post_init__(self) -> None:
        check_flag(self, "check_formats")
        check_choice(self, "parsing", PARSINGS)
        if isinstance(self.draft, int):
            object.__setattr__(self, "draft", str(self.draft))
        if self.draft is not None:
            check_choice(self, "draft", [draft for draft in _VALIDATORS if draft])
        key: bytes | str | None = None
        if self.schema is not None:
            if isinstance(self.schema, dict):  # which whoever gave it may change later
                object.__setattr__(self, "schema", _json_of(self.schema))
                key = _encode(self.schema)
            else:
                key = schema_text(self.schema)
            self._compiled(key)
        object.__setattr__(self, "_key", key)

    def __eq__(self, other: object) -> bool:
        """Whether the options are the same, `true` in a schema not being `1` as to Python."""
        if not isinstance(other, JsonSchema) or type(self) is not type(other):
            return NotImplemented
        ours = self.check_formats, self.draft, self.parsing, self.schema
        theirs = other.check_formats, other.draft, other.parsing, other.schema
        same_text = self._key == other._key  # type: ignore[attr-defined]
        return ours == theirs and (same_text or equal(self.schema, other.schema))

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The reference is needed where there is no schema of our own."""
        return ("reference",) if self.schema is None else ()

    def check(self, sample: Sample) -> Result:
        return self._check(sample, self._compiled(self._key_for(sample)))

    def check_many(self, samples: list[Sample]) -> list[Result]:
        if self.schema is None or not samples:
            return [self.check(sample) for sample in samples]
        check, compiled = self._check, self._compiled(self._key_for(samples[0]))
        return [check(sample, compiled) for sample in samples]

    def _check(self, sample: Sample, compiled: _Compiled) -> Result:
        value = _finite(read(sample, "output", self.parsing), self.parsing)
        if isinstance(value, Defect):
            return defective(value, False)
        if compiled.is_valid(value):
            return Result(True, True, None, None, {"conformity": 1.0})
        return self._violations(value, compiled.for_errors)

    def _key_for(self, sample: Sample) -> bytes | str:
        """Return the text of the schema that a sample is judged by."""
        key: bytes | str | None = self._key  # type: ignore[attr-defined]
        if key is not None:
            return key
        schema = sample.reference
        if schema is MISSING:
            raise MissingFieldError(
                f"{self.name} needs a schema: the option schema=... or the sample's reference"
            )
        return schema if type(schema) is str else schema_text(schema)

    def _compiled(self, key: bytes | str) -> _Compiled:
        options = key, self.draft, self.check_formats, self.parsing
        return _compile(*options) or _compile_large(*options)

    def _violations(self, value: Any, validator: Any) -> Result:
        errors, complete = find_errors(value, validator)
        if not errors:
            reason = "Does not conform; nested too deeply to say where"
            return Result(False, False, "too_deep", reason, {"errors_limit_reached": True})
        found = [told(error) for error in errors]
        for error, said in zip(errors, found):
            if type(error.kind).__name__ in _RUNAWAY:
                raise RunawayPatternError(
                    f"{self.name}: the pattern at {said['schema_pointer']} gives no answer for "
                    f"the text at {said['pointer'] or 'the root'}: {said['message']}"
                )
        first = found[0]
        reason = f"{first['message']} at {first['pointer'] or 'the root'}"
        if len(errors) > 1:
            reason += f"; and {len(errors) - 1} more"
        details: dict[str, Any] = {"errors": found, "conformity": conformity(value, errors)}
        if not complete:
            details["errors_limit_reached"] = True
        return Result(False, False, first["keyword"], printable(reason), details)


def _parse_finite(text: Any, parsing: Parsing) -> Any:
    return _finite(parse(text, parsing), parsing)


def _finite(value: Any, parsing: Parsing) -> Any:
    """Refuse what has no place in JSON Schema, whatever lenient parsing lets in."""
    if parsing != "lenient" or isinstance(value, Defect):
        return value
    return check_value(value, finite=True) or value  # NaN and lone surrogates


class _Compiled:
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
            kind = getattr(jsonschema_rs, _VALIDATORS[draft])
            validator = self._built(kind, value)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise InvalidSchemaError(
                f"{_what_is_wrong(error)} in the schema {_shown(schema)}"
            ) from error
        self._validator = validator
        self._kind = type(validator)
        self.is_valid = validator.is_valid
        if self._kind is jsonschema_rs.Draft4Validator:
            _check_enums(value, schema)

    def _built(self, kind: Any, value: Any) -> Any:
        return build_validator(kind, value, _text(self._schema), *self._options)

    def _parsed(self) -> dict[str, Any] | bool:
        return _parsed(self._schema, self._parsing)

    @cached_property
    def for_errors(self) -> Any:
        """The validator that is asked what is wrong; the same one where nothing is gained."""
        import jsonschema_rs

        if not may_need_preparing(_text(self._schema)):
            return self._validator
        value = self._parsed()
        if not prepare(value, lone_references=self._kind.__name__ in _LONE_REFERENCES):
            return self._validator
        try:
            return self._built(self._kind, value)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            # A pointer leads beside a lone reference, or it has become too deep.
            return self._validator


@lru_cache(maxsize=512)
def _compile(
    schema: bytes | str, draft: str | None, check_formats: bool, parsing: Parsing
) -> _Compiled | None:
    """Compile a schema's text, or raise InvalidSchemaError; None where it takes much room."""
    try:
        return _Compiled(schema, draft, check_formats, parsing, ROOM)
    except InvalidSchemaError as error:
        if not _is_about_a_pattern(error.__cause__):
            raise
    _compile_large(schema, draft, check_formats, parsing)
    return None


@lru_cache(maxsize=8)  # of these, 512 would fill the memory
def _compile_large(
    schema: bytes | str, draft: str | None, check_formats: bool, parsing: Parsing
) -> _Compiled:
    return _Compiled(schema, draft, check_formats, parsing, MOST_ROOM)


def _is_about_a_pattern(error: Any) -> bool:
    """Whether what the library has against a schema is a pattern: a wrong or a large one."""
    kind = getattr(error, "kind", None)
    return kind is not None and kind.name == "format" and kind.as_dict()["format"] == "regex"


def _check_enums(schema: Any, text: bytes | str) -> None:
    """Refuse an enum that is empty or repeats a value: draft 4 does, its validator does not.

    Raises InvalidSchemaError.
    """
    for part, _ in subschemas(schema):
        values = part.get("enum")
        if isinstance(values, list) and len(bag(values)) < max(len(values), 1):
            raise InvalidSchemaError(
                f"in draft 4 an enum has values, and each once, got {shown(values)} "
                f"in the schema {_shown(text)}"
            )


def _what_is_wrong(error: Any) -> str:
    """Word what the library has against a schema, with the place where it says one."""
    reason = as_written(str(error).split("\n\n", maxsplit=1)[0])
    if _is_about_a_pattern(error) and "{" in reason:
        reason += ", or one that would take too much room"
    if "retriev" in reason.lower():
        reason += "; nothing is fetched, put it into the schema's $defs"
    place = as_written(pointer(getattr(error, "instance_path", ())))
    return f"{reason} at {place}" if place else reason


def read_schema(text: bytes | str) -> dict[str, Any] | bool:
    """Read a schema that nothing is validated by; raise InvalidSchemaError where it is none.

    It may point to what is not there, which its compiling would refuse.
    """
    import jsonschema_rs

    value = _parsed(text, "markdown")
    if isinstance(value, bool) or not str(value.get("$schema", _OWN[0])).startswith(_OWN):
        return value  # others would be fetched
    try:
        jsonschema_rs.meta.validate(value)
    except jsonschema_rs.ValidationError as error:
        said = _what_is_wrong(error)
        raise InvalidSchemaError(f"{said} in the schema {_shown(text)}") from error
    return value


def _parsed(text: bytes | str, parsing: Parsing) -> dict[str, Any] | bool:
    """Read a schema's text; raise InvalidSchemaError where it is no object with a keyword."""
    value = _parse_finite(
        _text(text),
        parsing if parsing == "lenient" else "markdown",
    )
    if isinstance(value, Defect):
        hint = (
            ""
            if text.lstrip()[:1] in ("{", "[", b"{", b"[")
            else "; is it a path? then read the file first"
        )
        raise InvalidSchemaError(f"the schema is not JSON: {value.reason}{hint}: {_shown(text)}")
    if not isinstance(value, (dict, bool)):
        raise InvalidSchemaError(f"a schema is an object or a boolean, got {_shown(text)}")
    if isinstance(value, dict):
        require_keyword(value)
    return value


def _shown(text: bytes | str) -> str:
    return shown(_text(text))


def _text(text: bytes | str) -> str:
    return text if isinstance(text, str) else text.decode()


def schema_text(schema: Any) -> bytes | str:
    """Write a schema as the text that stands for it in the cache."""
    if isinstance(schema, str):
        return str.__str__(schema)
    if isinstance(schema, type) or hasattr(schema, "json_schema"):
        schema = _schema_of_type(schema)
    if hasattr(type(schema), "model_dump"):
        raise InvalidSchemaError(f"{shown(schema)} is an instance; its class has the schema")
    return _encode(_json_of(schema))


def _json_of(schema: Any) -> Any:
    """Copy a schema, or raise InvalidSchemaError where it is not JSON."""
    value = parse(schema)
    if isinstance(value, Defect):
        raise InvalidSchemaError(f"the schema is not JSON: {value.reason}: {shown(schema)}")
    return value


_encode = msgspec.json.Encoder(decimal_format="number").encode


@lru_cache(maxsize=128)
def _schema_of_type(kind: Any) -> Any:
    """Ask a Pydantic model, or a TypeAdapter, for its schema."""
    for method in ("model_json_schema", "json_schema", "schema"):
        if callable(getattr(kind, method, None)):
            try:
                return getattr(kind, method)()
            except Exception as error:
                raise InvalidSchemaError(f"{shown(kind)} has no JSON Schema: {error}") from error
    raise InvalidSchemaError(f"{shown(kind)} is neither a schema nor a Pydantic model")
