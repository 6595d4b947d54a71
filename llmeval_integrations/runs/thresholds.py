"""Pass rates that a run must reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

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


def parse_max_errors(given: int | str) -> tuple[float, bool]:
    """Take `N` or `P%` apart: the number, and whether it is a share in per cent."""
    text = str(given).strip()
    is_share = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf") or (is_share and number > 100):
        raise InputError(f"max errors {given!r} is not a number such as 10, or a share such as 1%")
    return number, is_share


def too_many_errors(run: Run, most: tuple[float, bool]) -> Iterator[str]:
    """Word each evaluator with more error rows than are allowed."""
    number, is_share = most
    for name, figures in run.summary["evaluators"].items():
        errors, rows = figures["errors"], figures["n"]
        if errors > (number * rows / 100 if is_share else number):
            allowed = f"{number:g}%" if is_share else f"{number:g}"
            yield f"{name}: {errors} of {rows} rows are errors, more than {allowed}"


def missed(run: Run, thresholds: Mapping[str, float]) -> Iterator[str]:
    """Word each threshold that the run misses; one without a rated row is missed."""
    for name, rate in thresholds.items():
        reached = run.summary["evaluators"][name]["pass_rate"]
        if reached is None:
            yield f"{name}: no row passed or failed, so the rate {rate:g} is not reached"
        elif reached < rate:
            yield f"{name}: the pass rate {reached:.6g} is under {rate:g}"
