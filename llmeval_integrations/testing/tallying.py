"""What the evaluators of a session found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from llmeval_integrations.intervals import wilson
from llmeval_integrations.runs.numbers import percent, percents

_HEADS: Final = ("evaluator", "tests", "passed", "95 % interval", "unscored", "mean")


class _Tally:
    """One evaluator's figures in one test, over all rows."""

    def __init__(self) -> None:
        self.passes = 0
        self.rated = 0
        self.unscored = 0
        self.scores: list[float] = []

    def add(self, score: float | None, passed: bool | None) -> None:
        if score is None:
            self.unscored += 1
        else:
            self.scores.append(score)
        if passed is not None and score is not None:
            self.rated += 1
            self.passes += passed

    @property
    def rate(self) -> float | None:
        return self.passes / self.rated if self.rated else None

    def cells(self) -> Iterator[str]:
        yield str(len(self.scores) + self.unscored)
        yield "-" if self.rate is None else percent(self.rate)
        interval = wilson(self.passes, self.rated)
        yield "-" if interval is None else percents(interval)
        yield str(self.unscored)
        yield f"{sum(self.scores) / len(self.scores):.4g}" if self.scores else "-"


class Tallies:
    """The figures of a session, by test and evaluator."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._rates: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._tallies)

    def add(self, nodeid: str, found: Iterable[Sequence[Any]], rate: float | None) -> None:
        """Count in what one test found; `rate` is the pass rate that it asks for."""
        test = nodeid.partition("[")[0]
        if rate is not None:
            self._rates[test] = rate
        for evaluator, score, passed, *_ in found:
            self._tallies.setdefault((test, evaluator), _Tally()).add(score, passed)

    def lines(self) -> Iterator[str]:
        """Write a table: a line for every evaluator, all tests together, and for marked tests."""
        rows: list[tuple[str, ...]] = [_HEADS]
        by_evaluator: dict[str, _Tally] = {}
        for (_, evaluator), tally in self._tallies.items():
            _merge(by_evaluator.setdefault(evaluator, _Tally()), tally)
        rows += [(name, *tally.cells()) for name, tally in by_evaluator.items()]
        rows += [
            (f"{test}: {evaluator}", *tally.cells())
            for (test, evaluator), tally in self._tallies.items()
            if test in self._rates
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:]))
            yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()

    def missed(self) -> dict[str, list[str]]:
        """Word, by marked test, where the pass rate is under what it asks for."""
        missed: dict[str, list[str]] = {}
        for (test, evaluator), tally in self._tallies.items():
            least = self._rates.get(test, 1)
            if least < 1 and (tally.rate is None or tally.rate < least):
                rate = "nothing" if tally.rate is None else percent(tally.rate)
                line = f"{evaluator} passed {rate}, under min_pass_rate={least:g}"
                missed.setdefault(test, []).append(line)
        return missed


def _merge(into: _Tally, other: _Tally) -> None:
    into.passes += other.passes
    into.rated += other.rated
    into.unscored += other.unscored
    into.scores += other.scores
