"""Which fields of an extraction are right?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from typing import Any, ClassVar

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import format_against
from llmeval_integrations.core.options import ZeroToOne, check_instance, option_error
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result, is_same, read, read_both
from llmeval_integrations.fields.confidence import VARIABLE, Source, rate_leaves, read_confidences
from llmeval_integrations.fields.field import Layout, Omission, Omitted
from llmeval_integrations.fields.paths import has_place
from llmeval_integrations.fields.tally import FieldTally
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import equal
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import KINDS, Kind, Outcome, summarize


@dataclass(frozen=True)
class JsonFields(Evaluator):
    """Which fields of an extraction are right, and which are wrong, missing or made up?

    Example:
        >>> JsonFields()({"vendor": "Acme", "total": 12.5}, {"vendor": "Acme", "total": 12}).reason
        '/total 12.5, expected 12'

    Score: F1 over all leaves, from 0 to 1: 2 M / (O + R). O and R are the weights of the leaves of
    output and reference, and M is the weight of the leaves that match. A leaf is a string, number,
    boolean or null, or an empty object or array. A member that is null or empty counts as left out.

    The result passes if every leaf matches and none is missing or extra. With `threshold`, it
    passes if the score is at least that. An output that is not JSON never passes. The label is the
    kind of the difference that costs most. If several cost as much, it is the first of `mismatch`,
    `missing`, `extra` and `wrong_type`. An object or array that one side lacks is one difference.

    The schema defines how values are compared: a `format` by its meaning, a `number` with a tiny
    tolerance, `multipleOf` by the nearest multiple, arrays with `uniqueItems` in any order. Values
    with `enum`, `const`, `pattern` or the type `integer` are compared exactly. All other values are
    compared as written.

    Metadata:
    - `matched` (M), `output_leaves` (O), `reference_leaves` (R), `precision` (M / O), `recall`
      (M / R) and `f1`
    - `outcomes`: all leaves except matches with score 1, each with its JSON `pointer`, its `field`
      (`*` for positions), its `kind` and both values. `alone` is the only side that has the leaf,
      if the other side has an object or array there
    - `fields`: the number of leaves of each field, by kind
    - `ignored`: the ignored paths that the output or the reference has
    - `perfect`: whether every leaf matches. `unreadable`: the output is not JSON
    - `limit_reached`: the arrays with too many items to try every pair
    - `confidence`: the leaves with a confidence, and whether each of them is `right`
    - `unread_confidences`: where the output has a confidence that is no number from 0 to 1

    Raises:
        InvalidReferenceError: The reference is not JSON.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    schema: Any = field(default=None, hash=False)
    """The JSON Schema of the extraction: a mapping, JSON text, a Pydantic model or TypeAdapter.
    With None, each sample's `schema` is used, if it has one. With False, no schema is used."""

    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """Settings by path, as `{"/items/*/price": {"tolerance": 0.01}, "/note": {"ignore": true}}`:
    `ignore`, `weight`, `tolerance`, `relative_tolerance`, `multiple_of`, `similarity`,
    `ignore_case`, `ignore_whitespace`, `normalize_unicode`, `text`, `format`, `coerce`, `dates`,
    `number`, `pattern`, `compare`, `order`, `key`, `min_similarity`. Except for the last four, they
    also apply to everything inside."""

    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The same settings for all fields, unless the schema or `fields` defines others. `order`
    applies to all arrays. `compare` gets no objects and arrays."""

    threshold: ZeroToOne | None = None
    """The lowest score that passes; with None, every leaf has to match."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON, in output and reference alike."""

    nulls: Omitted = "absent"
    """Whether a member that is null counts as left out (`absent`) or is a leaf (`values`), in
    output and reference alike."""

    empty: Omitted = "absent"
    """Whether a member that is an empty object or array counts as left out (`absent`) or is a leaf
    (`values`)."""

    confidence: Source | None = None
    """Where to find the model's confidence in each value, from 0 to 1: a pointer into the output
    (`/_confidence`, which is then not compared), `variables.NAME`, or a function of the sample. The
    confidences are a mapping from pointers or fields, or have the form of the output."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_instance(self, "fields", Mapping)
        check_instance(self, "defaults", Mapping)
        source: Any = self.confidence
        is_place = isinstance(source, str) and source.startswith(("/", VARIABLE))
        if not (source is None or callable(source) or is_place):
            places = "a pointer such as '/_confidence', 'variables.NAME' or a function"
            raise option_error(self, "confidence", places)
        self._layout  # noqa: B018 - checks schema, fields and defaults

    @cached_property
    def _layout(self) -> Layout:
        source = self.confidence
        return Layout(
            self.schema,
            self.fields,
            self.defaults,
            getattr(self, "judged", ()),
            nulls=self.nulls,
            empty=self.empty,
            aside=source if isinstance(source, str) and source.startswith("/") else None,
        )

    def check(self, sample: Sample) -> Result:
        return self._conclude(compare_sample(self, sample, self._layout), sample)

    def _conclude(self, comparison: FieldComparison, sample: Sample) -> Result:
        """Return the result of a comparison."""
        fields: dict[str, dict[Kind, int]] = {}
        comparison.count(fields)
        for path in sorted(comparison.omitted):
            fields.setdefault(path, {})  # the field exists, but has no leaf in this sample
        figures = comparison.figures().as_dict()
        outcomes = [each.as_dict() for each in comparison.outcomes]
        label, wrong = comparison.rank_wrong()
        metadata: dict[str, Any] = {**figures, "perfect": not wrong, "outcomes": outcomes}
        metadata["fields"] = fields
        if comparison.ignored:
            metadata["ignored"] = comparison.ignored
        if comparison.defect is not None:
            metadata.update(f1=0.0, perfect=False)
            return defect_result(comparison.defect, 0.0, unreadable=True, **metadata)
        score = metadata["f1"]
        passed = label is None if self.threshold is None else score >= self.threshold
        reason = "Every field matches" if label is None else summarize(wrong, comparison.limits)
        if label is None and self.threshold is not None and not passed:
            near = summarize(comparison.outcomes, comparison.limits)
            reason += f", but not in full: {near}; F1 {format_against(self.threshold, score)}"
        if comparison.limits and score < 1.0:
            metadata["limit_reached"] = comparison.limits
        if self.confidence is not None:
            output, root = comparison.output, self._layout.root(sample, self)
            confidences, unread = read_confidences(self.confidence, sample, output)
            rated = rate_leaves(root, output, confidences, comparison.outcomes)
            metadata["confidence"] = rated
            if unread:
                metadata["unread_confidences"] = unread
        return Result(score, passed, label, reason, metadata)

    def breakdown(self) -> FieldTally:
        return FieldTally(self._layout.paths)


class FieldComparison(Comparison):
    """A comparison of two documents by their fields."""

    defect: Defect | None = None
    """Why the output is not JSON; all leaves of the reference are then missing."""

    output: Any = MISSING
    """The output without the members that count as left out."""

    omitted: Iterable[str] = ()
    """The paths of members that count as left out, in output or reference."""

    ignored: Iterable[str] = ()
    """The ignored paths that a document has."""

    def rank_wrong(self) -> tuple[Kind | None, list[Outcome]]:
        """Return the kind of difference that costs most, and the leaves that do not match.

        The cost is what a leaf takes from the score: its share of O + R - 2 M. Leaves of one
        missing, extra or replaced value all have the sum of their costs. The most costly leaves
        come first. If several kinds cost most, the first in KINDS is returned: the first place
        would depend on the order of items, which may not count. If none costs anything, as the
        weights are 0, the kind is None.
        """
        if not self.outcomes:
            return None, []
        costs = []
        for each in self.outcomes:
            is_pair = each.kind not in ("missing", "extra") and each.alone is None
            costs.append(each.node.weight * (1.0 + is_pair - 2.0 * each.score))
        for begin, end in self.wholes:
            costs[begin:end] = [fsum(costs[begin:end])] * (end - begin)
        most, kinds, wrong = 0.0, set[Kind](), []
        for n in sorted(range(len(costs)), key=costs.__getitem__, reverse=True):
            each = self.outcomes[n]
            if each.kind != "match":
                most = most or costs[n]
                wrong.append(each)
                if most and costs[n] == most:
                    kinds.add(each.kind)
        return min(kinds, key=KINDS.index, default=None), wrong


def compare_sample(evaluator: Evaluator, sample: Sample, layout: Layout) -> FieldComparison:
    """Compare a sample's output with its reference."""
    parsing: Parsing = evaluator.parsing  # type: ignore[attr-defined]
    comparison = FieldComparison()
    is_one = not layout.calls_functions and is_same(sample, parsing)
    output = reference = read(sample, "output", parsing) if is_one else None
    if output is None or type(output) is Defect:
        output, reference = read_both(evaluator, sample, parsing, copied=layout.calls_functions)
    if layout.ignored:
        comparison.ignored = [
            path for path in layout.ignored if has_place(path, reference) or has_place(path, output)
        ]
    root, omission = layout.root(sample, evaluator), Omission(layout.absent)
    # Lenient mode reads NaN, which `equal` cannot tell from null.
    is_equal = output is reference or (parsing != "lenient" and equal(output, reference))
    reference = omission.omit(root, reference)
    if type(output) is Defect:
        comparison.defect = output
        comparison.add_side(root, "missing", reference, "")
        return comparison
    comparison.output = reference if is_equal else omission.omit(root, output)
    comparison.omitted = omission.paths
    if is_equal:
        comparison.add_matches(root, reference)
    else:
        comparison.compare(root, comparison.output, reference)
    return comparison
