"""Compare the calls that a model made with the expected ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import fsum
from operator import add
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.assignment import Pairs, best_pairs, best_path, pair_texts
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Kind
from llmeval_integrations.matching.outcome import Figures
from llmeval_integrations.tool_calls.call_pair import Call, CallPair, WrongArgument
from llmeval_integrations.tool_calls.expected import mark_alternatives

CallOrder = Literal["any", "strict"]

Score = Literal["calls", "leaves"]

CALL_KINDS: Final = (
    "unreadable",
    "wrong_name",
    "missing",
    "extra",
    "wrong_order",
    "wrong_arguments",
    "right",
)
"""The kinds of a compared call, the worst first."""

# Among pairings of the same score, the one with the most right calls is chosen, and then the one
# that keeps the order best. Both amounts are too small to outweigh an argument.
_RIGHT: Final = 1e-6
_NEAR: Final = 1e-9

_MOST_KEPT: Final = 1_000
"""The pairs of calls whose comparisons are kept; beyond it, the pairs that are chosen are compared
again."""


class ComparedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that was made, an expected call, or a pair of both."""

    kind: str
    """One of CALL_KINDS."""

    score: float
    """From 0 to 1."""

    name: str
    """The tool that was called, or the expected one if no call was made."""

    output: int | None = None
    """The position among the calls that were made."""

    reference: int | None = None
    """The position among the expected calls."""

    expected_name: str | None = None
    """The expected tool, if another one was called."""

    arguments: list[WrongArgument] = []
    """The wrong arguments; all of them if the call has no partner of the same tool."""

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


