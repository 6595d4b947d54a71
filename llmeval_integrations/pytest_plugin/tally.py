"""The figures of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from llmeval_integrations.core.quoting import shorten_middle
from llmeval_integrations.runs.numbers import percent, percents
from llmeval_integrations.stats.groups import Figures, Group, mean_interval

Sent: TypeAlias = tuple[str, str, float | None, bool | None]
"""What goes along with a test's report: evaluator, options, score and verdict."""

_HEADS: Final = ("evaluator", "samples", "passed", "95 % interval", "unscored", "mean")
_MOST_SETUPS: Final = 10
_LONGEST_SETUP: Final = 60


class _Tally:
    """One evaluator's figures over samples."""

    def __init__(self) -> None:
        self.verdicts: list[tuple[bool, str | None]] = []
        """Whether each row passed, and its group."""
        self.unscored = 0
        self.scores: list[float] = []

    def add(self, score: float | None, passed: bool | None, group: str | None) -> None:
        if score is None:
            self.unscored += 1
            return
        self.scores.append(score)
        if passed is not None:
            self.verdicts.append((passed, group))

    @property
    def rate(self) -> float | None:
        passes = sum(passed for passed, _ in self.verdicts)
        return passes / len(self.verdicts) if self.verdicts else None

    def cells(self) -> Iterator[str]:
        yield str(len(self.scores) + self.unscored)
        if self.rate is None:
            yield from ("-", "-")
        else:
            groups: dict[object, list[int]] = {}
            for number, (passed, group) in enumerate(self.verdicts):
                groups.setdefault(number if group is None else group, []).append(int(passed))
            figures = Figures.of([float(passed) for passed, _ in self.verdicts])
            interval = mean_interval(
                figures, [Group(len(each), sum(each)) for each in groups.values()]
            )
            yield percent(self.rate)
            yield "-" if interval is None else percents(interval)
        yield str(self.unscored)
        yield f"{sum(self.scores) / len(self.scores):.4g}" if self.scores else "-"


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

        For it is sent after each phase and subtest, and anew where a test is run again. `rate` is
        the pass rate that a marked test asks for, `group` the group of the row.
        """
        if rate is not None:
            self._rates[test] = rate
        self._found[nodeid] = test, found, group

    def lines(self) -> Iterator[str]:
        """Write a table: a line for every evaluator, by its options, and for marked tests."""
        tests, setups = self._count()
        rows: list[tuple[str, ...]] = [_HEADS]
        for evaluator, tallies in setups.items():
            if len(tallies) > _MOST_SETUPS:
                total = _Tally()
                for tally in tallies.values():
                    total.verdicts += tally.verdicts
                    total.unscored += tally.unscored
                    total.scores += tally.scores
                rows.append((f"{evaluator}, set up in {len(tallies)} ways", *total.cells()))
                continue
            for setup, tally in tallies.items():
                options = f"({shorten_middle(setup, _LONGEST_SETUP)})" if len(tallies) > 1 else ""
                rows.append((f"{evaluator}{options}", *tally.cells()))
        rows += [
            (f"{test}: {evaluator}", *tally.cells())
            for (test, evaluator), tally in tests.items()
            if test in self._rates
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:]))
            yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()

    def misses(self) -> dict[str, list[str]]:
        """Word, by marked test, where the pass rate is under what it asks for."""
        found: dict[str, list[str]] = {}
        for (test, evaluator), tally in self._count()[0].items():
            least = self._rates.get(test, 1)
            if least < 1 and (tally.rate or 0.0) < least:
                rate = "nothing" if tally.rate is None else percent(tally.rate)
                line = f"{evaluator} passed {rate}, under min_pass_rate={least:g}"
                found.setdefault(test, []).append(line)
        return found

    def _count(self) -> tuple[dict[tuple[str, str], _Tally], dict[str, dict[str, _Tally]]]:
        """Return the figures by test and evaluator, and by evaluator and its options."""
        tests: dict[tuple[str, str], _Tally] = {}
        setups: dict[str, dict[str, _Tally]] = {}
        for test, found, group in self._found.values():
            samples = _merge_row(found) if test in self._rates else found
            for evaluator, setup, score, passed in samples:
                by_setup = setups.setdefault(evaluator, {})
                tests.setdefault((test, evaluator), _Tally()).add(score, passed, group)
                by_setup.setdefault(setup, _Tally()).add(score, passed, group)
        return tests, setups


def _merge_row(found: list[Sent]) -> Iterator[Sent]:
    """Make one of all that each evaluator found for a row, which passes if all of it passes.

    What fails makes it fail; else what is unscored makes it unscored. Its score is the mean.
    """
    by_evaluator: dict[str, list[Sent]] = {}
    for each in found:
        by_evaluator.setdefault(each[0], []).append(each)
    for evaluator, said in by_evaluator.items():
        setup = said[0][1]
        scores = [score for _, _, score, _ in said if score is not None]
        verdicts = [passed for _, _, score, passed in said if score is not None]
        if not scores or (len(scores) < len(said) and False not in verdicts):
            yield evaluator, setup, None, None
            continue
        verdict = False if False in verdicts else None if None in verdicts else True
        yield evaluator, setup, sum(scores) / len(scores), verdict
