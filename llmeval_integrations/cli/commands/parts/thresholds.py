"""What a run must reach: pass rates, mean scores, F1 of single fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from math import isfinite
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import is_same
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.runs.run import Run

MEAN: Final = ".mean"
"""What stands behind an evaluator's name where its mean score is meant."""

F1S: Final = (".micro", ".macro")
"""What stands there where F1 over all leaves of the run is meant, or the mean F1 of its samples."""

_EXACT: Final = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def parse_threshold(text: str) -> tuple[str, float]:
    """Take `TARGET=RATE` apart; the rate may be in per cent."""
    target, _, rate = text.rpartition("=")
    try:
        if target:
            return target, parse_rate(rate)
    except ValueError:
        pass
    raise InputError(
        f"--fail-under {text!r} is not NAME=RATE, NAME.mean=SCORE, NAME.micro=F1, NAME.macro=F1 or "
        "NAME/FIELD=F1 with a rate "
        "such as 0.9 or 90%"
    )


def parse_rate(given: float | str) -> float:
    """Read a number, or a share in per cent; raise ValueError for anything else."""
    if isinstance(given, str) and given.endswith("%"):
        return round(float(given[:-1]) / 100, 12)  # 99.9 % is 0.999, and not a little more
    return float(given)


def check_thresholds(thresholds: Mapping[str, float], evaluators: Mapping[str, Evaluator]) -> None:
    """Raise InputError for a threshold of what the run does not have, or outside 0 to 1."""
    for target, rate in thresholds.items():
        name = _evaluator_of(target, evaluators)
        if name not in evaluators:
            raise InputError(
                f"threshold: no evaluator of this run is called {name!r}; {hint(name, evaluators)}"
            )
        rest = target.removeprefix(name)
        if (rest.startswith("/") or rest in F1S) and evaluators[name].breakdown() is None:
            raise InputError(f"threshold: {target}: {name} tells nothing of single fields")
        if not isfinite(rate) or (rest != MEAN and not 0 <= rate <= 1):
            meant = f"; did you mean {rate:g}%?" if 1 < rate <= 100 else ""
            raise InputError(f"threshold: {target}={rate:g} is not a rate from 0 to 1{meant}")


def _evaluator_of(target: str, evaluators: Collection[str]) -> str:
    """Return the name of the evaluator that a threshold is for, which may hold any signs itself."""
    fit = [
        name
        for name in evaluators
        if target in (name, *(name + rest for rest in (MEAN, *F1S)))
        or target.startswith(f"{name}/")
    ]
    return max(fit, key=len, default=target)


@dataclass(frozen=True)
class Bound:
    """The most that may go wrong."""

    number: Decimal
    """How many, or how many per cent, as somebody wrote it: a float is a little more or less."""

    is_share: bool
    """Whether it is a share in per cent."""

    def is_exceeded_by(self, count: int, total: int) -> bool:
        """Whether so many of all are more than it allows."""
        if not self.is_share:
            return count > self.number
        return 100 * count > _EXACT.multiply(self.number, Decimal(total))

    def __str__(self) -> str:
        return f"{self.number:g}%" if self.is_share else f"{self.number:g}"


def parse_bound(given: int | str, name: str) -> Bound:
    """Read `N` or `P%`; raise InputError, which calls it by its name, for anything else."""
    text = str(given).strip()
    is_share = text.endswith("%")
    try:
        number = Decimal(text.removesuffix("%"))
    except InvalidOperation:
        number = Decimal("NaN")
    fits = number.is_finite() and number >= 0
    if not fits or (number > 100 if is_share else number != number.to_integral_value()):
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
    evaluators = run.summary["evaluators"]
    for target, rate in thresholds.items():
        name = _evaluator_of(target, evaluators)
        figures, rest = evaluators[name], target.removeprefix(name)
        if rest.startswith("/"):
            fields = figures.get("fields", {})
            if rest not in fields:
                yield f"{target}: no sample has this field; {hint(rest, fields)}"
                continue
            what, reached = "F1", fields[rest]["f1"]
        elif rest in F1S:
            what, reached = f"{rest[1:]} F1", figures[rest[1:]]["f1"]
        else:
            what, key = ("mean", "mean") if rest else ("pass rate", "pass_rate")
            reached = figures[key]
        if reached is None:
            why = "no row passed or failed, so" if what == "pass rate" else "there is none, so"
            yield f"{target}: {why} the {what} {rate:g} is not reached"
        elif reached < rate and not is_same(reached, rate):
            yield f"{target}: the {what} {reached:.6g} is under {rate:g}"
