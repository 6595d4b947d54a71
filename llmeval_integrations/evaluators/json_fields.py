"""Which fields of an extraction are right?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from dataclasses import fields as options_of
from functools import lru_cache
from typing import Any, ClassVar, Final, Literal

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice, check_instance, check_number
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.evaluators.parsed import read_both
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.figures import details, summarize
from llmeval_integrations.fields.paths import check_path, read_overrides
from llmeval_integrations.fields.rule import check_settings
from llmeval_integrations.fields.tally import FieldTally
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import identical
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import KINDS
from llmeval_integrations.schemas.reading import read_schema, schema_text
from llmeval_integrations.text.edit_distance import prepare

Nulls = Literal["values", "absent"]

NULLS: Final = ("values", "absent")

VARIABLE: Final = "schema"
"""The name among a sample's variables under which it may bring its own schema."""


@dataclass(frozen=True)
class JsonFields(Evaluator):
    """Which fields of an extraction are right, and which are wrong, missing or made up?

    Score: the mean of the scores of all leaves of output and reference, by weight, 0 to 1; a leaf
    that one side lacks has 0. Passes where every leaf matches, or at `min_score`; an output that is
    no JSON never passes. The label is the kind of the difference that costs most, of several the
    first in the order in which they stand below; the reason names those that do. An object or array
    that is missing or extra as a whole is one difference, which costs what all in it does, and so
    does a value in its place.

    Metadata: `outcomes`, all leaves but those that simply match with a score of 1, each with its
    JSON `pointer`, `field` (the same with `*` for positions), `kind` (mismatch, missing, extra,
    wrong_type; match where its score is below 1, or where a judge says so) and both values;
    `fields`, for each field how many leaves are of which kind; `values`, the same of the values
    alone, for fields with an object or array in place of one, where a value that only one side has
    is missing or extra; `precision`, `recall`, `f1`, `path_precision`, `path_recall`, `path_f1`,
    `value_accuracy`, `type_accuracy`; `perfect`; `unreadable` where the output is not JSON, and
    every field missing. A run adds the same up for each field.

    What the schema says decides how values are compared: `format` date, date-time, email and uri
    by what they mean; `number` within a share of 1e-9, the noise of fractions: two whole numbers
    exactly, also 9.0 and however long ones; `multipleOf` as the grid; `enum`, `const`, `pattern`
    and `integer` exactly, whatever the `format` beside them, in `allOf` or behind a `$ref`; arrays
    with `uniqueItems` in any order, unless they have items with schemas of their own by position.
    Where `anyOf` has a number and right behind it any text, as Pydantic writes for Decimal, and
    there is no other text that may be any, `"1250.50"` is a number too. Of alternatives a text is
    compared by the `format` whose form it has, a number by the loosest, and by the finest grid
    where all have one, an array in any order if one says so, in whatever order they stand. All else
    is compared as it is written. Objects of Pydantic models are what they dump: by their aliases,
    but by their names where a field is read by another alias than it is written. `fields` says
    otherwise for single fields; of two paths that fit, the longer one counts, of two of the same
    length the one with more names, then the later one.

    Items in any order are paired one to one: those that are equal as wholes by the rules of their
    fields, then the others so that the scores of their leaves add up to the most. Where a tolerance
    or the like lets values match that differ, another pairing may be better than that of equal
    items: for it, but not for the share of 1e-9, up to 10,000 pairs are all tried. Items that have
    no leaf in common are no pair. Where more than 40,000 pairs would have to be tried, those of
    arrays inside them included, those are paired that share the most of what few others have, and
    the rest in the order of their texts, so that a better pairing may be missed; texts that are
    compared by `similarity` count as more, one for 500,000 pairs of characters. Where not
    all leaves match, `limit_reached` in the metadata lists the arrays that had too many.
    Items are paired by a `key` by what its value stands for, then those of the others whose keys
    match, as by a tolerance or `coerce`, and where what is in them would be too many pairs, by how
    near the keys are; an array no item of which has the key keeps its order. An outcome has
    `exact: false` where the distance of two very long texts may be less than was found.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    schema: Any = field(default=None, hash=False)
    """The JSON Schema of the extraction: a mapping, JSON text, a Pydantic model or TypeAdapter.
    None takes `schema` of the sample's variables, and compares plainly where there is none."""

    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """Settings by path, as `{"/items/*/price": {"tolerance": 0.01}, "/note": {"ignore": true}}`.

    `ignore` leaves it out; `weight` is what it counts, 1 where nothing is said; `tolerance` is by
    how much a number may be off, `relative_tolerance` by which share of the reference;
    `multiple_of` is the grid to which both numbers are rounded. `similarity` is that from which on
    texts match, and count by it: 1 less their Levenshtein distance by the longer one's length.
    `ignore_case`, `ignore_whitespace` (any is one space, and none at the ends) and
    `normalize_unicode` (NFKC) say what makes no difference. `format` compares texts by what they
    mean: `date-time` by RFC 3339, the form of ISO 8601 with seconds, `email` without case, `uri` by
    RFC 3986; `date` takes ISO 8601 alone, as 2024-01-05, which has one spelling. What has another
    form is compared as it is written. `coerce` takes `"5"` for 5, `"true"` for true and `"null"`
    for null, but `"1,250.50"` for no number; with a tolerance or grid it compares two texts that
    are numbers as these. `compare` is a function of output and reference, in Python alone, that
    gives True, False or a score from 0 to 1: it is asked of what differs, for what is equal as JSON
    (1 equals 1.0) matches. `order` is `ordered`, `any_order` or `by_key`, `key` the member that
    tells an array's items apart. A setting for a position, as `/items/0`, holds for the output's
    positions, for what is missing the reference's; it is an error where `/items` itself is given
    another `order`, or a `key`.

    What is set for an object or array holds for all in it, but for `order`, `key` and `compare`,
    which are about that one itself: `order` and `key` say nothing of an object. `ignore` does not
    hold for what a field with `ignore: false` is in, nor for a value in the place of that. A path
    or `key` that the schema has no place for is an error: an object with `type` and `properties`
    has no other members unless `additionalProperties` lets them in."""

    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The same settings for what neither the schema nor `fields` says: `similarity` matches no two
    dates where there is a `format`, and `coerce` no number with a text of an `enum`. `order` holds
    for all arrays. `compare` is given texts, numbers, booleans and null alone."""

    min_score: float | None = None
    """The score that passes; None wants every leaf to match."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON, in output and reference alike."""

    nulls: Nulls = "values"
    """Whether null is a value as others are, or a member that is null counts as left out on both
    sides: then null on both is not a leaf, null in place of a value is missing, and a value in
    place of null is extra. In arrays null is always a value."""

    def __post_init__(self) -> None:
        check_instance(self, "fields", Mapping)
        check_instance(self, "defaults", Mapping)
        check_number(self, "min_score", minimum=0, maximum=1, optional=True)
        check_choice(self, "parsing", PARSINGS)
        check_choice(self, "nulls", NULLS)
        self.__dict__["_layout"] = Layout(self.schema, self.fields, self.defaults, nulls=self.nulls)

    def check(self, sample: Sample) -> Result:
        comparison = compared(self, sample, self.__dict__["_layout"])
        return (
            comparison if isinstance(comparison, Result) else as_result(comparison, self.min_score)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # without the fields that documents have had, which may be nested deeper than pickle goes
        return type(self), tuple(getattr(self, option.name) for option in options_of(self))

    def breakdown(self) -> FieldTally:
        return FieldTally()


class Layout:
    """What fields documents have, and how their values are compared."""

    def __init__(
        self,
        schema: Any,
        fields: Mapping[str, Any],
        defaults: Mapping[str, Any],
        judged: Sequence[str] = (),
        nulls: Nulls = "values",
    ) -> None:
        """Raise InvalidOptionError for a path that the schema has no place for.

        Schemas that samples bring need not have all paths.
        """
        self._overrides = read_overrides(fields, judged)
        self._defaults = check_settings(defaults, "defaults")
        self._has_schema = schema is not None
        parsed = _read(schema_text(schema)) if self._has_schema else None
        self._root = self._field(parsed)
        # Few, as each keeps the fields that documents have had.
        self._root_of = lru_cache(maxsize=4)(lambda text: self._field(_read(text)))
        self.leaves_out_nulls = nulls == "absent"
        """Whether members that are null are taken out of the documents."""
        settings = [*fields.values(), defaults]
        self.calls_functions = bool(judged) or any(each.get("compare") for each in settings)
        """Whether functions are given objects and arrays of the documents."""
        if judged or any(each.get("similarity") is not None for each in settings):
            prepare()
        for path in (*fields, *judged) if self._has_schema else ():
            _check_path(path, fields.get(path, {}), parsed, schema)

    def root(self, sample: Sample) -> Field:
        """Return the field of the whole document, by the sample's own schema if it has one."""
        variables = sample.variables
        if self._has_schema or not isinstance(variables, Mapping):
            return self._root
        schema = variables.get(VARIABLE)
        return self._root if schema is None else self._root_of(schema_text(schema))

    def _field(self, schema: Any) -> Field:
        return Field.root(schema, self._overrides, self._defaults)


def _check_path(path: str, settings: Mapping[str, Any], parsed: Any, schema: Any) -> None:
    """Raise InvalidOptionError for a path that the schema has no place for.

    An object of a Pydantic model is dumped by its fields' aliases or by their names. A model writes
    its schema for either; what is given as JSON is all there is.
    """
    try:
        check_path(path, settings, parsed)
    except InvalidOptionError:
        write = getattr(schema, "model_json_schema", getattr(schema, "json_schema", None))
        if write is None:
            raise
        with suppress(InvalidOptionError):
            return check_path(path, settings, write(by_alias=False))
        raise


def compared(evaluator: Evaluator, sample: Sample, layout: Layout) -> Comparison | Result:
    """Compare a sample's output with its reference; the result where the output is not JSON."""
    parsing: Parsing = evaluator.parsing  # type: ignore[attr-defined]
    comparison = Comparison()
    output, reference = read_both(evaluator, sample, parsing, copied=layout.calls_functions)
    root = layout.root(sample)
    # NaN, which lenient mode reads, is written as null. Functions may change what they are given.
    is_same = not (parsing == "lenient" or layout.calls_functions) and identical(output, reference)
    if layout.leaves_out_nulls:
        reference = _without_nulls(reference)
        output = reference if is_same else _without_nulls(output)
    if type(output) is Defect:
        comparison.add_side(root, "missing", reference, "")
        metadata = {**details(comparison), "perfect": False}
        return defective(output, 0.0, unreadable=True, **metadata)
    if is_same:
        comparison.add_matches(root, output)
    else:
        comparison.compare(root, output, reference)
    return comparison


def _without_nulls(value: Any) -> Any:
    """Return a value without the members that are null; items of arrays keep their places."""
    if type(value) is dict:
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if type(value) is list else value


def as_result(comparison: Comparison, min_score: float | None) -> Result:
    """Return a comparison as a result."""
    score = comparison.score()
    wrong = [place for place, each in enumerate(comparison.outcomes) if each.kind != "match"]
    passed = not wrong if min_score is None else score >= min_score
    metadata = details(comparison)
    if not wrong:
        return Result(score, passed, None, "Every field matches", metadata)
    costs = comparison.costs()
    ranked = sorted(wrong, key=costs.__getitem__, reverse=True)
    outcomes = [comparison.outcomes[place] for place in ranked]
    # Of several that cost most, the first in KINDS: the order of items may say nothing.
    most = {each.kind for place, each in zip(ranked, outcomes) if costs[place] == costs[ranked[0]]}
    reason = summarize(outcomes)
    if comparison.limits:
        metadata["limit_reached"] = comparison.limits
        reason += " (too many pairs of items; not all were tried)"
    return Result(score, passed, min(most, key=KINDS.index), reason, metadata)


@lru_cache(maxsize=512)
def _read(text: str) -> Any:
    return read_schema(text)