class CallComparison:
    """Pairs calls of the same tool one to one, and compares them."""

    def __init__(
        self,
        made: Sequence[Call],
        expected: Sequence[Call],
        order: CallOrder,
        unit: Score,
        before: Sequence[tuple[int, int]] = (),
    ) -> None:
        """`unit` is what the score counts. `before` are pairs of positions of expected calls.

        If a pair of `before` is violated, the call that came too early is wrong.
        """
        self._made, self._expected, self._unit = made, expected, unit
        self._pairing = Comparison().pairing
        self._compared: dict[tuple[int, int], CallPair] = {}
        self._leaves = Figures(0.0, 0.0, 0.0)
        self._fields: dict[str, dict[Kind, int]] = {}
        self._graded: list[dict[str, Any]] = []  # leaves that match with a score below 1
        self._limits: set[str] = set()
        self.calls = self._compare(order, before)
        """All calls, compared: first the expected ones in their order, then extra ones."""

    def _compare(self, order: CallOrder, before: Sequence[tuple[int, int]]) -> list[ComparedCall]:
        pairs = self._pair_in_order() if order == "strict" else self._pair_by_name()
        rows = {column: row for row, column in pairs}
        out_of_order = {
            then
            for first, then in before
            if first in rows and then in rows and rows[then] < rows[first]
        }
        found = [self._compare_pair(*pair, in_order=pair[1] not in out_of_order) for pair in pairs]
        if not len(pairs) == len(self._made) == len(self._expected):
            found += self._compare_leftovers(pairs)
        last = len(self._expected)
        return sorted(
            found,
            key=lambda call: (last, call.output) if call.reference is None else (call.reference, 0),
        )

    def score(self) -> float:
        """Return F1 over the calls, or over their names and the leaves of their arguments."""
        matched = fsum(call.score for call in self.calls)
        both = float(len(self._made) + len(self._expected))
        if self._unit == "leaves":
            named = sum(call.kind in ("right", "wrong_arguments") for call in self.calls)
            matched = named + self._leaves.matched
            both += self._leaves.output + self._leaves.reference
        return 2 * matched / both if both else 1.0

    def metadata(self) -> dict[str, Any]:
        """Return the calls, the figures over them, and the leaves of each argument."""
        called, expected = len(self._made), len(self._expected)
        right = sum(call.kind == "right" for call in self.calls)
        both = called + expected
        found: dict[str, Any] = {
            "calls": msgspec.to_builtins(self.calls),
            "called": called,
            "expected": expected,
            "right": right,
            "precision": right / (called or 1) if both else 1.0,
            "recall": right / (expected or 1) if both else 1.0,
            "f1": 2 * right / both if both else 1.0,
            "fields": self._fields,
        }
        if self._graded:
            found["graded"] = self._graded
        return {**found, "limit_reached": sorted(self._limits)} if self._limits else found

    # --- pairing -------------------------------------------------------------------------------

    def _pair_by_name(self) -> Pairs:
        """Pair calls of the same tool so that the sum of their gains is the highest.

        A document may try MAX_PAIRS pairs. If a tool has more calls than are left to try, its equal
        calls are paired first, and the others in their order.
        """
        made, expected = defaultdict(list), defaultdict(list)
        for row, call in enumerate(self._made):
            if call.problem is None:  # an unreadable call takes the place of a leftover one later
                made[call.name].append(row)
        for column, call in enumerate(self._expected):
            expected[call.name].append(column)
        pairs: Pairs = []
        budget = MAX_PAIRS
        for name, wanted in expected.items():
            rows, columns = made[name], wanted
            if not rows:
                continue
            is_fuzzy = self._expected[columns[0]].is_fuzzy and len(rows) * len(columns) <= MAX_PAIRS
            if len(rows) + len(columns) > 2 and not is_fuzzy:
                same, rows, columns = pair_texts(  # equal calls are paired
                    {row: self._made[row].text for row in rows},
                    {column: self._expected[column].text for column in columns},
                )
                pairs += same
            if len(rows) == len(columns) == 1:
                pairs += zip(rows, columns)
            elif len(rows) * len(columns) > budget:
                self._limits.add("")
                pairs += zip(rows, columns)
            else:
                budget -= len(rows) * len(columns)
                weights = [[self._gain(row, column) for column in columns] for row in rows]
                pairs += [(rows[row], columns[column]) for row, column in best_pairs(weights)]
        return sorted(pairs)

    def _pair_in_order(self) -> Pairs:
        """Pair calls of the same tool without crossings so that the sum of gains is the highest.

        If there are more than MAX_PAIRS pairs to try, calls at the same position are paired.
        """
        rows, columns = range(len(self._made)), range(len(self._expected))
        if len(rows) * len(columns) > MAX_PAIRS:
            self._limits.add("")
            return [(n, n) for n in range(min(len(rows), len(columns))) if self._is_same_tool(n, n)]
        if not (rows and columns):
            return []
        return best_path(
            [
                [
                    self._gain(row, column) if self._is_same_tool(row, column) else 0.0
                    for column in columns
                ]
                for row in rows
            ]
        )

    def _is_same_tool(self, row: int, column: int) -> bool:
        call = self._made[row]
        return call.problem is None and call.name == self._expected[column].name

    def _gain(self, row: int, column: int) -> float:
        """Return what a pair adds to the score: its similarity, or its name and leaves."""
        rated = self._made[row].rate_flat(self._expected[column])
        if rated is None:
            pair = self._find_pair(row, column)
            rated = pair.similarity, pair.figures.matched, pair.is_right
        similarity, matched, is_right = rated
        gain = 1 + matched if self._unit == "leaves" else similarity
        return gain + _RIGHT * is_right + _NEAR / (1 + abs(row - column))

    def _find_pair(self, row: int, column: int) -> CallPair:
        found = self._compared.get((row, column))
        if found is None:
            made, expected = self._made[row], self._expected[column]
            found = CallPair(made, expected, self._pairing)
            self._limits.update(found.comparison.limits)
            if len(self._compared) < _MOST_KEPT:
                self._compared[row, column] = found
        return found

    # --- results -------------------------------------------------------------------------------

    def _compare_pair(self, row: int, column: int, *, in_order: bool) -> ComparedCall:
        """Compare two calls of the same tool; one that is out of order has no leaf that matches."""
        pair, name = self._find_pair(row, column), self._made[row].name
        mistakes = [] if pair.is_right else pair.list_mistakes()
        if not in_order:
            self._count(pair.comparison, pair.figures._replace(matched=0.0))
            return ComparedCall("wrong_order", 0.0, name, row, column, arguments=mistakes)
        self._count(pair.comparison, pair.figures)
        kind = "wrong_arguments" if mistakes else "right"
        return ComparedCall(kind, pair.similarity, name, row, column, arguments=mistakes)

    def _count(self, comparison: Comparison, figures: Figures) -> None:
        """Add the leaves of a pair of calls, or of a single call."""
        self._leaves = Figures(*map(add, self._leaves, figures))
        comparison.count(self._fields)
        for each in comparison.outcomes:
            if each.kind == "match":
                graded = {"field": each.node.path, "kind": "match", "score": each.score}
                self._graded.append(graded)

    def _compare_leftovers(self, pairs: Pairs) -> Iterator[ComparedCall]:
        """Compare the calls that are in no pair.

        A spare call with the name of an expected one is out of order, or unreadable. The others
        are paired in their order: a wrong tool was called in the place of the expected one.
        """
        used, met = {row for row, _ in pairs}, {column for _, column in pairs}
        wanted = [column for column in range(len(self._expected)) if column not in met]
        others = []
        for row in range(len(self._made)):
            if row in used:
                continue
            name = self._made[row].name
            column = next((n for n in wanted if self._expected[n].name == name), None)
            if column is None:
                others.append(row)
                continue
            wanted.remove(column)
            if self._is_same_tool(row, column):
                yield self._compare_pair(row, column, in_order=False)
            else:
                yield self._compare_unpaired(row, column)
        for pair in zip_longest(others, wanted):
            yield self._compare_unpaired(*pair)

    def _compare_unpaired(self, row: int | None, column: int | None) -> ComparedCall:
        """Return a call without a partner of the same tool."""
        call = None if row is None else self._made[row]
        wanted = None if column is None else self._expected[column]
        missing = self._list_arguments(wanted, "missing") if wanted else []
        if call is None:
            name = wanted.name if wanted else ""
            return ComparedCall("missing", 0.0, name, None, column, arguments=missing)
        if call.problem is not None:
            return ComparedCall("unreadable", 0.0, call.name, row, column, problem=call.problem)
        extra = self._list_arguments(call, "extra")
        if wanted is None:
            return ComparedCall("extra", 0.0, call.name, row, arguments=extra)
        return ComparedCall("wrong_name", 0.0, call.name, row, column, wanted.name, missing + extra)

    def _list_arguments(self, call: Call, kind: Kind) -> list[WrongArgument]:
        """Count and list all arguments of a call that has no partner."""
        comparison = call.list_leaves(kind)
        self._count(comparison, comparison.figures())
        side = "reference" if kind == "missing" else "output"
        return [
            WrongArgument(f"/{escape(name)}", kind, **{side: mark_alternatives(value)})
            for name, value in call.arguments.items()
        ]
