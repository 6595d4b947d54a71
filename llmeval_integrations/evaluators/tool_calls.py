"""Are the right tools called, with the right arguments?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError, InvalidReferenceError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_instance
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result
from llmeval_integrations.fields.paths import Settings, has_place
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.matching.node import LONGEST, describe
from llmeval_integrations.messages.read import read_items
from llmeval_integrations.text.excerpt import cut_around_difference
from llmeval_integrations.tool_calls.comparison import (
    CALL_KINDS,
    Arguments,
    CallComparison,
    CallOrder,
    Score,
)
from llmeval_integrations.tool_calls.read import ANY_OF, read_calls, read_expected, read_plain
from llmeval_integrations.tool_calls.tally import CallTally
from llmeval_integrations.tool_calls.tools import Call, Toolbox, WrongPlace, path_of, read_rules

Alternatives = Literal["marked", "listed"]
Before = Sequence[tuple[str | int, str | int]]
"""Pairs of calls of which the first must come before the second, each given by the tool's name or
by its position among the expected calls."""

_Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
_Pairs: TypeAlias = list[tuple[str | _Position, str | _Position]]

_MOST_NAMED: Final = 3


@dataclass(frozen=True)
class ToolCalls(Evaluator):
    """Are the right tools called, with the right arguments?

    Example:
        >>> call = {"name": "f", "arguments": {"a": 1}}
        >>> ToolCalls()(call, {"name": "f", "arguments": {"a": 2}}).score
        0.5

    Score: F1 over calls, from 0 to 1: 2 S / (m + n). m is the number of calls made, n is the number
    expected, and S is the sum of the similarities of pairs. Calls of the same tool are paired one
    to one so that S is as large as possible. The similarity of a pair is (1 + M) / (1 + the larger
    of O and R). O and R are the leaves of its arguments in output and reference, and M those that
    match, as in JsonFields. A call that is missing, extra, out of order, unreadable or of another
    tool has the similarity 0. The result passes if all calls are right, and the label is the worst
    kind of a call.

    Values are compared as in JsonFields: by the tool's schema, `fields` and `defaults`. An argument
    that is left out, null or empty has the default of its schema. Whether a call is valid for the
    tool, ToolCallSchema says. A reference with undeclared arguments is an error.

    Metadata:
    - `calls`: each with its `kind` (`right`, `wrong_arguments`, `wrong_order`, `extra`, `missing`,
      `wrong_name` or `unreadable`), `score`, `name`, its positions in `output` and `reference`, and
      its wrong `arguments`
    - `called`, `expected` and `right`: the numbers of calls. `precision`, `recall` and `f1` are
      those of right calls
    - `fields`: the number of leaves of each argument, by kind
    - `ignored`: the ignored paths that a call has
    - `limit_reached`: the arrays with too many items to try every pair; an empty text for the calls

    Raises:
        InvalidReferenceError: The reference contains no calls, or undeclared arguments.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    tools: Any = field(default=None, hash=False)
    """The tool definitions. With None, each sample's `variables["tools"]` are used, if any."""

    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """The settings of JsonFields by tool and path, as `{"weather/city": {"ignore_case": true},
    "*/price": {"tolerance": 0.1}}`. `*` means every tool that has the argument. A path may begin
    with a slash, as in a result."""

    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The same settings for all arguments, unless a tool's schema or `fields` defines others."""

    score: Score = "calls"
    """What has the same weight: each call (`calls`), or each tool's name and each leaf of the
    arguments (`leaves`)."""

    call_order: CallOrder = "any"
    """Whether the order of calls counts: only for `before` (`any`), or for all calls (`strict`)."""

    before: Before | None = field(default=None, hash=False)
    """With `call_order="any"`: pairs of calls, of which the first must come before the second. Each
    is a tool's name or a position among the expected calls. If a pair is violated, the call that
    came too early is wrong. With None, each sample's `variables["before"]` are used, if any."""

    arguments: Arguments = "exact"
    """Which arguments a call must have. `exact`: the expected ones and no others. `subset`: no
    others, but some may be left out. `superset`: all expected ones, and perhaps others. `ignore`:
    any; only arguments that both calls have are compared."""

    alternatives: Alternatives = "marked"
    """How a reference lists several accepted values. `marked`: a value is replaced by
    `{"$any_of": [...]}`, with `"$optional": true` if it may be left out. `listed`: each argument is
    a list of accepted values, as in BFCL, with an empty text if it may be left out."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON of calls and arguments."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("fields", "defaults"):
            check_instance(self, option, Mapping)
        self._toolbox.check_rules()
        problem = self.before and _explain_before(self.before, self._toolbox.tools)
        if self.before is not None and self.call_order != "any":
            problem = "before=... needs call_order='any'"
        if problem:
            raise InvalidOptionError(f"{self.name}: {problem}")

    @cached_property
    def _rules(self) -> Settings:
        return read_rules(self.fields, self.defaults)

    @cached_property
    def _toolbox(self) -> Toolbox:
        return Toolbox(self.name, self.tools, self._rules)

    def check(self, sample: Sample) -> Result:
        output, reference = sample.output, sample.reference
        if reference is MISSING or reference is None:  # only then, as `name` takes 2 µs
            sample.require("reference", self.name)
        toolbox, is_listed = self._toolbox.of_sample(sample), self.alternatives == "listed"
        if type(output) is not str and not read_plain(output):
            output = read_items(output)
        if type(reference) is not str and not read_plain(reference):
            reference = read_items(reference)
        expected = read_expected(reference, self, self.parsing, is_listed=is_listed)
        needs_all = self.arguments in ("exact", "superset") and not is_listed
        toolbox.check_expected(expected, checks_arguments=needs_all)
        before = self.before
        if self.call_order == "any" and before is None and isinstance(sample.variables, Mapping):
            before = sample.variables.get("before")
        pairs = []
        if before is not None:
            # The evaluator's own pairs may name a tool that only other samples have.
            tools = None if before is self.before else toolbox.tools
            pairs = self._pair_positions(before, [call.name for call in expected], tools)
        made = read_calls(output, self.parsing, expects_calls=bool(expected))
        defect, calls = (made, []) if isinstance(made, Defect) else (None, made)
        prepare = partial(Call, toolbox=toolbox)
        comparison = CallComparison(
            [*map(prepare, calls)],
            [*map(prepare, expected)],
            arguments=self.arguments,
            score=self.score,
        )
        score, metadata = comparison.compare(self.call_order, pairs)
        if self._rules.ignored:
            metadata["ignored"] = [
                path
                for path in self._rules.ignored
                if any(has_place(path, {one.name: one.arguments}) for one in (*calls, *expected))
            ]
        if defect is not None:
            nothing = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "unreadable": True}
            return defect_result(defect, 0.0, **{**metadata, **nothing})
        return _make_result(score, metadata)

    def _pair_positions(
        self, before: Any, names: Sequence[str], tools: Collection[str] | None
    ) -> list[tuple[int, int]]:
        """Return the pairs as positions among the expected calls; a name means all its calls.

        Raises InvalidReferenceError if they are not valid for these calls.
        """
        problem, pairs, calls = _explain_before(before, tools), [], [*enumerate(names)]
        for one, other in () if problem else before:
            for which in (one, other):
                if type(which) is int and which >= len(names):
                    problem = f"before=...: there is no call {which}; {len(names)} are expected"
            # A call is paired with itself only if the pair names one thing twice, a circle.
            pairs += [
                (call[0], then[0])
                for call in calls
                for then in calls
                if one in call and other in then and (call != then or one == other)
            ]
        if problem := problem or _find_circle(pairs):
            raise InvalidReferenceError(f"{self.name}: {problem}")
        return pairs

    def breakdown(self) -> CallTally:
        return CallTally(map(path_of, self.fields))


def _make_result(score: float, metadata: dict[str, Any]) -> Result:
    """Return the result; its reason lists the first wrong calls, and counts the others by kind."""
    calls = metadata["calls"]
    wrong = [call for call in calls if call["kind"] != "right"]
    if not wrong:
        several = "The call is right" if len(calls) == 1 else f"All {len(calls)} calls are right"
        return Result(score, True, None, several if calls else "No call, as expected", metadata)
    kinds = [call["kind"] for call in wrong]
    more = Counter(kinds[_MOST_NAMED:])
    said = [*map(_describe_call, wrong[:_MOST_NAMED])]
    said += [f"{number} more {kind.replace('_', ' ')}" for kind, number in more.items()]
    reason = "; ".join(said)
    if "limit_reached" in metadata:
        reason += " (too many pairs; not all were tried)"
    return Result(score, False, min(kinds, key=CALL_KINDS.index), reason, metadata)


def _describe_call(call: dict[str, Any]) -> str:
    """Describe what is wrong with a call in a line."""
    kind, name = call["kind"], call["name"][:80]
    if kind == "wrong_name":
        return f"called {name}, expected {call['expected_name'][:80]}"
    if kind == "unreadable":
        return f"{name}: {call['problem']}" if name else str(call["problem"])
    if kind == "wrong_arguments":
        wrong = call["arguments"]
        more = f"; and {len(wrong) - 2} more" if len(wrong) > 2 else ""
        return f"{name}: {'; '.join(map(_describe_place, wrong[:2]))}{more}"
    return f"{name} {'out of order' if kind == 'wrong_order' else kind}"


def _describe_place(wrong: WrongPlace) -> str:
    """Describe a wrong place in a line."""
    pointer, kind = wrong["pointer"], wrong["kind"]
    output, reference = wrong.get("output", MISSING), wrong.get("reference", MISSING)
    accepted = reference.get(ANY_OF) if isinstance(reference, dict) else None
    if accepted and type(accepted) is list and kind in ("mismatch", "wrong_type"):
        made, *expected = map(canonical, (output, *accepted[:3]))
        if max(map(len, (made, *expected))) > LONGEST:
            pairs = [cut_around_difference(made, each, LONGEST) for each in expected]
            made, expected = pairs[0][0], [each for _, each in pairs]
        if len(accepted) > 3:
            expected.append(f"{len(accepted) - 3} more")
        return f"{pointer} {made}, expected {' or '.join(expected)}"
    return describe(pointer, kind, output, reference, wrong.get("remark", ""))


# --- the order of calls ---------------------------------------------------------------------------


def _explain_before(before: Any, tools: Collection[str] | None) -> str | None:
    """Return why `before` is not valid, or None if it is."""
    try:
        pairs = msgspec.convert(before, _Pairs)
    except msgspec.ValidationError as error:
        return f"before={quote(before)} is not a list of pairs of names or positions: {error}"
    for name in chain.from_iterable(pairs):
        # A pair with an unknown tool would have no effect, and nobody would notice.
        if isinstance(name, str) and tools is not None and name not in tools:
            return f"before: there is no tool {name!r}; {hint(name, tools)}"
    return _find_circle(pairs)


def _find_circle(pairs: Iterable[tuple[str | int, str | int]]) -> str | None:
    """Return a message about calls that would have to come before themselves, or None."""
    sorter: TopologicalSorter[str | int] = TopologicalSorter()
    for first, then in pairs:
        sorter.add(first)  # so that a circle is named from the first of its pairs on
        sorter.add(then, first)
    try:
        sorter.prepare()
    except CycleError as error:
        return "before contradicts itself: " + " before ".join(map(repr, error.args[1]))
    return None
