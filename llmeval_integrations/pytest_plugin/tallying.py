"""What the evaluators of a session found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from llmeval_integrations.pytest_plugin.found import Sent
from llmeval_integrations.runs.numbers import percent, percents
from llmeval_integrations.stats.groups import Figures, Group, mean_interval
from llmeval_integrations.stats.intervals import Interval

_HEADS: Final = ("evaluator", "samples", "passed", "95 % interval", "unscored", "mean")
_MOST_SETUPS: Final = 10

_Setup: TypeAlias = tuple[str, ...]
"""The options that are not the default ones."""


class _Tally:
    """One evaluator's figures in one test, over all samples."""

    def __init__(self) -> None:
        self.verdicts: list[tuple[bool, str | None]] = []
        """Whether each row passed, and its group."""
        self.unscored = 0
        self.scores: list[float] = []
        self.setups: set[_Setup] = set()

    def add(self, score: float | None, passed: bool | None, group: str | None) -> None:
        if score is None:
            self.unscored += 1
        else:
            self.scores.append(score)
        if passed is not None and score is not None:
            self.verdicts.append((passed, group))

    @property
    def rate(self) -> float | None:
        passes = sum(passed for passed, _ in self.verdicts)
        return passes / len(self.verdicts) if self.verdicts else None

    def cells(self) -> Iterator[str]:
        yield str(len(self.scores) + self.unscored)
        yield "-" if self.rate is None else percent(self.rate)
        interval = self._interval()
        yield "-" if interval is None else percents(interval)
        yield str(self.unscored)
        yield f"{sum(self.scores) / len(self.scores):.4g}" if self.scores else "-"

    def _interval(self) -> Interval | None:
        """Return that of the pass rate, which knows that rows of one group belong together."""
        if not self.verdicts:
            return None
        groups: dict[object, list[int]] = {}
        for number, (passed, group) in enumerate(self.verdicts):
            groups.setdefault(number if group is None else group, []).append(int(passed))
        figures = Figures.of([float(passed) for passed, _ in self.verdicts])
        return mean_interval(figures, [Group(len(each), sum(each)) for each in groups.values()])


class Tallies:
    """The figures of a session, by test and evaluator.

    A sample is counted once: in a marked test that is its row, else each output that is evaluated.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, list[Sent], str | None]] = {}
        self._rates: dict[str, float] = {}

    def __bool__(self) -> bool:
        return any(found for _, found, _ in self._found.values())

    def note(
        self, nodeid: str, test: str, found: list[Sent], rate: float | None, group: str | None
    ) -> None:
        """Take what was found for a row or in a test so far, in place of what was noted before.

        For it is told after each phase and subtest, and anew where a test is run again. `rate` is
        the pass rate that a marked test asks for, `group` the group of the row.
        """
        if rate is not None:
            self._rates[test] = rate
        self._found[nodeid] = test, found, group

    def _tallies(self) -> dict[tuple[str, str], _Tally]:
        tallies: dict[tuple[str, str], _Tally] = {}
        for test, found, group in self._found.values():
            for evaluator, setup, _, _ in found:
                tallies.setdefault((test, evaluator), _Tally()).setups.add(tuple(setup))
            for evaluator, _, score, passed in _of_row(found) if test in self._rates else found:
                tallies[test, evaluator].add(score, passed, group)
        return tallies

    def lines(self) -> Iterator[str]:
        """Write a table: a line for every evaluator, all tests together, and for marked tests.

        What tests set up differently is summed apart, unless it is set up in very many ways.
        """
        rows: list[tuple[str, ...]] = [_HEADS]
        tallies = self._tallies()
        by_evaluator: dict[str, list[_Tally]] = {}
        for (_, evaluator), tally in tallies.items():
            by_evaluator.setdefault(evaluator, []).append(tally)
        for evaluator, each in by_evaluator.items():
            rows += [(name, *tally.cells()) for name, tally in _by_setup(evaluator, each)]
        rows += [
            (f"{test}: {evaluator}", *tally.cells())
            for (test, evaluator), tally in tallies.items()
            if test in self._rates
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:]))
            yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()

    def missed(self) -> dict[str, list[str]]:
        """Word, by marked test, where the pass rate is under what it asks for."""
        missed: dict[str, list[str]] = {}
        for (test, evaluator), tally in self._tallies().items():
            least = self._rates.get(test, 1)
            if least < 1 and (tally.rate or 0.0) < least:
                rate = "nothing" if tally.rate is None else percent(tally.rate)
                line = f"{evaluator} passed {rate}, under min_pass_rate={least:g}"
                missed.setdefault(test, []).append(line)
        return missed


def _of_row(found: list[Sent]) -> Iterator[Sent]:
    """Make one of all that each evaluator found for a row, which passes if all of it passes.

    What fails makes it fail; else what is unscored makes it unscored. Its score is the mean.
    """
    by_evaluator: dict[str, list[tuple[float | None, bool | None]]] = {}
    for evaluator, _, score, passed in found:
        by_evaluator.setdefault(evaluator, []).append((score, passed))
    for evaluator, each in by_evaluator.items():
        scored = [(score, passed) for score, passed in each if score is not None]
        verdicts = [passed for _, passed in scored]
        if not scored or (len(scored) < len(each) and False not in verdicts):
            yield evaluator, (), None, None
            continue
        verdict = False if False in verdicts else None if None in verdicts else True
        yield evaluator, (), sum(score for score, _ in scored) / len(scored), verdict


def _by_setup(evaluator: str, tallies: list[_Tally]) -> Iterator[tuple[str, _Tally]]:
    """Sum up an evaluator's figures, those of each set-up apart, named by where it is another.

    Tests that set it up in several ways are one of them, and so are all where there are very many.
    """
    setups = set().union(*(tally.setups for tally in tallies))
    sums: dict[_Setup | None, _Tally] = {}
    for tally in tallies:
        is_told = len(tally.setups) == 1 and len(setups) <= _MOST_SETUPS
        [setup] = tally.setups if is_told else [None]
        _merge(sums.setdefault(setup, _Tally()), tally)
    common = frozenset.intersection(*map(frozenset, setups))
    for setup, tally in sums.items():
        if len(setups) == 1:
            yield evaluator, tally
        elif setup is None:
            yield f"{evaluator}, set up in {len(tally.setups)} ways", tally
        else:
            options = (option for option in setup if option not in common)
            yield f"{evaluator}({', '.join(options)})", tally


def _merge(into: _Tally, other: _Tally) -> None:
    into.verdicts += other.verdicts
    into.unscored += other.unscored
    into.scores += other.scores
    into.setups |= other.setups
