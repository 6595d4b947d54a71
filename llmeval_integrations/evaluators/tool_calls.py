"""Are the right tools called, with the right arguments?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any, ClassVar, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    MissingFieldError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.core.options import (
    check_choice,
    check_flag,
    check_instance,
)
from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.core.quoting import hint, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_validity import defect_result
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.node import Kind
from llmeval_integrations.messages.reading import read_items
from llmeval_integrations.tool_calls.arguments import (
    ARGUMENTS,
    ArgumentComparer,
    Arguments,
)
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.compare import (
    CALL_ORDERS,
    KINDS,
    CallComparison,
    CallOrder,
    ComparedCall,
)
from llmeval_integrations.tool_calls.precedence import (
    Before,
    check_before,
    pair_positions,
)
from llmeval_integrations.tool_calls.read import read_calls
from llmeval_integrations.tool_calls.reference import (
    ALTERNATIVES,
    Alternatives,
    read_expected,
)
from llmeval_integrations.tool_calls.rules import ArgumentRules
from llmeval_integrations.tool_calls.tally import CallTally
from llmeval_integrations.tool_calls.toolbox import (
    Toolbox,
    read_toolbox,
    sample_toolbox,
)

Score = Literal["calls", "leaves"]
SCORES: Final[tuple[str, ...]] = get_args(Score)

_MOST_NAMED = 3


@dataclass(frozen=True)
class ToolCalls(Evaluator):
    """Are the right tools called, with the right arguments?

    Example:
        >>> call = {"name": "f", "arguments": {"a": 1}}
        >>> ToolCalls()(call, {"name": "f", "arguments": {"a": 2}}).score
        0.5

    Score: F1 over calls, from 0 to 1: 2 S / (m + n), where m calls were made and n expected, and S
    is the sum of the similarities of pairs. Calls of the same tool are paired one to one so that S
    is the greatest. The similarity of a pair is (1 + M) / (1 + the larger of O and R), where O and
    R are the leaves of its arguments in output and reference, and M those that match, as in
    JsonFields. A call that is missing, extra, out of order, unreadable or of another tool has 0.
    It passes where all calls are right.

    Values are compared as fields are: by the tool's schema, `fields` and `defaults`. An argument
    that is left out, null or empty has the default of its schema, and one that the reference leaves
    open has to be valid. A reference that its tool surely refuses is an error.

    Metadata: `calls`, each with its `kind` (see KINDS), `score`, `name`, the positions `output` and
    `reference`, and the wrong `arguments`; `called`, `expected` and `right`, how many; `precision`,
    `recall` and `f1` over calls that are wholly right; `fields`, the leaves of each argument by
    kind. `limit_reached` names the arrays whose items were not all tried with each other, with an
    empty text for the calls. The label is the gravest kind.

    Raises:
        InvalidReferenceError: The reference holds no calls, or none that could be made.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    tools: Any = field(default=None, hash=False)
    """The definitions; None takes each sample's `variables["tools"]`, where there are any."""

    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """Settings by tool and path, as `{"weather/city": {"ignore_case": true}, "*/price":
    {"tolerance": 0.1}}`; `*` is each tool that has the argument. The settings of JsonFields."""

    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The same settings where neither a tool's schema nor `fields` says otherwise."""

    score: Score = "calls"
    """What counts the same: each call (`calls`), or each tool's name and each leaf of the arguments
    (`leaves`)."""

    call_order: CallOrder = "any"
    """Whether the order of calls counts: nowhere but for `before`, or everywhere (pairs never
    cross)."""

    before: Before | None = field(default=None, hash=False)
    """With `call_order="any"`: pairs of calls, the first of which comes before the second, each a
    tool's name or a position among the expected calls. Of a pair that is violated the call that
    came too early is wrong. None takes each sample's `variables["before"]`, where there are any."""

    arguments: Arguments = "exact"
    """Which arguments a call has: those expected (`exact`), no others but perhaps not all
    (`subset`), all but perhaps others too (`superset`), or any, of which those count that both have
    (`ignore`)."""

    alternatives: Alternatives = "marked"
    """How the reference says that several values will do. `marked`: by `{"$any_of": [...]}` in
    place of a value, with `"$optional": true` where it may be left out. `listed`: each argument has
    a list of accepted values, as in BFCL, with an empty text where it may be left out."""

    coerce: bool = False
    """Whether a value that is only written as another type counts as the type that the tool's
    schema asks for, as `"3"` for an integer; it needs the tools."""

    allow_undeclared: bool = False
    """Whether arguments that the tool's schema does not name can be valid."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON of calls and arguments."""

    def __post_init__(self) -> None:
        check_instance(self, "fields", Mapping)
        check_instance(self, "defaults", Mapping)
        check_choice(self, "score", SCORES)
        check_choice(self, "call_order", CALL_ORDERS)
        check_choice(self, "arguments", ARGUMENTS)
        check_choice(self, "alternatives", ALTERNATIVES)
        check_flag(self, "coerce")
        check_flag(self, "allow_undeclared")
        check_choice(self, "parsing", PARSINGS)
        rules = ArgumentRules(self.fields, self.defaults, coerce=self.coerce)
        object.__setattr__(self, "_rules", rules)
        toolbox = None
        if self.tools is not None:
            toolbox = read_toolbox(self, self.tools, rules)
            rules.check({name: tool.schema for name, tool in toolbox.items()})
        if self.before is not None:
            if self.call_order != "any":
                raise InvalidOptionError(f"{self.name}: before=... needs call_order='any'")
            check_before(self.before, self.name, toolbox)
        object.__setattr__(self, "_toolbox", toolbox)

    def check(self, sample: Sample) -> Result:
        toolbox: Toolbox | None = self._toolbox  # type: ignore[attr-defined]
        rules: ArgumentRules = self._rules  # type: ignore[attr-defined]
        if toolbox is None:
            toolbox = sample_toolbox(self, sample, rules)
        if self.coerce and toolbox is None:
            raise MissingFieldError(
                f"{self.name} with coerce=True needs tools: tools=... or variables['tools']"
            )
        reference = read_items(sample.require("reference", self.name))
        expected = read_expected(reference, self.name, self.parsing, self.alternatives)
        if toolbox is not None:
            for call in expected:
                self._check_call(call, toolbox, reference)
        before = self.before
        if self.call_order == "any" and before is None and isinstance(sample.variables, Mapping):
            before = sample.variables.get("before")
        names = [call.name for call in expected]
        pairs = [] if before is None else pair_positions(before, names, self.name)
        made = read_calls(read_items(sample.output), self.parsing, expects_calls=bool(expected))
        schema_requires = self.alternatives == "listed" and self.arguments != "subset"
        comparer = ArgumentComparer(
            self.arguments,
            toolbox,
            rules,
            self.parsing,
            coerce=self.coerce,
            schema_requires=schema_requires,
        )
        if isinstance(made, Defect):
            comparison = CallComparison([], expected, comparer)
            missing = msgspec.to_builtins(comparison.calls(self.call_order))
            figures = _figures(0, 0, len(expected), nothing=0.0)
            details = {"fields": _count(comparison), "unreadable": True}
            return defect_result(made, 0.0, calls=missing, **figures, **details)
        comparison = CallComparison(made, expected, comparer)
        calls = comparison.calls(self.call_order, pairs)
        limits = sorted(comparer.limits)
        if comparison.limit_reached:
            limits.insert(0, "")
        return _result(self.score, comparison, calls, (len(made), len(expected)), limits)

    def breakdown(self) -> CallTally:
        # Of an ignored place no leaf is counted, whether or not it is there.
        return CallTally(path for path, each in self.fields.items() if not each.get("ignore"))

    def _check_call(self, call: ToolCall, toolbox: Toolbox, reference: Any) -> None:
        """Refuse an expected call that its tool surely does not take."""
        if call.name not in toolbox:
            raise InvalidReferenceError(
                f"{self.name}: there is no tool {call.name!r}, which the reference "
                f"{quote(reference)} names; {hint(call.name, toolbox)}"
            )
        if self.arguments in ("subset", "ignore") or self.alternatives == "listed":
            return
        refusal = toolbox[call.name].refusal(call.arguments, complete=self.arguments == "exact")
        if refusal:
            raise InvalidReferenceError(
                f"{self.name}: the tool {call.name!r} {refusal}, and the reference "
                f"{quote(reference)} could never be met"
            )


