"""Pass rates that a run must reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from llmeval_integrations.errors import InputError
from llmeval_integrations.runs.hints import hint
from llmeval_integrations.runs.run import Run


def parse_threshold(text: str) -> tuple[str, float]:
    """Take `NAME=RATE` apart."""
    name, _, rate = text.rpartition("=")
    try:
        if name:
            return name, float(rate)
    except ValueError:
        pass
    raise InputError(f"--fail-under {text!r} is not NAME=RATE with a rate such as 0.9")


def check_thresholds(thresholds: Mapping[str, float], evaluators: Collection[str]) -> None:
    """Raise InputError for a threshold of no evaluator of the run, or one outside 0 to 1."""
    for name, rate in thresholds.items():
        if name not in evaluators:
            raise InputError(
                f"threshold: no evaluator of this run is called {name!r}; {hint(name, evaluators)}"
            )
        if not 0 <= rate <= 1:
            raise InputError(f"threshold: {name}={rate:g} is not a rate from 0 to 1")


@dataclass(frozen=True)
class Bound:
    """The most that may go wrong."""

    number: float
    """How many, or how many per cent."""

    is_share: bool
    """Whether it is a share in per cent."""

    def is_exceeded_by(self, count: int, total: int) -> bool:
        """Whether so many of all are more than it allows."""
        return count > (self.number * total / 100 if self.is_share else self.number)

    def __str__(self) -> str:
        return f"{self.number:g}%" if self.is_share else f"{self.number:g}"


def parse_bound(given: int | str, name: str) -> Bound:
    """Read `N` or `P%`; raise InputError, which calls it by its name, for anything else."""
    text = str(given).strip()
    is_share = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    fits = number <= 100 if is_share else number.is_integer()
    if not (number >= 0 and fits):
        raise InputError(
            f"{name} {given!r} is not a whole number such as 10, or a share such as 1%"
        )
    return Bound(number, is_share)


def too_many_errors(run: Run, most: Bound) -> Iterator[str]:
    """Word each evaluator with more error rows than are allowed."""
    for name, figures in run.summary["evaluators"].items():
        errors, rows = figures["errors"], figures["n"]
        if most.is_exceeded_by(errors, rows):
            yield f"{name}: {errors} of {rows} rows are errors, more than {most}"


def missed(run: Run, thresholds: Mapping[str, float]) -> Iterator[str]:
    """Word each threshold that the run misses; one without a rated row is missed."""
    for name, rate in thresholds.items():
        reached = run.summary["evaluators"][name]["pass_rate"]
        if reached is None:
            yield f"{name}: no row passed or failed, so the rate {rate:g} is not reached"
        elif reached < rate:
            yield f"{name}: the pass rate {reached:.6g} is under {rate:g}"
