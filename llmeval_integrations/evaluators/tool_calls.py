"""Are the right tools called, with the right arguments?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    MissingFieldError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.core.options import check_choice, check_flag, wrong
from llmeval_integrations.core.printable import printable
from llmeval_integrations.core.quoting import hint, shown
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.tool_calls.arguments import (
    ARGUMENTS,
    ArgumentComparison,
    Arguments,
    WrongArgument,
)
from llmeval_integrations.tool_calls.before import (
    Before,
    contradiction,
    is_before,
    pairs_of_calls,
)
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.compare import (
    KINDS,
    ORDERS,
    CallComparison,
    ComparedCall,
    Order,
)
from llmeval_integrations.tool_calls.expected import (
    ALTERNATIVES,
    Alternatives,
    read_expected,
    write,
)
from llmeval_integrations.tool_calls.node import ANYTHING, ToolNode
from llmeval_integrations.tool_calls.read import read_calls
from llmeval_integrations.tool_calls.toolbox import (
    Tool,
    Toolbox,
    Violation,
    read_toolbox,
    sample_toolbox,
)

_MOST_NAMED = 3


@dataclass(frozen=True)
class ToolCalls(Evaluator):
    """Are the right tools called, with the right arguments?

    Example:
        >>> call = {"name": "f", "arguments": {"a": 1}}
        >>> ToolCalls()(call, {"name": "f", "arguments": {"a": 2}}).score
        0.5

    Score: the mean over the calls, from 0 to 1. Calls of the same tool are paired one to one so
    that the sum of their scores is the highest. The score of a pair is the share of what is right:
    the name, and each argument of either side. A call that is missing, extra, out of order,
    unreadable or of another tool scores 0. It passes where all calls are right.

    Values are compared as JSON. With the tools' schemas an argument that is left out has its
    default, an array with `uniqueItems` has no order, and an argument that the reference leaves
    open has to be valid. A reference that its tool surely refuses is an error.

    Metadata: `calls`, each with its `kind` (see KINDS), `score`, `name`, the positions `output` and
    `reference`, and the wrong `arguments`; `called`, `expected` and `right`, how many;
    `precision`, `recall` and `f1` over calls that are wholly right. `limit_reached` names the
    arrays whose items were not all tried with each other, with an empty text for the calls.
    The label is the gravest kind.

    Raises:
        InvalidReferenceError: The reference holds no calls, or none that could be made.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    tools: Any = field(default=None, hash=False)
    """The definitions; None takes each sample's `variables["tools"]`, where there are any."""

    order: Order = "any"
    """Whether order counts: nowhere but for `before`, or everywhere (pairs never cross)."""

    before: Before | None = field(default=None, hash=False)
    """With `order="any"`: pairs of calls, the first of which comes before the second, each a tool's
    name or a position among the expected calls. Of a pair that is violated the call that came too
    early is wrong. None takes each sample's `variables["before"]`, where there are any."""

    arguments: Arguments = "exact"
    """Which arguments a call has: those expected (`exact`), no others but perhaps not all
    (`subset`), all but perhaps others too (`superset`), or any (`ignore`)."""

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
        check_choice(self, "order", ORDERS)
        check_choice(self, "arguments", ARGUMENTS)
        check_choice(self, "alternatives", ALTERNATIVES)
        check_flag(self, "coerce")
        check_flag(self, "allow_undeclared")
        check_choice(self, "parsing", PARSINGS)
        if self.before is not None:
            if self.order != "any":
                raise InvalidOptionError(f"{self.name}: before=... needs order='any'")
            if not is_before(self.before):
                raise wrong(self, "before", "a list of pairs of names or positions")
            circle = contradiction(self.before)
            if circle is not None:
                raise InvalidOptionError(f"{self.name}: before contradicts itself: {circle}")
        toolbox = None
        if self.tools is not None:
            toolbox = read_toolbox(self, self.tools, coerce=self.coerce)
            for name in (which for pair in self.before or () for which in pair):
                # The name of a tool that there is not would order nothing, and not say so.
                if isinstance(name, str) and name not in toolbox:
                    raise InvalidOptionError(
                        f"{self.name}: before: there is no tool {name!r}; {hint(name, toolbox)}"
                    )
        object.__setattr__(self, "_toolbox", toolbox)

    def check(self, sample: Sample) -> Result:
        toolbox: Toolbox | None = self._toolbox  # type: ignore[attr-defined]
        if toolbox is None:
            toolbox = sample_toolbox(self, sample, coerce=self.coerce)
        if self.coerce and toolbox is None:
            raise MissingFieldError(
                f"{self.name} with coerce=True needs tools: tools=... or variables['tools']"
            )
        reference = sample.require("reference", self.name)
        expected = read_expected(reference, self.name, self.parsing, self.alternatives)
        if toolbox is not None:
            for call in expected:
                self._check_call(call, toolbox, reference)
        before = self._before(sample, [call.name for call in expected])
        made = read_calls(sample.output, self.parsing, expects_calls=bool(expected))
        if isinstance(made, Defect):
            return defective(made, 0.0, **_counts([], 0, len(expected), unreadable=True))
        compare = _Compare(self, toolbox)
        comparison = CallComparison(made, expected, compare)
        calls = comparison.calls(self.order, before)
        limits = compare.limits | ({""} if comparison.limit_reached else set())
        return _result(calls, len(made), len(expected), sorted(limits))

    def _check_call(self, call: ToolCall, toolbox: Toolbox, reference: Any) -> None:
        """Refuse an expected call that its tool surely does not take."""
        if call.name not in toolbox:
            raise InvalidReferenceError(
                f"{self.name}: there is no tool {call.name!r}, which the reference "
                f"{shown(reference)} names; {hint(call.name, toolbox)}"
            )
        if self.arguments in ("subset", "ignore") or self.alternatives == "listed":
            return
        refusal = toolbox[call.name].refusal(call.arguments, complete=self.arguments == "exact")
        if refusal:
            raise InvalidReferenceError(
                f"{self.name}: the tool {call.name!r} {refusal}, and the reference "
                f"{shown(reference)} could never be met"
            )

    def _before(self, sample: Sample, expected: list[str]) -> list[tuple[int, int]]:
        before = self.before
        if self.order == "any" and before is None and isinstance(sample.variables, Mapping):
            before = sample.variables.get("before")
        if before is None:
            return []
        if not is_before(before) or any(
            isinstance(which, int) and which >= len(expected) for pair in before for which in pair
        ):
            raise InvalidReferenceError(
                f"{self.name}: before: {shown(before)} are not pairs of names, or of positions "
                f"among {len(expected)} expected calls"
            )
        pairs = pairs_of_calls(before, expected)
        circle = contradiction(before) or contradiction(pairs)
        if circle is not None:
            raise InvalidReferenceError(f"{self.name}: before contradicts itself: {circle}")
        return pairs


