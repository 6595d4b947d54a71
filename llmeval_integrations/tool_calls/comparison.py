"""Compare the calls that a model made with the expected ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from math import fsum
from operator import itemgetter
from typing import Any, Final, Literal, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.alignment import best_path
from llmeval_integrations.matching.assignment import Pairs, best_pairs, pair_texts
from llmeval_integrations.matching.comparison import Comparison, full_gain
from llmeval_integrations.matching.node import Kind, is_optional
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.tool_calls.arguments import Arguments, Call, Pair, find_wrong
from llmeval_integrations.tool_calls.read import mark_alternatives

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
        is_listed: bool,
        call_order: CallOrder,
        score: Score,
        before: Sequence[tuple[int, int]] = (),
    ) -> None:
        """`before` are pairs of positions of expected calls.

        If a pair of `before` is violated, the call that came too early is wrong.
        """
        self._made, self._expected = made, expected
        self._how, self._is_listed = arguments, is_listed
        self._unit, self._pairing = score, Pairing(full_gain)
        self._matched: list[float] = []
        self._leaves: list[float] = []  # of both sides
        self._fields: dict[str, dict[Kind, int]] = {}
        self._graded: list[dict[str, Any]] = []  # leaves that match with a score below 1
        self._limits: set[str] = set()
        self._calls: list[dict[str, Any]] = [{}] * len(expected)
        pairs = self._pair(call_order)
        early = set()
        if before:
            rows = {column: row for row, column in pairs}
            early = {b for a, b in before if a in rows and b in rows and rows[b] < rows[a]}
        for row, column in pairs:
            self._compare_pair(row, column, in_order=column not in early)
        if not len(pairs) == len(made) == len(expected):
            self._compare_leftovers(pairs)

    def summarize(self) -> tuple[float, dict[str, Any]]:
        """Return the score, and the metadata of the result.

        The score is F1 over the calls, or over their names and the leaves of their arguments.
        `calls` are first the expected ones in their order, and then extra ones.
        """
        called, expected = len(self._made), len(self._expected)
        kinds, both = Counter(map(itemgetter("kind"), self._calls)), called + expected
        right, matched, total = kinds["right"], 0.0, float(both)
        if self._unit == "calls":
            matched = fsum(map(itemgetter("score"), self._calls))
        else:
            matched = right + kinds["wrong_arguments"] + fsum(self._matched)
            total += fsum(self._leaves)
        found: dict[str, Any] = {
            "calls": self._calls,
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
        if self._limits:
            found["limit_reached"] = sorted(self._limits)
        return 2 * matched / total if both else 1.0, found

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
                for row, column in zip(rows, columns):
                    if self._made[row].name == self._expected[column].name:
                        pairs.append((row, column))
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
        alone = len(calls) + fsum(map(self._weigh_alone, calls)) if is_quotient else 0.0
        price = 0.0
        while True:
            pairs, chosen = [*settled], [*known]
            for rows, columns, gains in tables:
                most = max(leaves for row in gains for _, leaves in row)
                worth = [[gain + price * (most - leaves) for gain, leaves in row] for row in gains]
                for row, column in best_pairs(worth):
                    pairs.append((rows[row], columns[column]))
                    chosen.append(gains[row][column])
            if not is_quotient:
                return pairs
            matched, leaves = map(fsum, zip(*chosen))
            quotient = matched / (alone + leaves)
            if quotient <= price + _NEAR:
                return pairs
            price = quotient

    def _pair_equal(
        self, rows: list[int], columns: list[int]
    ) -> tuple[Pairs, list[int], list[int]]:
        """Pair equal calls of one tool, unless other pairs may be better."""
        wanted = {column: self._expected[column].arguments for column in columns}
        found = pair_texts(
            {row: canonical(self._made[row].arguments) for row in rows},
            {column: canonical(mark_alternatives(its)) for column, its in wanted.items()},
        )
        _, spare, missing = found
        is_fuzzy = self._how != "exact" or self._expected[columns[0]].node.fuzzy
        # With defaults, two calls that equal no other may have more leaves in common with these.
        may_be_better = (is_fuzzy or self._unit == "leaves") and (spare or missing)
        if may_be_better and len(rows) * len(columns) <= MAX_PAIRS:
            return [], rows, columns
        return found

    def _gain(self, row: int, column: int) -> _Gain:
        """Return how much of a pair matches, and how many more leaves it has than its calls alone.

        Tiny amounts decide between equal scores.
        """
        made, expected = self._made[row], self._expected[column]
        if made.name != expected.name:
            return 0.0, 0.0
        pair = Pair(made, expected, self._how, self._is_listed, self._pairing)
        tiny = _RIGHT * pair.is_right + _NEAR / (1 + abs(row - column))
        if self._unit == "calls":
            return pair.similarity + tiny, 0.0
        alone = self._weigh_alone(made) + self._weigh_alone(expected)
        return 1 + pair.matched + tiny, pair.output + pair.reference - alone

    def _weigh_alone(self, call: Call) -> float:
        """Return the weight of the leaves that count if the call has no partner."""
        return 0.0 if self._how == "ignore" or call.problem is not None else call.weight

    # --- results -------------------------------------------------------------------------------

    def _compare_pair(self, row: int, column: int, *, in_order: bool) -> None:
        """Compare two calls of the same tool; one that is out of order has no leaf that matches."""
        made, expected = self._made[row], self._expected[column]
        pair = Pair(made, expected, self._how, self._is_listed, self._pairing)
        self._limits.update(pair.comparison.limits)
        self._count(pair.comparison, pair.matched * in_order, pair.output + pair.reference)
        kind, score = "right" if pair.is_right else "wrong_arguments", pair.similarity
        if not in_order:
            kind, score = "wrong_order", 0.0
        entry = {"kind": kind, "score": score, "name": made.name, "output": row}
        self._calls[column] = {**entry, "reference": column}
        if not pair.is_right:
            wrong = find_wrong(pair.comparison).values()
            self._calls[column]["arguments"] = [*wrong, *pair.invalid]

    def _count(self, comparison: Comparison, matched: float, leaves: float) -> None:
        """Add the leaves of a pair of calls, or of a single call."""
        self._matched.append(matched)
        self._leaves.append(leaves)
        comparison.count(self._fields)
        for each in comparison.outcomes:
            if each.kind == "match":
                graded = {"field": each.node.path, "kind": "match", "score": each.score}
                self._graded.append(graded)

    def _compare_leftovers(self, pairs: Pairs) -> None:
        """Compare the calls that are in no pair.

        A spare call with the name of an expected one is out of order, or unreadable. The others
        are paired in their order: a wrong tool was called in the place of the expected one.
        """
        used, met = {row for row, _ in pairs}, {column for _, column in pairs}
        wanted = [column for column in range(len(self._expected)) if column not in met]
        others = []
        for row, call in enumerate(self._made):
            if row in used:
                continue
            column = next((n for n in wanted if self._expected[n].name == call.name), None)
            if column is None:
                others.append(row)
                continue
            wanted.remove(column)
            if call.problem is None:
                self._compare_pair(row, column, in_order=False)
            else:
                self._add_unpaired(row, column)
        for pair in zip_longest(others, wanted):
            self._add_unpaired(*pair)

    def _add_unpaired(self, row: int | None, column: int | None) -> None:
        """Add a call without a partner of the same tool; all its arguments are wrong."""
        call = None if row is None else self._made[row]
        wanted = None if column is None else self._expected[column]
        problem = None if call is None else call.problem
        missing = self._list_arguments(wanted, "missing") if wanted else []
        extra = self._list_arguments(call, "extra") if call and problem is None else []
        kind = "extra" if wanted is None else "missing" if call is None else "wrong_name"
        entry: dict[str, Any]
        entry = {"kind": "unreadable" if problem is not None else kind, "score": 0.0, "name": ""}
        if wanted is not None:
            entry.update(name=wanted.name, reference=column)
        if call is not None:
            entry.update(name=call.name, output=row)
        if wanted is not None and entry["kind"] == "wrong_name":
            entry["expected_name"] = wanted.name
        if problem is not None:
            entry["problem"] = problem
        elif missing or extra:
            entry["arguments"] = missing + extra
        if column is None:
            self._calls.append(entry)
        else:
            self._calls[column] = entry

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
