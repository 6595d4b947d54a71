"""Does the output conform to a JSON Schema?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

from llmeval_integrations.core.errors import InvalidSchemaError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.limits import MAX_SCHEMA_ERRORS
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result, read
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import measure
from llmeval_integrations.schemas.errors import describe, find_errors, is_listed, schema_score
from llmeval_integrations.schemas.parse import copy_schema, refuse_nan, schema_text
from llmeval_integrations.schemas.validator import CompiledSchema, Draft, compile_schema


@dataclass(frozen=True)
class JsonSchema(Evaluator):
    """Does the output conform to a JSON Schema?

    Example:
        >>> JsonSchema({"properties": {"age": {"minimum": 18}}})('{"age": 3}').reason
        '3 is less than the minimum of 18 at /age'

    Score: 1.0 or 0.0. The reason describes the first error. The label is its keyword, or
    `falseSchema` if the whole schema is false.

    Metadata:
    - `errors`: each with `pointer`, `schema_pointer`, `keyword` and `message`. A value that fits
      no alternative is one error, or has all errors of the only alternative apart from null
    - `schema_score`: the share of values and required members without an error
    - `limit_reached`: not all errors are listed. The first 100 are; if the output has an object
      with more than 1,000 members, or more than 16 levels while the schema refers to itself, only
      the first one is

    Raises:
        InvalidSchemaError: The schema is not valid, refers to another document (none is fetched),
            has no keyword of JSON Schema, or has a pattern that takes more than 120 MB.
        RegexTimeoutError: A pattern with look-around or back references takes too long.
    """

    aliases: ClassVar[tuple[str, ...]] = ("json_schema_validation",)

    schema: Any = field(default=None, hash=False)
    """The schema: a mapping, a boolean, JSON text, a Pydantic model or TypeAdapter. With None, each
    sample's `schema` is used, or its reference if it has no schema."""

    check_formats: bool = False
    """Whether a value that violates `format` is an error."""

    draft: Draft | Literal[4, 6, 7] | None = None
    """The draft of JSON Schema. With None, `$schema` names it, and 2020-12 is the default."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON of an output."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.draft, int):
            object.__setattr__(self, "draft", str(self.draft))
        if isinstance(self.schema, dict):  # the caller may change it later
            object.__setattr__(self, "schema", copy_schema(self.schema))
        self.compiled  # noqa: B018 - checks the schema

    def check(self, sample: Sample) -> Result:
        compiled = self.compiled or self.compile_own(sample)
        value = refuse_nan(read(sample, "output", self.parsing), self.parsing)
        if type(value) is Defect:
            return defect_result(value, 0.0)
        if compiled.is_valid(value):
            return Result(1.0, True, None, None, {"schema_score": 1.0})
        return self._describe_errors(value, compiled)

    def compile_own(self, sample: Sample) -> CompiledSchema:
        """Compile a sample's own schema, or its reference if it has no schema."""
        for name, role in (
            ("schema", "the sample's schema"),
            ("reference", "there is no schema, so the reference is used"),
        ):
            schema = getattr(sample, name)
            if schema is MISSING or schema is None:
                continue
            try:
                return self._compile(schema)
            except InvalidSchemaError as error:
                raise InvalidSchemaError(f"{self.name}: {role}: {error}") from error
        raise MissingFieldError(
            f"{self.name} needs a schema: the option schema=..., or a sample's schema or reference"
        )

    @cached_property
    def compiled(self) -> CompiledSchema | None:
        """The evaluator's own schema, compiled; None if samples have their own."""
        return None if self.schema is None else self._compile(self.schema)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the compiled schema, which cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name != "compiled"}

    def _compile(self, schema: Any) -> CompiledSchema:
        draft: Any = self.draft  # `__post_init__` has made it a text
        return compile_schema(schema_text(schema), draft, self.check_formats)

    def _describe_errors(self, value: Any, compiled: CompiledSchema) -> Result:
        extent = measure(value)
        errors = find_errors(value, compiled, extent)
        found = [describe(error) for error in errors[:MAX_SCHEMA_ERRORS]]
        first = found[0]
        reason = f"{first['message']} at {first['pointer'] or 'the root'}"
        if len(errors) > 1:
            reason += f"; and {len(errors) - 1} more"
        details: dict[str, Any] = {
            "errors": found,
            "schema_score": schema_score(value, errors, extent.values),
        }
        if not is_listed(extent, compiled) or len(errors) > len(found):
            details["limit_reached"] = [""]
        return Result(0.0, False, first["keyword"], reason, details)
