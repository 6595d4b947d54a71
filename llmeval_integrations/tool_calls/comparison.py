"""Compare the calls that a model made with the expected ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import fsum
from typing import Any, Final, Literal, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.assignment import Pairs, best_pairs, best_path, pair_texts
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Kind, is_optional
from llmeval_integrations.tool_calls.arguments import Arguments, Call, Pair
from llmeval_integrations.tool_calls.expected import Alternatives, mark_alternatives

CallOrder = Literal["any", "strict"]
Score = Literal["calls", "leaves"]

CALL_KINDS: Final = (
    *("unreadable", "wrong_name", "missing", "extra"),
    *("wrong_order", "wrong_arguments", "right"),
)
"""The kinds of a compared call, the worst first."""

# Among pairings of the same score, the one with the most right calls is chosen, then the one with
# the fewest defaults filled in, and then the one that keeps the order best. All these amounts are
# too small to outweigh an argument.
_RIGHT: Final = 1e-6
_FILLED: Final = 1e-9
_NEAR: Final = 1e-12

_Gain: TypeAlias = tuple[float, float]
_Table: TypeAlias = tuple[Sequence[int], Sequence[int], list[list[_Gain]]]
"""Positions of calls made and of expected calls, with the gain of each pair."""


class CallComparison:
    """Pairs calls of the same tool one to one, and compares them."""

    def __init__(
        self,
        made: Sequence[Call],
        expected: Sequence[Call],
        *,
        arguments: Arguments,
        alternatives: Alternatives,
        call_order: CallOrder,
        score: Score,
        before: Sequence[tuple[int, int]] = (),
    ) -> None:
        """`before` are pairs of positions of expected calls.

        If a pair of `before` is violated, the call that came too early is wrong.
        """
        self._made, self._expected = made, expected
        self._how, self._is_listed = arguments, alternatives == "listed"
        self._unit, self._pairing = score, Comparison().pairing
        self._matched: list[float] = []
        self._leaves: list[float] = []  # of both sides
        self._fields: dict[str, dict[Kind, int]] = {}
        self._graded: list[dict[str, Any]] = []  # leaves that match with a score below 1
        self._limits: set[str] = set()
        pairs = self._pair(call_order)
        early = set()
        if before:
            rows = {column: row for row, column in pairs}
            early = {b for a, b in before if a in rows and b in rows and rows[b] < rows[a]}
        found = [self._compare_pair(*pair, in_order=pair[1] not in early) for pair in pairs]
        if not len(pairs) == len(made) == len(expected):
            found += self._compare_leftovers(pairs)
        last = len(expected)
        found.sort(key=lambda call: (call.get("reference", last), call.get("output", 0)))
        self.calls = found
        """All calls, compared: first the expected ones in their order, then extra ones."""

    def score(self) -> float:
        """Return F1 over the calls, or over their names and the leaves of their arguments."""
        both = float(len(self._made) + len(self._expected))
        if self._unit == "calls":
            matched = fsum(call["score"] for call in self.calls)
        else:
            named = sum(call["kind"] in ("right", "wrong_arguments") for call in self.calls)
            matched, both = named + fsum(self._matched), both + fsum(self._leaves)
        return 2 * matched / both if both else 1.0

    def metadata(self) -> dict[str, Any]:
        """Return the calls, the figures over them, and the leaves of each argument."""
        called, expected = len(self._made), len(self._expected)
        right = sum(call["kind"] == "right" for call in self.calls)
        both = called + expected
        found: dict[str, Any] = {
            "calls": self.calls,
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

    def _pair(self, order: CallOrder) -> Pairs:
        """Pair calls of the same tool so that the score is the highest.

        In strict order, no two pairs cross. A document may try MAX_PAIRS pairs. If there are more,
        calls are paired in their order; in any order, equal calls are paired first.
        """
        made: defaultdict[str, list[int]] = defaultdict(list)
        expected: defaultdict[str, list[int]] = defaultdict(list)
        for row, call in enumerate(self._made):
            if call.problem is None:  # an unreadable call takes the place of a leftover one later
                made[call.name if order == "any" else ""].append(row)
        for column, call in enumerate(self._expected):
            expected[call.name if order == "any" else ""].append(column)
        pairs: Pairs = []
        tables: list[_Table] = []
        budget = MAX_PAIRS
        for name, wanted in expected.items():
            rows, columns = made[name], wanted
            if order == "any" and rows and len(rows) + len(columns) > 2:
                same, rows, columns = self._pair_equal(rows, columns)
                pairs += same
            tries = len(rows) * len(columns)
            if tries <= 1 or tries > budget:
                pairs += [pair for pair in zip(rows, columns) if self._is_same_tool(*pair)]
                if tries > budget:
                    self._limits.add("")
                continue
            budget -= tries
            gains = [[self._gain(row, column) for column in columns] for row in rows]
            if order == "any":
                tables.append((rows, columns, gains))
                continue
            worth = [[gain - _FILLED * leaves for gain, leaves in row] for row in gains]
            pairs += [(rows[row], columns[column]) for row, column in best_path(worth)]
        return sorted(self._pair_best(pairs, tables) if tables else pairs)

    def _pair_best(self, settled: Pairs, tables: Sequence[_Table]) -> Pairs:
        """Pair the calls of each table so that the score is the highest, with the settled pairs.

        A pair may have more or fewer leaves than its calls alone: one for each default that is
        filled in. So the score over leaves is a quotient of two sums. To maximise it, leaves have a
        price, which is the quotient of the round before (Dinkelbach, Management Science 13 (1967)
        492).
        """
        is_quotient = self._unit == "leaves"
        known = [self._gain(*pair) for pair in settled] if is_quotient else []
        calls = [*self._made, *self._expected]
        alone = len(calls) + fsum(map(self._weigh_alone, calls))
        price = 0.0
        while True:
            pairs, chosen = [*settled], [*known]
            for rows, columns, gains in tables:
                most = max(leaves for row in gains for _, leaves in row)
                worth = [[gain + price * (most - leaves) for gain, leaves in row] for row in gains]
                for row, column in best_pairs(worth):
                    pairs.append((rows[row], columns[column]))
                    chosen.append(gains[row][column])
            matched, leaves = map(fsum, zip(*chosen))
            quotient = matched / (alone + leaves)
            if not is_quotient or quotient <= price + _NEAR:
                return pairs
            price = quotient

    def _pair_equal(
        self, rows: list[int], columns: list[int]
    ) -> tuple[Pairs, list[int], list[int]]:
        """Pair equal calls of one tool, unless other pairs may be better."""

        def write(call: Call) -> str:
            return canonical(mark_alternatives(call.arguments))

        found = pair_texts(
            {row: write(self._made[row]) for row in rows},
            {column: write(self._expected[column]) for column in columns},
        )
        _, spare, missing = found
        is_fuzzy = self._how != "exact" or self._expected[columns[0]].node.fuzzy
        # With defaults, two calls that equal no other may have more leaves in common with these.
        may_be_better = (is_fuzzy or self._unit == "leaves") and (spare or missing)
        if may_be_better and len(rows) * len(columns) <= MAX_PAIRS:
            return [], rows, columns
        return found

    def _is_same_tool(self, row: int, column: int) -> bool:
        call = self._made[row]
        return call.problem is None and call.name == self._expected[column].name

    def _gain(self, row: int, column: int) -> _Gain:
        """Return how much of a pair matches, and how many more leaves it has than its calls alone.

        Tiny amounts decide between equal scores.
        """
        if not self._is_same_tool(row, column):
            return 0.0, 0.0
        made, expected, pair = self._made[row], self._expected[column], self._compare(row, column)
        tiny = _RIGHT * pair.is_right + _NEAR / (1 + abs(row - column))
        if self._unit == "calls":
            return pair.similarity + tiny, 0.0
        alone = self._weigh_alone(made) + self._weigh_alone(expected)
        return 1 + pair.matched + tiny, pair.output + pair.reference - alone

    def _weigh_alone(self, call: Call) -> float:
        """Return the weight of the leaves that count if the call has no partner."""
        return 0.0 if self._how == "ignore" or call.problem is not None else call.weight

    def _compare(self, row: int, column: int) -> Pair:
        return Pair(
            self._made[row], self._expected[column], self._how, self._is_listed, self._pairing
        )

    # --- results -------------------------------------------------------------------------------

    def _compare_pair(self, row: int, column: int, *, in_order: bool) -> dict[str, Any]:
        """Compare two calls of the same tool; one that is out of order has no leaf that matches."""
        pair = self._compare(row, column)
        self._limits.update(pair.comparison.limits)
        self._count(pair.comparison, pair.matched * in_order, pair.output + pair.reference)
        kind, score = "right" if pair.is_right else "wrong_arguments", pair.similarity
        if not in_order:
            kind, score = "wrong_order", 0.0
        wrong = [] if pair.is_right else pair.list_wrong()
        name = self._made[row].name
        return _entry(kind, score, name, output=row, reference=column, arguments=wrong)

    def _count(self, comparison: Comparison, matched: float, leaves: float) -> None:
        """Add the leaves of a pair of calls, or of a single call."""
        self._matched.append(matched)
        self._leaves.append(leaves)
        comparison.count(self._fields)
        for each in comparison.outcomes:
            if each.kind == "match":
                graded = {"field": each.node.path, "kind": "match", "score": each.score}
                self._graded.append(graded)

    def _compare_leftovers(self, pairs: Pairs) -> Iterator[dict[str, Any]]:
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

    def _compare_unpaired(self, row: int | None, column: int | None) -> dict[str, Any]:
        """Return a call without a partner of the same tool; all its arguments are wrong."""
        call = None if row is None else self._made[row]
        wanted = None if column is None else self._expected[column]
        missing = self._list_arguments(wanted, "missing") if wanted else []
        places: dict[str, Any] = {"output": row, "reference": column}
        if call is None:
            name = wanted.name if wanted else ""
            return _entry("missing", 0.0, name, **places, arguments=missing)
        if call.problem is not None:
            return _entry("unreadable", 0.0, call.name, **places, problem=call.problem)
        extra = self._list_arguments(call, "extra")
        if wanted is None:
            return _entry("extra", 0.0, call.name, **places, arguments=extra)
        places["expected_name"] = wanted.name
        return _entry("wrong_name", 0.0, call.name, **places, arguments=missing + extra)

    def _list_arguments(self, call: Call, kind: Kind) -> list[dict[str, Any]]:
        """Count and list all arguments of a call that has no partner."""
        comparison, node = Comparison(), call.node.narrow(call.values)
        for name, value in call.values.items():
            if self._how != "ignore" and not is_optional(value):
                comparison.add_side(node.member(name), kind, value, f"/{escape(name)}")
        _, output, reference = comparison.figures()
        self._count(comparison, 0.0, output + reference)
        side = "reference" if kind == "missing" else "output"
        return [
            {"pointer": f"/{escape(name)}", "kind": kind, side: mark_alternatives(value)}
            for name, value in call.arguments.items()
        ]


def _entry(kind: str, score: float, name: str, **more: Any) -> dict[str, Any]:
    """Return the entry of a call in a result's metadata, with the members that it has."""
    found = {"kind": kind, "score": score, "name": name}
    return {**found, **{key: value for key, value in more.items() if value not in (None, [])}}
