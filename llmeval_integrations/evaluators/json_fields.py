"""Which fields of an extraction are right?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import InvalidOptionError, InvalidSchemaError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice, check_instance, check_number
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_validity import defect_result
from llmeval_integrations.evaluators.parsed import read_both
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.figures import details, summarize
from llmeval_integrations.fields.omitted import OMITTED, Omission, Omitted
from llmeval_integrations.fields.paths import check_path, read_overrides
from llmeval_integrations.fields.rule import check_settings, read_key
from llmeval_integrations.fields.tally import FieldTally
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import identical
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import KINDS
from llmeval_integrations.schemas.document import object_of, subschemas
from llmeval_integrations.schemas.reading import read_schema, schema_text
from llmeval_integrations.text.edit_distance import load_levenshtein

_MOST_SCHEMAS: Final = 128
"""The schemas of samples that are kept, each with the fields that documents have had."""


@dataclass(frozen=True)
class JsonFields(Evaluator):
    """Which fields of an extraction are right, and which are wrong, missing or made up?

    Example:
        >>> JsonFields()({"vendor": "Acme", "total": 12.5}, {"vendor": "Acme", "total": 12}).reason
        '/total 12.5, expected 12'

    Score: F1 over all leaves, by weight, from 0 to 1: 2 M / (O + R), where O and R are the leaves
    of output and reference, and M those that match. A leaf is a text, number, boolean or null, or
    an empty object or array. A member that is null or empty counts as left out. It passes where
    every leaf matches and none is left over, or at `threshold`; an output that is not JSON never
    passes. The label is the kind of the difference that costs most, of several the first of
    `mismatch`, `missing`, `extra` and `wrong_type`. An object or array that one side lacks is one
    difference, which costs what all its leaves cost.

    The schema says how values are compared: a `format` by its meaning, a `number` without the noise
    of fractions, `multipleOf` on its grid, arrays with `uniqueItems` in any order. What it fixes by
    `enum`, `const`, `pattern` or `integer` is compared exactly. All else is compared as written.

    Metadata: `matched` (M), `output_leaves` (O), `reference_leaves` (R), `precision` (M / O),
    `recall` (M / R), `f1`; `outcomes`, all leaves but those that match with a score of 1, each with
    its JSON `pointer`, `field` (`*` stands for positions), `kind` and both values, and `alone`
    where the other side has an object or array in its place; `fields`, the leaves of each field by
    kind; `perfect`; `unreadable` where the output is not JSON; `limit_reached`, the arrays whose
    items were not all tried with each other.

    Raises:
        InvalidReferenceError: The reference is not JSON.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    schema: Any = field(default=None, hash=False)
    """The JSON Schema of the extraction: a mapping, JSON text, a Pydantic model or TypeAdapter.
    None takes each sample's `schema`, and compares plainly where it has none. False compares
    plainly, whatever the sample has."""

    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """Settings by path, as `{"/items/*/price": {"tolerance": 0.01}, "/note": {"ignore": true}}`:
    `ignore`, `weight`, `tolerance`, `relative_tolerance`, `multiple_of`, `similarity`,
    `ignore_case`, `ignore_whitespace`, `normalize_unicode`, `text`, `format`, `coerce`, `dates`,
    `number`, `pattern`, `compare`, `order`, `key`, `min_similarity`. They hold for all that is
    inside, but for the last four."""

    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The same settings where neither the schema nor `fields` says otherwise. `order` holds for
    all arrays; `compare` is not given objects and arrays."""

    threshold: float | None = None
    """The score that passes; None wants every leaf to match."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON, in output and reference alike."""

    nulls: Omitted = "absent"
    """Whether a member that is null counts as left out, on both sides, or (`values`) is a leaf."""

    empty: Omitted = "absent"
    """Whether a member that is an empty object or array counts as left out, or is a leaf."""

    def __post_init__(self) -> None:
        check_instance(self, "fields", Mapping)
        check_instance(self, "defaults", Mapping)
        check_number(self, "threshold", minimum=0, maximum=1, optional=True)
        check_choice(self, "parsing", PARSINGS)
        check_choice(self, "nulls", OMITTED)
        check_choice(self, "empty", OMITTED)
        self.__dict__["_layout"] = Layout(
            self.schema, self.fields, self.defaults, nulls=self.nulls, empty=self.empty
        )

    def check(self, sample: Sample) -> Result:
        comparison = compare_sample(self, sample, self.__dict__["_layout"])
        if isinstance(comparison, Result):
            return comparison
        return make_result(comparison, self.threshold)

    def breakdown(self) -> FieldTally:
        # Of an ignored place no leaf is counted, whether or not it is there.
        return FieldTally(path for path, each in self.fields.items() if not each.get("ignore"))


