"""The fields of a document, each with its rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.fields.leaves import (
    compare_texts,
    grade,
    match_numbers,
    match_scalars,
    write_leaf,
)
from llmeval_integrations.fields.meanings import is_ambiguous
from llmeval_integrations.fields.paths import ANY, Override, Settings, check_path
from llmeval_integrations.fields.rule import Rule, ask_function, fits_pattern, read_key
from llmeval_integrations.fields.schema_rules import has_positions, list_cases, read_settings
from llmeval_integrations.json_values.values import CONTAINERS, TYPES, canonical, equal, escape
from llmeval_integrations.matching.node import MATCH, MISMATCH, WRONG_TYPE, AnyOf, Node, Verdict
from llmeval_integrations.schemas.document import object_of
from llmeval_integrations.schemas.parse import read_schema, schema_text
from llmeval_integrations.schemas.walk import Schemas

if TYPE_CHECKING:
    from typing_extensions import Self

Omitted = Literal["absent", "values"]

_MOST_SCHEMAS: Final = 512
"""The most schemas of samples that are kept, each with the fields of its documents."""

_MOST_KEPT: Final = 100_000
"""The most fields that are kept for the next document; a model may invent any number of names."""

PRESENT: Final = frozenset((str, int, float, bool))
"""The types of values that never count as left out; most values are of these."""

_OF_THE_PLACE: Final = {"order", "key", "min_similarity", "compare", "judge"}
"""The settings that do not apply to the values in an object or array."""

_FUZZY: Final = (
    *("tolerance", "relative_tolerance", "coerce", "dates", "number"),
    *("pattern", "compare", "judge", "min_similarity"),
)
"""Settings, besides `similarity`, by which a value may match two that do not match each other."""


class Root:
    """The settings and counters that all places of a document share."""

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self.defaults = defaults
        self.left = _MOST_KEPT
        """How many more fields may be kept."""


class Place:
    """The rules of a field, without its path; fields that no rule names share one place."""

    def __init__(
        self, root: Root, schemas: Schemas, overrides: Sequence[Override], above: Mapping[str, Any]
    ) -> None:
        below = [override for override in overrides if override.steps]
        steps = {each.steps[0] for each in below}
        by_path, by_schema = any(map(str.isdigit, steps)), has_positions(schemas.parts)
        self.has_positions = by_path or by_schema
        """Whether items at different positions may be compared in different ways."""
        own: dict[str, Any] = dict(above)
        if by_path:  # in another order of the defaults, these rules would have no effect
            own["order"] = "ordered"
        for override in overrides:
            if not override.steps:
                own.update(override.settings)
        cases = list_cases(schemas)
        settings = read_settings(schemas, cases)
        if by_schema:
            settings = {"order": "ordered", **settings}
        self._root, self.schemas, self._overrides = root, schemas, below
        self._given = overrides, above
        self._inherited = {name: own[name] for name in own.keys() - _OF_THE_PLACE}
        self.rule = _make_rule(root.defaults, settings, own, below)
        """How values at this place are compared."""
        self.is_exact = self.rule.is_exact
        has_one_order = self.rule.order == root.defaults.get("order", "aligned") != "by_key"
        self.is_literal = self.is_exact and has_one_order and not (cases or below)
        """Whether all values below are compared by the same rule."""
        # Fuzzy places below are found by the settings that may apply there, not by this place's own
        # schema. The noise of doubles is left out: otherwise every array of numbers would have all
        # its pairs tried.
        loose = [{**root.defaults, **own}, *(each.settings for each in below)]
        self.is_fuzzy = self.rule.is_whole or any(
            each.get("similarity") is not None or any(map(each.get, _FUZZY)) for each in loose
        )
        """Whether values here or below that match the same third value may not match each other."""
        self._named = steps.union(*[object_of(part, "properties") for part in schemas.parts])
        self._has_patterns = any(object_of(part, "patternProperties") for part in schemas.parts)
        self._other: Place | None = None
        """The place of all members that neither the schema nor a path names."""

    def member(self, name: str) -> Place:
        """Return the place of an object's member."""
        if self._has_patterns or name in self._named:
            return self._enter(name, self.schemas.member(name))
        if self._other is None:
            self._other = self._enter(name, self.schemas.member(name))
        return self._other

    def item(self, position: int | None) -> Place:
        """Return the place of an array's item at a position, or of all items for None."""
        step = ANY if position is None else str(position)
        return self._enter(step, self.schemas.item(position or 0))

    def _enter(self, step: str, schemas: Schemas) -> Place:
        overrides = [
            Override(each.steps[1:], each.settings)
            for each in self._overrides
            if each.steps[0] in (step, ANY)
        ]
        return Place(self._root, schemas, overrides, self._inherited)

    def choose(self, positions: Sequence[int]) -> Place:
        """Return the same place with only these alternatives of its schemas."""
        alternatives = [self.schemas.alternatives[position] for position in positions]
        return Place(self._root, self.schemas.choose(alternatives), *self._given)

    def may_keep(self) -> bool:
        """Count one more kept field; return False if there are too many."""
        self._root.left -= 1
        return self._root.left >= 0


