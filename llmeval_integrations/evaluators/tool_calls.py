"""Are the right tools called, with the right arguments?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

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
from llmeval_integrations.evaluators.tool_call_schema import Toolbox, Violation, sample_tools
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import PARSINGS, Parsing, parse
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.arguments import (
    ARGUMENTS,
    Arguments,
    ComparedArguments,
    WrongArgument,
)
from llmeval_integrations.tool_calls.before import (
    Before,
    contradiction,
    is_before,
    pairs_of_calls,
)
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.coerce import coerce
from llmeval_integrations.tool_calls.compare import (
    KINDS,
    ORDERS,
    CallComparison,
    ComparedCall,
    Order,
)
from llmeval_integrations.tool_calls.expected import (
    read_answers,
    read_listed,
    read_marked,
    write,
)
from llmeval_integrations.tool_calls.node import ANYTHING, Read, ToolNode
from llmeval_integrations.tool_calls.read import read_calls

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

    alternatives: Literal["marked", "listed"] = "marked"
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
        check_choice(self, "alternatives", ("marked", "listed"))
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
        toolbox = None if self.tools is None else Toolbox.of(self, self.tools, self._read())
        if toolbox and self.before is not None:
            self._check_names(self.before, toolbox)
        object.__setattr__(self, "_toolbox", toolbox)

    def _read(self) -> Read | None:
        """Return what reads the defaults of the tools' schemas."""
        return coerce if self.coerce else None

    def _check_names(self, before: Before, toolbox: Toolbox) -> None:
        """Refuse the name of a tool that there is not: it would order nothing, and not say so."""
        for name in (which for pair in before for which in pair if isinstance(which, str)):
            if name not in toolbox.nodes:
                raise InvalidOptionError(
                    f"{self.name}: before: there is no tool {name!r}; {hint(name, toolbox.nodes)}"
                )

    def check(self, sample: Sample) -> Result:
        toolbox: Toolbox | None = self._toolbox  # type: ignore[attr-defined]
        tools = None if toolbox else sample_tools(sample)
        if tools is not None:
            toolbox = Toolbox.of_sample(self, tools, self._read())
        if self.coerce and toolbox is None:
            raise MissingFieldError(
                f"{self.name} with coerce=True needs tools: tools=... or variables['tools']"
            )
        expected = self._expected(sample, toolbox)
        before = self._before(sample, [call.name for call in expected])
        made = read_calls(sample.output, self.parsing)
        if isinstance(made, Defect):
            return defective(made, 0.0, **_counts([], 0, len(expected), unreadable=True))
        comparing = _Comparing(self, toolbox)
        comparison = CallComparison(made, expected, comparing)
        calls = comparison.calls(self.order, before)
        limits = sorted(comparing.limits.union([""] if comparison.limit_reached else []))
        return _result(calls, len(made), len(expected), limits)

    def _expected(self, sample: Sample, toolbox: Toolbox | None) -> list[ToolCall]:
        """Read the reference; whatever cannot be read in it is the caller's fault."""
        reference = sample.require("reference", self.name)
        listed = self.alternatives == "listed"
        answers = read_answers(reference, self.parsing) if listed else reference
        calls = read_calls(answers, self.parsing)
        if isinstance(answers, str) and not calls:  # which may be an answer
            calls = read_calls(self._read_text(answers), self.parsing)
        if isinstance(calls, Defect):
            raise self._no_reference(reference, calls.reason)
        expected = []
        for call in calls:
            if call.problem is not None:
                raise self._no_reference(reference, call.problem)
            if toolbox and call.name not in toolbox.nodes:
                raise InvalidReferenceError(
                    f"{self.name}: there is no tool {call.name!r}, which the reference "
                    f"{shown(reference)} names; {hint(call.name, toolbox.nodes)}"
                )
            wanted = msgspec.structs.replace(call, arguments=self._read_arguments(call))
            refusal = toolbox and self._refusal(wanted, toolbox)
            if refusal:
                raise InvalidReferenceError(
                    f"{self.name}: the tool {call.name!r} {refusal}, and the reference "
                    f"{shown(reference)} could never be met"
                )
            expected.append(wanted)
        return expected

    def _read_text(self, reference: str) -> Any:
        """Return the JSON of a text."""
        value = parse(reference, self.parsing)
        if isinstance(value, Defect):
            raise self._no_reference(reference, value.reason)
        if value is not None and not isinstance(value, (dict, list)):
            raise self._no_reference(reference, "it is a value by itself")
        return value

    def _read_arguments(self, call: ToolCall) -> dict[str, Any]:
        if self.alternatives == "listed":
            return read_listed(call.arguments)
        arguments = read_marked(call.arguments)
        if isinstance(arguments, AnyOf):
            raise InvalidReferenceError(
                f"{self.name}: {shown(call.arguments)} stands for all arguments of {call.name!r}; "
                "a choice stands in place of one argument's value"
            )
        return cast("dict[str, Any]", arguments)

    def _refusal(self, call: ToolCall, toolbox: Toolbox) -> str | None:
        """Say why a tool does not take the arguments that a reference has, where that is sure."""
        if self.arguments in ("subset", "ignore") or self.alternatives == "listed":
            return None
        return toolbox.refusal(call, complete=self.arguments == "exact")

    def _no_reference(self, reference: Any, reason: str) -> InvalidReferenceError:
        return InvalidReferenceError(
            f"{self.name}: the reference {shown(reference)} holds no tool calls: {reason}; "
            'write {"name": ..., "arguments": {...}}, or a list of these'
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


class _Comparing:
    """Compares the arguments of two calls of the same tool."""

    def __init__(self, options: ToolCalls, toolbox: Toolbox | None) -> None:
        self.limits: set[str] = set()
        """The arrays whose items were not all tried with each other, as pointers."""
        self._options = options
        self._toolbox = toolbox
        self._pairing = Comparison().pairing
        self._read: dict[int, dict[str, Any]] = {}
        self._violations: dict[int, list[Violation]] = {}

    def __call__(self, made: ToolCall, expected: ToolCall) -> ComparedArguments:
        node = self._toolbox.nodes[made.name] if self._toolbox else ANYTHING
        output, wanted = self._arguments(made, node), self._arguments(expected, node)
        compared = ComparedArguments(output, wanted, node, self._options.arguments, self._pairing)
        self.limits.update(compared.limits)
        if self._toolbox is not None:
            self._validate(made, compared, self._toolbox)
        return compared

    def _arguments(self, call: ToolCall, node: ToolNode) -> dict[str, Any]:
        if not self._options.coerce:
            return call.arguments
        if id(call) not in self._read:
            self._read[id(call)] = coerce(call.arguments, node)
        return self._read[id(call)]

    def _validate(self, made: ToolCall, compared: ComparedArguments, toolbox: Toolbox) -> None:
        """Add what the schema has against arguments that the reference does not settle."""
        settled = compared.settled | compared.wrong
        if self._options.arguments == "subset" or self._options.alternatives != "listed":
            settled |= compared.left_out
        if toolbox.names_of_errors(made.name, compared.output) <= settled:
            return
        if id(made) not in self._violations:
            read = msgspec.structs.replace(made, arguments=write(compared.output))
            self._violations[id(made)] = toolbox.violations(read)
        for found in self._violations[id(made)]:
            name = found.argument or ""
            if not found.has_default and name not in settled:
                invalid = _invalid(found, compared.output)
                compared.invalid.setdefault(name, []).append(invalid)


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
        "calls": [call.as_dict() for call in calls],
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
