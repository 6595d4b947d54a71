"""Comparing the calls that a model made with those that were expected. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.tool_calls.arguments import (
    ComparedArguments,
    WrongArgument,
    extra_argument,
    missing_argument,
)
from llmeval_integrations.tool_calls.before import find_early
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.expected import write
from llmeval_integrations.tool_calls.pairing import pair_by_name, pair_in_order

Order = Literal["any", "strict"]
ORDERS: Final[tuple[str, ...]] = get_args(Order)

KINDS: Final = (
    "unreadable",
    "wrong_name",
    "missing",
    "extra",
    "wrong_order",
    "wrong_arguments",
    "right",
)
"""What can be said of a call, the gravest first."""


class ComparedCall(msgspec.Struct, frozen=True):
    """One call that was made, one that was expected, or both."""

    kind: str
    """One of KINDS."""

    score: float
    """From 0 to 1."""

    name: str
    """The tool; of the call that was made, where there is one."""

    output: int | None = None
    """The position among the calls that were made."""

    reference: int | None = None
    """The position among those expected."""

    expected_name: str | None = None
    """The tool that was expected, where another one was called."""

    arguments: list[WrongArgument] = []
    """Those that are wrong; where no call of the tool is beside it, each that it has."""

    problem: str | None = None
    """Why the call cannot be read."""

    def __str__(self) -> str:
        name = self.name[:80]
        if self.kind == "wrong_name":
            return f"called {name}, expected {(self.expected_name or '')[:80]}"
        if self.kind == "unreadable":
            return f"{name}: {self.problem}" if name else str(self.problem)
        if self.kind == "wrong_arguments":
            more = len(self.arguments) - 2
            named = "; ".join(map(str, self.arguments[:2]))
            return f"{name}: {named}" + (f"; and {more} more" if more > 0 else "")
        return f"{name} {'out of order' if self.kind == 'wrong_order' else self.kind}"

    def as_dict(self) -> dict[str, Any]:
        """Return what is known, as JSON values."""
        known = {field: getattr(self, field) for field in self.__struct_fields__}
        known["arguments"] = [wrong.as_dict() for wrong in self.arguments]
        return {
            name: value
            for name, value in known.items()
            if value is not None and not (name == "arguments" and not value)
        }


class CallComparison:
    """The comparison of some calls with others."""

    def __init__(
        self,
        made: list[ToolCall],
        expected: list[ToolCall],
        arguments: Callable[[ToolCall, ToolCall], ComparedArguments],
    ) -> None:
        self.made = made
        self.expected = expected
        self.limit_reached = False
        """Whether there were too many calls to compare each with each."""
        # What cannot be read has the name of no tool: it is paired with what is left over.
        self._names = [f"\0{call.name}" if call.problem else call.name for call in made]
        self._wanted = [call.name for call in expected]
        self._arguments = arguments
        self._scores: dict[tuple[int, int], float] = {}

    def calls(self, order: Order, before: Iterable[tuple[int, int]] = ()) -> list[ComparedCall]:
        """Compare in this order; those expected come first, then those that are extra."""
        names, wanted, score = self._names, self._wanted, self._score
        if order == "strict":
            pairs, self.limit_reached = pair_in_order(names, wanted, score)
        else:
            pairs, self.limit_reached = pair_by_name(names, wanted, score, self._texts)
        blamed = find_early(before, {column: row for row, column in pairs})
        rows = [self._row(row, column, late=column in blamed) for row, column in pairs]
        used, met = {row for row, _ in pairs}, {column for _, column in pairs}
        rows += self._leftover(
            [row for row in range(len(self.made)) if row not in used],
            [column for column in range(len(self.expected)) if column not in met],
        )
        return sorted(rows, key=_place)

    def _texts(self) -> tuple[list[str], list[str]]:
        return (
            [canonical(call.arguments) for call in self.made],
            [canonical(write(call.arguments)) for call in self.expected],
        )

    def _score(self, row: int, column: int) -> float:
        score = self._scores.get((row, column))
        if score is None:
            score = self._arguments(self.made[row], self.expected[column]).score
            self._scores[row, column] = score
        return score

    def _row(self, row: int, column: int, *, late: bool) -> ComparedCall:
        """Compare two calls of the same tool."""
        name = self.made[row].name
        score, wrong = self._scores.get((row, column)), []
        if score != 1:
            # Anew: of the many pairs of calls that were compared only the scores are kept.
            compared = self._arguments(self.made[row], self.expected[column])
            score, wrong = compared.score, list(compared.wrong_arguments())
        if late:
            return ComparedCall("wrong_order", 0.0, name, row, column, arguments=wrong)
        kind = "wrong_arguments" if wrong else "right"
        return ComparedCall(kind, score, name, row, column, arguments=wrong)

    def _leftover(self, left: list[int], missed: list[int]) -> Iterator[ComparedCall]:
        """Tell what has no partner: the same tool elsewhere, or another one in its place."""
        for row, column in _same_names_first(left, missed, self.made, self.expected):
            if row is None:
                wanted = self.expected[column]
                yield ComparedCall(
                    "missing", 0.0, wanted.name, None, column, arguments=_missing(wanted)
                )
                continue
            call = self.made[row]
            if call.problem is not None:
                yield ComparedCall("unreadable", 0.0, call.name, row, column, problem=call.problem)
            elif column is None:
                yield ComparedCall("extra", 0.0, call.name, row, arguments=_extra(call))
            elif self.expected[column].name == call.name:
                yield self._row(row, column, late=True)
            else:
                wanted = self.expected[column]
                arguments = [*_missing(wanted), *_extra(call)]
                yield ComparedCall(
                    "wrong_name", 0.0, call.name, row, column, wanted.name, arguments
                )


def _same_names_first(
    left: list[int], wanted: list[int], made: list[ToolCall], expected: list[ToolCall]
) -> Iterable[tuple[Any, Any]]:
    """Pair what is left over, the same names first; None stands for a partner that is not there."""
    by_name: dict[str, list[int]] = {}
    for column in reversed(wanted):
        by_name.setdefault(expected[column].name, []).append(column)
    pairs: list[tuple[Any, Any]] = []
    others = []
    for row in left:
        columns = by_name.get(made[row].name)
        if columns:
            pairs.append((row, columns.pop()))
        else:
            others.append(row)
    columns = sorted(column for rest in by_name.values() for column in rest)
    pairs += zip(others, columns)
    pairs += [(row, None) for row in others[len(columns) :]]
    return pairs + [(None, column) for column in columns[len(others) :]]


def _missing(call: ToolCall) -> list[WrongArgument]:
    """List what a call that was not made should have been given."""
    return [missing_argument(name, value) for name, value in call.arguments.items()]


def _extra(call: ToolCall) -> list[WrongArgument]:
    """List what a call that should not have been made was given."""
    return [extra_argument(name, value) for name, value in call.arguments.items()]


def _place(call: ComparedCall) -> tuple[bool, int]:
    return call.reference is None, call.output or 0 if call.reference is None else call.reference