def _make_rule(
    defaults: Mapping[str, Any],
    by_schema: Mapping[str, Any],
    own: Mapping[str, Any],
    below: Sequence[Override],
) -> Rule:
    """Return the rule of a place from all settings; `below` are those of places below it."""
    settings = {**defaults, **by_schema, **own}  # the later ones win
    settings["values_only"] = "compare" not in own and settings.get("compare") is not None
    if settings.get("text"):  # loose
        settings.update(ignore_case=True, ignore_whitespace=True, normalize_unicode=True)
    if settings.get("judge"):
        settings["compare"] = None  # the judge replaces the function
    if any(each.settings.get("ignore") is False for each in below):
        settings["ignore"] = False  # otherwise places below that do count would be hidden
    return Rule(**settings)


class Field(Node):
    """The node of JsonFields: one place of documents; all items of an array share one field."""

    def __init__(self, path: str, place: Place) -> None:
        self.path, self.place = path, place
        rule = self.rule = place.rule
        self.weight, self.ignored, self.whole = rule.weight, rule.ignore, rule.is_whole
        self.exact, self.literal, self.fuzzy = place.is_exact, place.is_literal, place.is_fuzzy
        self.remark = _ask_for_order if rule.dates else None
        self._has_positions = place.has_positions and rule.order in ("ordered", "aligned")
        self.order = "ordered" if self._has_positions else rule.order
        self.key = read_key(rule.key)
        self.min_similarity = (rule.min_similarity or 0.0) * (1 - 1e-9)  # as sums are rounded
        self.members: dict[str, Self] = {}
        self._items: dict[int | None, Self] = {}

    @classmethod
    def root(cls, schema: Any, overrides: Sequence[Override], defaults: Mapping[str, Any]) -> Field:
        """Return the field of whole documents; `schema` is a parsed JSON Schema or None."""
        schemas = Schemas.of(schema, conditions=True)
        return cls("", Place(Root(defaults), schemas, overrides, {}))

    def member(self, name: str) -> Self:
        found = self.members.get(name)
        if found is None:
            place = self.place.member(name)
            found = type(self)(f"{self.path}/{escape(name)}", place)
            if place.may_keep():
                self.members[name] = found
        return found

    def item(self, position: int | None) -> Self:
        """Return the field of an array's item: one for all, unless positions have their own rules.

        If the order of items does not count, rules for positions have no effect.
        """
        if not self._has_positions:
            position = None
        found = self._items.get(position)
        if found is None:
            place = self.place.item(position)
            found = type(self)(f"{self.path}/{ANY}", place)
            if place.may_keep():
                self._items[position] = found
        return found

    def leaf(self, output: Any, reference: Any) -> Verdict:
        """Compare two leaves; raise InvalidOptionError if a function of the caller fails."""
        rule, here, there = self.rule, TYPES[type(output)], TYPES[type(reference)]
        if rule.judge and here == there and not equal(output, reference):
            one, other = (x if type(x) is str else canonical(x) for x in (output, reference))
            return Verdict("open", grade(0.0, one, other).score)  # pairs items with prose
        if rule.compare is not None and (
            rule.is_whole or not (type(output) in CONTAINERS or type(reference) in CONTAINERS)
        ):
            same = equal(output, reference)
            return MATCH if same else ask_function(rule, output, reference, self.path)
        if rule.pattern is not None and fits_pattern(rule.pattern, output, self.path):
            return MATCH
        if here == there == "number":
            return MATCH if match_numbers(rule, output, reference) else MISMATCH
        reads_numbers = rule.coerce or rule.is_decimal or rule.number
        if reads_numbers and "string" in (here, there) and match_scalars(rule, output, reference):
            return MATCH
        if here == there == "string":
            return compare_texts(rule, output, reference)
        if here == there:
            return MATCH if equal(output, reference) else MISMATCH
        if rule.types is None:  # null stands for an unknown value of any type
            return MISMATCH if "null" in (here, there) else WRONG_TYPE
        return MISMATCH if here in rule.types else WRONG_TYPE

    def leaf_text(self, value: Any) -> str:
        if type(value) is not str or self.exact:
            return canonical(value)
        return write_leaf(self.rule, value)