def _figures(right: int, called: int, expected: int, *, nothing: float) -> dict[str, Any]:
    """Count; `nothing` is the share of what is right where no call was made nor expected."""
    none = called == expected == 0
    return {
        "called": called,
        "expected": expected,
        "right": right,
        "precision": nothing if none else right / (called or 1),
        "recall": nothing if none else right / (expected or 1),
        "f1": nothing if none else 2 * right / (called + expected),
    }


def _result(
    score_of: Score,
    comparison: CallComparison,
    calls: list[ComparedCall],
    counts: tuple[int, int],
    limits: list[str],
) -> Result:
    kinds = Counter(call.kind for call in calls)
    figures = _figures(kinds["right"], *counts, nothing=1.0)
    metadata = {"calls": msgspec.to_builtins(calls), **figures}
    metadata["fields"] = _count(comparison)
    if comparison.graded:
        metadata["graded"] = comparison.graded
    if limits:
        metadata["limit_reached"] = limits
    matched, both = fsum(call.score for call in calls), float(sum(counts))
    if score_of == "leaves":
        leaves = comparison.leaves
        named = sum(call.kind in ("right", "wrong_arguments") for call in calls)
        matched, both = named + leaves.matched, both + leaves.output + leaves.reference
    score = 2 * matched / both if both else 1.0
    if kinds["right"] == len(calls):
        return Result(score, True, None, _all_right(len(calls)), metadata)
    reason = make_printable(
        "; ".join(_name_wrong([call for call in calls if call.kind != "right"]))
    )
    if limits:
        reason += f" (more than {MAX_PAIRS} pairs; not all were tried)"
    return Result(score, False, min(kinds, key=KINDS.index), reason, metadata)


def _count(comparison: CallComparison) -> dict[str, dict[Kind, int]]:
    return {path: dict(counts) for path, counts in comparison.fields.items()}


def _all_right(count: int) -> str:
    if not count:
        return "No call, as expected"
    return "The call is right" if count == 1 else f"All {count} calls are right"


def _name_wrong(wrong: list[ComparedCall]) -> list[str]:
    """Name the first wrong calls, then how many more there are of which kind."""
    named = list(map(str, wrong[:_MOST_NAMED]))
    more = Counter(call.kind.replace("_", " ") for call in wrong[_MOST_NAMED:])
    return named + [f"{count} more {kind}" for kind, count in more.items()]
