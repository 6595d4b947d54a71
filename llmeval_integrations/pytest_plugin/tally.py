"""The figures of a session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from llmeval_integrations.runs.numbers import percent, percents
from llmeval_integrations.stats.groups import Figures, Group, mean_interval

Sent: TypeAlias = tuple[str, float | None, bool | None]
"""What goes along with a test's report: evaluator, score and verdict."""

_HEADS: Final = ("evaluator", "samples", "passed", "95 % interval", "unscored", "mean")


@dataclass
class _Tally:
    """One evaluator's figures over samples."""

    verdicts: list[tuple[bool, str | None]] = field(default_factory=list)
    """Whether each row passed, and its group."""
    unscored: int = 0
    scores: list[float] = field(default_factory=list)

    def add(self, said: Sent, group: str | None) -> None:
        _, score, passed = said
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

    def cells(self) -> tuple[str, ...]:
        groups: dict[object, list[int]] = defaultdict(list)
        for number, (passed, group) in enumerate(self.verdicts):
            groups[number if group is None else group].append(int(passed))
        interval = None
        if self.verdicts:
            figures = Figures.of([float(passed) for passed, _ in self.verdicts])
            of_groups = [Group(len(each), sum(each)) for each in groups.values()]
            interval = mean_interval(figures, of_groups)
        return (
            str(len(self.scores) + self.unscored),
            "-" if self.rate is None else percent(self.rate),
            "-" if interval is None else percents(interval),
            str(self.unscored),
            f"{sum(self.scores) / len(self.scores):.4g}" if self.scores else "-",
        )


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
        """Write a table: a line for every evaluator, and for those of marked tests."""
        by_evaluator: dict[str, _Tally] = defaultdict(_Tally)
        for _, said, group in self._samples():
            by_evaluator[said[0]].add(said, group)
        marked = {
            f"{test}: {name}": each for (test, name), each in self._tallies_of_markers().items()
        }
        rows = [_HEADS, *((name, *each.cells()) for name, each in (by_evaluator | marked).items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:]))
            yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()

    def misses(self) -> dict[str, list[str]]:
        """Word, by marked test, where the pass rate is under what it asks for."""
        found: dict[str, list[str]] = defaultdict(list)
        for (test, evaluator), tally in self._tallies_of_markers().items():
            least = self._rates[test]
            if least < 1 and (tally.rate or 0.0) < least:
                rate = "nothing" if tally.rate is None else percent(tally.rate)
                found[test].append(f"{evaluator} passed {rate}, under min_pass_rate={least:g}")
        return found

    def _tallies_of_markers(self) -> dict[tuple[str, str], _Tally]:
        """Return the figures of marked tests, by test and evaluator."""
        found: dict[tuple[str, str], _Tally] = defaultdict(_Tally)
        for test, said, group in self._samples():
            if test in self._rates:
                found[test, said[0]].add(said, group)
        return found

    def _samples(self) -> Iterator[tuple[str, Sent, str | None]]:
        """Yield the test, what an evaluator said, and the group of each sample."""
        for test, found, group in self._found.values():
            for each in _merge_row(found) if test in self._rates else found:
                yield test, each, group


def _merge_row(found: list[Sent]) -> Iterator[Sent]:
    """Make one of all that each evaluator found for a row, which passes if all of it passes.

    What fails makes it fail; else what is unscored makes it unscored. Its score is the mean.
    """
    by_evaluator: dict[str, list[Sent]] = defaultdict(list)
    for each in found:
        by_evaluator[each[0]].append(each)
    for evaluator, said in by_evaluator.items():
        scores = [score for _, score, _ in said if score is not None]
        verdicts = [passed for _, score, passed in said if score is not None]
        if not scores or (len(scores) < len(said) and False not in verdicts):
            yield evaluator, None, None
            continue
        verdict = False if False in verdicts else None if None in verdicts else True
        yield evaluator, sum(scores) / len(scores), verdict
