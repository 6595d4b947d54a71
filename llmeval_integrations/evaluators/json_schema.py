"""Does the output conform to a JSON Schema?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.limits import MAX_SCHEMA_ERRORS
from llmeval_integrations.core.options import check_choice, check_flag
from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_validity import defect_result
from llmeval_integrations.evaluators.parsed import read
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.schemas.compiled import (
    VALIDATORS,
    CompiledSchema,
    Draft,
    compile_schema,
)
from llmeval_integrations.schemas.errors import conformity, describe, find_errors
from llmeval_integrations.schemas.reading import copy_schema, refuse_nan, schema_text


@dataclass(frozen=True)
class JsonSchema(Evaluator):  # noqa: PLW1641 - the decorator writes __hash__
    """Does the output conform to a JSON Schema?

    Score True or False. The reason words the first violation, the label is its keyword, or
    `falseSchema` where the whole schema is false. Metadata: `errors`, each with `pointer`,
    `schema_pointer`, `keyword` and `message`; `conformity`, from 0 to 1: the share of the values
    in the output, containers included, that no error concerns. A required member that is missing
    counts as one more value; an error that is about a container's members as a whole concerns the
    container alone. `errors` has the first 100; of an output more than 16 levels deep, or with an
    object of more than 1,000 members, only the first is looked for. `limit_reached` is then `[""]`.
    Messages longer than 200 characters are cut in the middle, but for the name of a missing member.

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
            check_choice(self, "draft", [draft for draft in VALIDATORS if draft])
        if isinstance(self.schema, dict):  # which whoever gave it may change later
            object.__setattr__(self, "schema", copy_schema(self.schema))
        key = None if self.schema is None else schema_text(self.schema)
        object.__setattr__(self, "_key", key)
        if key is not None:
            self._compiled(key)

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

    def _check(self, sample: Sample, compiled: CompiledSchema) -> Result:
        value = refuse_nan(read(sample, "output", self.parsing), self.parsing)
        if isinstance(value, Defect):
            return defect_result(value, False)
        if compiled.is_valid(value):
            return Result(True, True, None, None, {"conformity": 1.0})
        return self._violations(value, compiled)

    def _key_for(self, sample: Sample) -> str:
        """Return the text of the schema that a sample is judged by."""
        key: str | None = self._key  # type: ignore[attr-defined]
        if key is not None:
            return key
        schema = sample.reference
        if schema is MISSING:
            raise MissingFieldError(
                f"{self.name} needs a schema: the option schema=... or the sample's reference"
            )
        return schema if type(schema) is str else schema_text(schema)

    def _compiled(self, key: str) -> CompiledSchema:
        draft: Any = self.draft  # a text by now
        return compile_schema(key, draft, self.check_formats, self.parsing)

    def _violations(self, value: Any, compiled: CompiledSchema) -> Result:
        errors, complete = find_errors(value, compiled)
        found = [describe(error) for error in errors[:MAX_SCHEMA_ERRORS]]
        first = found[0]
        reason = f"{first['message']} at {first['pointer'] or 'the root'}"
        if len(errors) > 1:
            reason += f"; and {len(errors) - 1} more"
        details: dict[str, Any] = {"errors": found, "conformity": conformity(value, errors)}
        if not complete or len(errors) > len(found):
            details["limit_reached"] = [""]
        return Result(False, False, first["keyword"], make_printable(reason), details)