def _ask_for_order(output: Any, reference: Any) -> str:
    texts = [each for each in (output, reference) if type(each) is str and is_ambiguous(each)]
    return f"{texts[0]}: day or month first?" if texts else ""


class Omission(msgspec.Struct):
    """Removes members that are null, or an empty object or array, from documents."""

    absent: Sequence[Any] = (None, [], {})
    """The values that count as left out."""

    paths: set[str] = set()
    """The paths of members that were removed."""

    def omit(self, node: Node, value: Any) -> Any:
        """Return a value without these members, or the value itself if it has none.

        Inner members are removed first, so an object that loses all its members is removed, too.
        Items of arrays are kept, and so are the parts of a value that is compared as a whole.
        """
        kind, result = type(value), value
        if kind is AnyOf:
            if PRESENT.issuperset(map(type, value.values)):
                return value
            return AnyOf(tuple(self.omit(node, one) for one in value.values), value.optional)
        if kind not in CONTAINERS or node.whole or not self.absent:
            return value
        is_object, known = kind is dict, node.members
        parts: Iterable[tuple[Any, Any]] = value.items() if is_object else enumerate(value)
        for step, part in parts:
            if type(part) in PRESENT or (part is None and not is_object):
                continue
            its = (known.get(step) or node.member(step)) if is_object else node.item(step)
            rest = self.omit(its, part) if part else part
            if is_object and type(rest) is AnyOf and rest is not part:
                # It is optional if one of its alternatives counts as left out.
                several = tuple(one for one in rest.values if one not in self.absent)
                rest = AnyOf(several, rest.optional or len(several) < len(rest.values))
            if is_object and not rest and rest in self.absent:
                self.paths.add(its.path)
                result = value.copy() if result is value else result
                del result[step]
            elif rest is not part:
                result = value.copy() if result is value else result
                result[step] = rest
        return result


class Layout:
    """The fields of an evaluator's documents, by its own schema or by the schemas of samples."""

    def __init__(
        self,
        schema: Any,
        fields: Mapping[str, Any],
        defaults: Mapping[str, Any],
        judged: Sequence[str] = (),
        *,
        nulls: Omitted = "absent",
        empty: Omitted = "absent",
        aside: str | None = None,
    ) -> None:
        """Raise InvalidOptionError for a path that the evaluator's schema does not have.

        The schemas of samples need not have all paths. `aside` is a place that is not part of the
        documents: it is ignored, and no schema has it.
        """
        options: dict[str, Any] = {"nulls": nulls, "empty": empty, "aside": aside}
        self._made_of = partial(Layout, schema, fields, defaults, judged, **options)
        no_nulls, no_empty = nulls == "absent", empty == "absent"
        self.absent: list[Any] = [*([None] if no_nulls else []), *([[], {}] if no_empty else [])]
        """The values of members that count as left out."""
        others = {} if aside is None else {aside: {"ignore": True}}
        settings = Settings({**fields, **others}, defaults, judged)
        self._asks_samples = schema is None
        parsed = None if schema is None or schema is False else _read(schema_text(schema))

        def make_root(schema: Any) -> Field:
            root = Field.root(schema, settings.overrides, settings.defaults)
            root.counts_empty = not no_empty
            return root

        self._root = make_root(parsed)
        self._root_of = lru_cache(_MOST_SCHEMAS)(lambda text: make_root(_read(text)))
        self.ignored, self.calls_functions = settings.ignored, settings.calls_functions
        self.paths = [*dict.fromkeys((*fields, *others, *judged))]
        """All paths of the options."""
        for path in (*fields, *judged) if parsed is not None else ():
            check_path(path, fields.get(path, {}), parsed)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled without the fields of documents, which may be nested too deeply for pickle.
        return self._made_of, ()

    def root(self, sample: Sample, evaluator: Evaluator) -> Field:
        """Return the field of the whole document, by the sample's own schema if it has one.

        Raises InvalidSchemaError if the sample's schema is not valid.
        """
        if not self._asks_samples or sample.schema is MISSING or sample.schema is None:
            return self._root
        try:
            return self._root_of(schema_text(sample.schema))
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f"{evaluator.name}: the sample's schema: {error}") from error


_read = lru_cache(_MOST_SCHEMAS)(read_schema)
