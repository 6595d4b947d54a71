"""Compare the calls that a model made with the expected ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from math import fsum
from operator import itemgetter
from typing import Any, Final, Literal

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.values import SCALARS, escape
from llmeval_integrations.matching.assignment import Pairs
from llmeval_integrations.matching.comparison import Comparison, compare_in_trial
from llmeval_integrations.matching.node import AnyOf, Kind, is_optional
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.tool_calls.pairing import NEAR, CallPairing, Gain, Positions
from llmeval_integrations.tool_calls.read import mark_alternatives
from llmeval_integrations.tool_calls.tools import Call, WrongPlace

Arguments = Literal["exact", "subset", "superset", "ignore"]
CallOrder = Literal["any", "strict"]
Score = Literal["calls", "leaves"]

CALL_KINDS: Final = (
    *("unreadable", "wrong_name", "missing", "extra"),
    *("wrong_order", "wrong_arguments", "right"),
)
"""The kinds of a compared call, the worst first."""

_RIGHT: Final = 1e-6
"""The extra gain of a right call: of pairings of the same score, the one with the most is chosen.
It is too small to outweigh an argument."""


class Pair:
    """The arguments of a call, compared with those of an expected call of the same tool."""

    def __init__(self, made: Call, expected: Call, how: Arguments, pairing: Pairing) -> None:
        here, there = made.values, expected.values
        if how in ("superset", "ignore"):
            here = {name: value for name, value in here.items() if name in there}
        if how in ("subset", "ignore"):
            there = {name: value for name, value in there.items() if name in made.values}
        comparison = self.comparison = Comparison(pairing)
        comparison.compare_objects(made.node, here, there, "")
        self.matched, self.output, self.reference = comparison.figures()
        wrong = [one for one in comparison.outcomes if one.kind != "match" and one.node.weight > 0]
        self.is_right = not wrong
        self.similarity = (1 + self.matched) / (1 + max(self.output, self.reference))
        """The share of the name and the leaves of arguments that is right, from 0 to 1."""


def find_wrong(comparison: Comparison) -> dict[tuple[str, str], WrongPlace]:
    """Return the wrong places by pointer and kind.

    An object or array that is missing or extra is one place. An object or array with alternatives
    is held against the nearest.
    """
    found: dict[tuple[str, str], WrongPlace] = {}
    for one in comparison.outcomes:
        if one.kind == "match" or not one.node.weight > 0:
            continue
        if one.within is not None:
            side = "reference" if one.kind == "missing" else "output"
            value = mark_alternatives(comparison.sides[one.within, one.kind])
            found[one.within, one.kind] = {"pointer": one.within, "kind": one.kind, side: value}
            continue
        if one.kind == "wrong_type":  # one mistake together with the value that it replaces
            found.pop((one.pointer, "missing"), None)
            found.pop((one.pointer, "extra"), None)
        if type(one.reference) is AnyOf and one.output is not MISSING:
            kinds = map(type, (one.output, *one.reference.values))
            if not SCALARS.issuperset(kinds):  # otherwise there is only this place
                near = comparison.choose_nearest(one.node, one.output, one.reference, one.pointer)
                if any(each.pointer != one.pointer for each in near.outcomes):
                    found.update(find_wrong(near))
                    continue
        place: WrongPlace = {"pointer": one.pointer, "kind": one.kind}
        if one.output is not MISSING:
            place["output"] = one.output
        if one.reference is not MISSING:
            place["reference"] = mark_alternatives(one.reference)
        place["field"] = one.node.path
        if one.alone is not None:
            place["alone"] = one.alone
        remark = one.node.remark
        if remark and (said := remark(one.output, place.get("reference"))):
            place["remark"] = said
        found[one.pointer, one.kind] = place
    return found


@dataclass
class CallComparison:
    """Pairs calls of the same tool one to one, and compares them."""

    made: Sequence[Call]
    expected: Sequence[Call]
    arguments: Arguments
    score: Score
    _pairing: Pairing = field(default_factory=partial(Pairing, compare_in_trial))
    _compared: list[tuple[Comparison, float, float]] = field(default_factory=list)
    """The arguments of each pair or single call, how much matches, and the leaves of both sides."""
    _entries: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What is said of each expected call, by its position."""
    _extra: list[dict[str, Any]] = field(default_factory=list)
    _limits: set[str] = field(default_factory=set)

    def compare(
        self, call_order: CallOrder, before: Sequence[tuple[int, int]]
    ) -> tuple[float, dict[str, Any]]:
        """Return the score, and the metadata of the result.

        `before` are pairs of positions of expected calls. If one is violated, the call that came
        too early is wrong.
        """
        pairs = self._pair(call_order)
        early = set()
        if before:
            rows = {column: row for row, column in pairs}
            early = {b for a, b in before if a in rows and b in rows and rows[b] < rows[a]}
        for row, column in pairs:
            self._compare_pair(row, column, in_order=column not in early)
        if not len(pairs) == len(self.made) == len(self.expected):
            self._compare_leftovers(pairs)
        return self._summarize()

    def _summarize(self) -> tuple[float, dict[str, Any]]:
        """Return the score, and the metadata of the result.

        The score is F1 over the calls, or over their names and the leaves of their arguments.
        `calls` are first the expected ones in their order, and then extra ones.
        """
        calls = [*map(self._entries.__getitem__, range(len(self.expected))), *self._extra]
        called, expected = len(self.made), len(self.expected)
        kinds, both = Counter(map(itemgetter("kind"), calls)), called + expected
        right, matched, total = kinds["right"], 0.0, float(both)
        if self.score == "calls":
            matched = fsum(map(itemgetter("score"), calls))
        else:
            matched = right + kinds["wrong_arguments"] + fsum(map(itemgetter(1), self._compared))
            total += fsum(map(itemgetter(2), self._compared))
        fields: dict[str, dict[Kind, int]] = {}
        graded: list[WrongPlace] = []  # leaves that match with a score below 1
        for comparison, _, _ in self._compared:
            comparison.count(fields)
            self._limits.update(comparison.limits)
            for each in comparison.outcomes:
                if each.kind == "match":
                    leaf = {"field": each.node.path, "kind": "match", "score": each.score}
                    graded.append(leaf)
        found: dict[str, Any] = {
            "calls": calls,
            "called": called,
            "expected": expected,
            "right": right,
            "precision": right / (called or 1) if both else 1.0,
            "recall": right / (expected or 1) if both else 1.0,
            "f1": 2 * right / both if both else 1.0,
            "fields": fields,
        }
        if graded:
            found["graded"] = graded
        if self._limits:
            found["limit_reached"] = sorted(self._limits)
        return 2 * matched / total if both else 1.0, found

    # --- pairing -------------------------------------------------------------------------------

    def _pair(self, order: CallOrder) -> Pairs:
        """Pair calls so that the score is the highest; in strict order, all tools are one group."""
        made: defaultdict[str, list[int]] = defaultdict(list)
        expected: defaultdict[str, list[int]] = defaultdict(list)
        for row, call in enumerate(self.made):
            if call.problem is None:  # an unreadable call takes the place of a leftover one later
                made[call.name if order == "any" else ""].append(row)
        for column, call in enumerate(self.expected):
            expected[call.name if order == "any" else ""].append(column)
        pairs: Pairs = []
        groups = []
        for name, columns in expected.items():
            rows = made[name]
            if len(rows) * len(columns) > 1:
                groups.append((rows, columns))
            elif rows and self.made[rows[0]].name == self.expected[columns[0]].name:
                pairs.append((rows[0], columns[0]))
        if groups:
            pairs = self._choose(order, pairs, groups)
        return sorted(pairs)

    def _choose(
        self, order: CallOrder, settled: Pairs, groups: list[tuple[Positions, Positions]]
    ) -> Pairs:
        """Choose the pairs of groups of calls, beside the settled pairs."""
        calls, leaves = [*self.made, *self.expected], None
        if self.score == "leaves":
            leaves = len(calls) + fsum(map(self._weigh_alone, calls))
        is_exact = self.arguments == "exact"
        pairing = CallPairing(self.made, self.expected, self._gain, is_exact, leaves)
        if order == "any":
            pairs = pairing.pair_in_any_order(settled, groups)
        else:
            pairs = pairing.pair_in_order(*groups[0])
        if pairing.is_limited:
            self._limits.add("")
        return pairs

    def _gain(self, row: int, column: int) -> Gain:
        """Return how much of a pair matches, and how many more leaves it has than its calls alone.

        Tiny amounts decide between equal scores.
        """
        made, expected = self.made[row], self.expected[column]
        if made.name != expected.name:
            return 0.0, 0.0
        pair = Pair(made, expected, self.arguments, self._pairing)
        tiny = _RIGHT * pair.is_right + NEAR / (1 + abs(row - column))
        if self.score == "calls":
            return pair.similarity + tiny, 0.0
        alone = self._weigh_alone(made) + self._weigh_alone(expected)
        return 1 + pair.matched + tiny, pair.output + pair.reference - alone

    def _weigh_alone(self, call: Call) -> float:
        """Return the weight of the leaves that count if the call has no partner."""
        return 0.0 if self.arguments == "ignore" or call.problem is not None else call.weight

    # --- results -------------------------------------------------------------------------------

    def _compare_pair(self, row: int, column: int, *, in_order: bool) -> None:
        """Compare two calls of the same tool; one that is out of order has no leaf that matches."""
        made, expected = self.made[row], self.expected[column]
        pair = Pair(made, expected, self.arguments, self._pairing)
        matched, leaves = pair.matched, pair.output + pair.reference
        if not in_order:
            alone = self._weigh_alone(made) + self._weigh_alone(expected)
            matched, leaves = 0.0, max(leaves, alone)  # not fewer than in any order
        self._compared.append((pair.comparison, matched, leaves))
        kind, score = "right" if pair.is_right else "wrong_arguments", pair.similarity
        if not in_order:
            kind, score = "wrong_order", 0.0
        entry = {"kind": kind, "score": score, "name": made.name, "output": row}
        self._entries[column] = {**entry, "reference": column}
        if not pair.is_right:
            self._entries[column]["arguments"] = [*find_wrong(pair.comparison).values()]

    def _compare_leftovers(self, pairs: Pairs) -> None:
        """Compare the calls that are in no pair.

        A spare call with the name of an expected one is out of order, or unreadable. The others
        are paired in their order: a wrong tool was called in the place of the expected one.
        """
        used, met = {row for row, _ in pairs}, {column for _, column in pairs}
        wanted = [column for column in range(len(self.expected)) if column not in met]
        others = []
        for row, call in enumerate(self.made):
            if row in used:
                continue
            column = next((n for n in wanted if self.expected[n].name == call.name), None)
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
        made = None if row is None else self.made[row]
        expected = None if column is None else self.expected[column]
        problem = None if made is None else made.problem
        missing = self._list_arguments(expected, "missing") if expected else []
        extra = self._list_arguments(made, "extra") if made and problem is None else []
        kind = "extra" if expected is None else "missing" if made is None else "wrong_name"
        if problem is not None:
            kind = "unreadable"
        entry: dict[str, Any] = {"kind": kind, "score": 0.0}
        if expected is not None:
            entry.update(name=expected.name, reference=column)
        if made is not None:
            entry.update(name=made.name, output=row)
            if expected is not None and expected.name != made.name:
                entry["expected_name"] = expected.name
        if problem is not None:
            entry["problem"] = problem
        elif missing or extra:
            entry["arguments"] = missing + extra
        if column is None:
            self._extra.append(entry)
        else:
            self._entries[column] = entry

    def _list_arguments(self, call: Call, kind: Kind) -> list[WrongPlace]:
        """Count and list all arguments of a call that has no partner."""
        comparison, node = Comparison(), call.node.narrow(call.values)
        for name, value in call.values.items():
            if self.arguments != "ignore" and not is_optional(value):
                comparison.add_side(node.member(name), kind, value, f"/{escape(name)}")
        _, output, reference = comparison.figures()
        self._compared.append((comparison, 0.0, output + reference))
        side = "reference" if kind == "missing" else "output"
        return [
            {"pointer": f"/{escape(name)}", "kind": kind, side: mark_alternatives(value)}
            for name, value in call.arguments.items()
        ]