class _Compare:
    """Compares the arguments of two calls of the same tool."""

    def __init__(self, options: ToolCalls, toolbox: Toolbox | None) -> None:
        self.limits: set[str] = set()
        """The arrays whose items were not all tried with each other, as pointers."""
        self._options = options
        self._toolbox = toolbox
        self._pairing = Comparison().pairing
        self._coerced: dict[int, dict[str, Any]] = {}
        self._violations: dict[tuple[int, frozenset[str]], list[Violation]] = {}

    def __call__(self, made: ToolCall, expected: ToolCall) -> ArgumentComparison:
        tool = self._toolbox[made.name] if self._toolbox else None
        node = tool.node if tool else ANYTHING
        output, wanted = made.arguments, expected.arguments
        if self._options.coerce:
            output, wanted = self._coerce(output, node), self._coerce(wanted, node)
        how = self._options.arguments
        compared = ArgumentComparison(node, output, wanted, how, self._pairing)
        self.limits.update(compared.limits)
        if tool is not None:
            self._validate(made, compared, tool)
        return compared

    def _coerce(self, arguments: dict[str, Any], node: ToolNode) -> dict[str, Any]:
        if id(arguments) not in self._coerced:
            self._coerced[id(arguments)] = node.coerce(arguments)
        return self._coerced[id(arguments)]

    def _validate(self, made: ToolCall, compared: ArgumentComparison, tool: Tool) -> None:
        """Add what the schema has against arguments that the reference does not settle."""
        settled = compared.settled()
        if self._options.arguments == "subset" or self._options.alternatives != "listed":
            settled.update(compared.left_out)
        if tool.names(compared.output) <= settled:
            return
        key = id(made), frozenset(settled)
        if key not in self._violations:
            arguments = write(compared.output)
            self._violations[key] = tool.find_beside(settled, arguments, self._options.parsing)
        for found in self._violations[key]:
            invalid = _invalid(found, compared.output)
            compared.invalid.setdefault(found.argument or "", []).append(invalid)


def _invalid(found: Violation, values: dict[str, Any]) -> WrongArgument:
    if found.is_missing:
        return WrongArgument(found.pointer, "missing")
    value = write(values.get(found.argument or "", MISSING))
    return WrongArgument(found.pointer, "invalid", value, message=found.message)


def _counts(
    calls: list[ComparedCall], called: int, expected: int, *, unreadable: bool = False
) -> dict[str, Any]:
    """Count; an output that cannot be read is never what was expected."""
    right = sum(call.kind == "right" for call in calls)
    none = called == expected == 0 and not unreadable
    return {
        "calls": msgspec.to_builtins(calls),
        "called": called,
        "expected": expected,
        "right": right,
        "precision": 1.0 if none else right / (called or 1),
        "recall": 1.0 if none else right / (expected or 1),
        "f1": 1.0 if none else 2 * right / (called + expected or 1),
    }


def _result(calls: list[ComparedCall], called: int, expected: int, limits: list[str]) -> Result:
    metadata = _counts(calls, called, expected)
    if limits:
        metadata["limit_reached"] = limits
    wrong = [call for call in calls if call.kind != "right"]
    if not wrong:
        return Result(1.0, True, None, _all_right(len(calls)), metadata)
    score = sum(call.score for call in calls) / len(calls)
    reason = printable("; ".join(_grouped(wrong)))
    if limits:
        reason += f" (more than {MAX_PAIRS} pairs; not all were tried)"
    label = min((call.kind for call in wrong), key=KINDS.index)
    return Result(score, False, label, reason, metadata)


def _all_right(count: int) -> str:
    if not count:
        return "No call, as expected"
    return "The call is right" if count == 1 else f"All {count} calls are right"


def _grouped(wrong: list[ComparedCall]) -> list[str]:
    """Name the first wrong calls, then how many more there are of which kind."""
    named = list(map(str, wrong[:_MOST_NAMED]))
    more = Counter(call.kind.replace("_", " ") for call in wrong[_MOST_NAMED:])
    return named + [f"{count} more {kind}" for kind, count in more.items()]