class Layout:
    """What fields documents have, and how their values are compared."""

    def __init__(
        self,
        schema: Any,
        fields: Mapping[str, Any],
        defaults: Mapping[str, Any],
        judged: Sequence[str] = (),
        *,
        nulls: Omitted = "absent",
        empty: Omitted = "absent",
    ) -> None:
        """Raise InvalidOptionError for a path that the schema has no place for.

        Schemas that samples bring need not have all paths.
        """
        self._made_of = partial(Layout, schema, fields, defaults, judged, nulls=nulls, empty=empty)
        self._omits_nulls = nulls == "absent"
        self.omits_empty = empty == "absent"
        self._overrides = read_overrides(fields, judged)
        self._defaults = check_settings(defaults, "defaults")
        self._asks_samples = schema is None
        has_schema = schema is not None and schema is not False
        parsed = _read(schema_text(schema)) if has_schema else None
        self._root = self._field(parsed)
        self._root_of = lru_cache(_MOST_SCHEMAS)(lambda text: self._field(_read(text)))
        settings = [*fields.values(), defaults]
        self.calls_functions = bool(judged) or any(each.get("compare") for each in settings)
        """Whether functions are given objects and arrays of the documents."""
        if judged or any(each.get("similarity") is not None for each in settings):
            load_levenshtein()
        for path in (*fields, *judged) if has_schema else ():
            _check_path(path, fields.get(path, {}), parsed, schema)

    def __reduce__(self) -> tuple[Any, ...]:
        # without the fields that documents have had, which may be nested deeper than pickle goes
        return self._made_of, ()

    def root(self, sample: Sample, evaluator: str) -> Field:
        """Return the field of the whole document, by the sample's own schema if it has one.

        Raises InvalidSchemaError where that is none.
        """
        schema = sample.schema
        if not self._asks_samples or schema is MISSING or schema is None:
            return self._root
        try:
            return self._root_of(schema_text(schema))
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f"{evaluator}: the sample's schema: {error}") from error

    def omission(self) -> Omission:
        """Make what takes the members out that count as left out."""
        return Omission(nulls=self._omits_nulls, empty=self.omits_empty)

    def _field(self, schema: Any) -> Field:
        return Field.root(schema, self._overrides, self._defaults)


def _check_path(path: str, settings: Mapping[str, Any], parsed: Any, schema: Any) -> None:
    """Raise InvalidOptionError for a path that the schema has no place for.

    Documents of a Pydantic model have its fields' aliases, or their names where any field has
    another alias for writing than for reading.
    """
    try:
        check_path(path, settings, parsed)
    except InvalidOptionError as error:
        write = getattr(schema, "model_json_schema", getattr(schema, "json_schema", None))
        if write is None:
            raise
        named = write(by_alias=False)
        try:
            check_path(path, settings, named)
        except InvalidOptionError:
            raise error from None
        if not {*_names(parsed)} <= {*_names(write(mode="serialization"))}:
            return
        aliases = dict(zip(_names(named), _names(parsed)))
        keys = [aliases.get(key, key) for key in read_key(settings.get("key"))]
        meant = repr("/".join(aliases.get(step, step) for step in path.split("/")))
        meant += f" with key={keys!r}" if keys else ""
        raise InvalidOptionError(
            f"fields: {path!r} says a field's name where documents have its alias; "
            f"did you mean {meant}?"
        ) from None


def _names(schema: Any) -> list[str]:
    """Return the names of the members in each part of a schema."""
    return [name for part, _ in subschemas(schema) for name in object_of(part, "properties")]


def compare_sample(evaluator: Evaluator, sample: Sample, layout: Layout) -> Comparison | Result:
    """Compare a sample's output with its reference; the result where the output is not JSON."""
    parsing: Parsing = evaluator.parsing  # type: ignore[attr-defined]
    comparison = Comparison()
    output, reference = read_both(evaluator, sample, parsing, copied=layout.calls_functions)
    root = layout.root(sample, evaluator.name)
    # NaN, which lenient mode reads, is written as null. Functions may change what they are given.
    is_same = not (parsing == "lenient" or layout.calls_functions) and identical(output, reference)
    omission = layout.omission()
    reference = omission.omit_from_document(root, reference)
    if type(output) is Defect:
        comparison.add_side(root, "missing", reference, "")
        figures = comparison.figures()
        metadata = {**details(comparison, figures), "f1": 0.0, "perfect": False}
        return defect_result(output, 0.0, unreadable=True, **metadata)
    output = reference if is_same else omission.omit_from_document(root, output)
    comparison.omitted = omission.paths
    if layout.omits_empty and not (output and reference):
        _compare_without_leaf(comparison, root, output, reference)
    elif is_same:
        comparison.add_matches(root, output)
    else:
        comparison.compare(root, output, reference)
    return comparison


def _compare_without_leaf(comparison: Comparison, root: Field, output: Any, reference: Any) -> None:
    """Compare documents of which one may be an empty object or array, which is no leaf there."""
    if type(output) is type(reference) is dict:
        comparison.compare_objects(root, output, reference, "")
    elif type(output) is type(reference) is list:
        comparison.compare_arrays(root, output, reference, "")
    elif output in ([], {}):
        if reference not in ([], {}):
            comparison.add_side(root, "missing", reference, "")
    elif reference in ([], {}):
        comparison.add_side(root, "extra", output, "")
    else:  # such as 0 beside 1
        comparison.compare(root, output, reference)


def make_result(comparison: Comparison, threshold: float | None) -> Result:
    """Return a comparison as a result."""
    figures = comparison.figures()
    score = figures.score
    wrong = [place for place, each in enumerate(comparison.outcomes) if each.kind != "match"]
    is_right = not any(comparison.outcomes[place].node.weight for place in wrong)
    passed = is_right if threshold is None else score >= threshold
    metadata = details(comparison, figures)
    if is_right:
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
