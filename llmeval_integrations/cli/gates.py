"""Gates of a run: the pass rates, mean scores and F1 of fields that it must reach."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import is_same
from llmeval_integrations.core.quote import hint

_FORMS: Final = (
    "NAME=RATE (of rows that pass), NAME.mean=SCORE, NAME.micro=F1 (over all leaves), "
    "NAME.macro=F1 (the mean of the samples) or NAME/FIELD=F1"
)
_MOST_LOST: Final = 0.05
"""The largest share of error rows, and of a judge's rows without a score, that passes a gate.

No rate includes these rows, so an output could pass by keeping the judge from an answer.
"""


def parse_gate(text: str) -> tuple[str, float]:
    """Split `TARGET=RATE`; the rate may be in per cent."""
    target, _, rate = text.rpartition("=")
    with suppress(ValueError):
        if target:
            return target, parse_rate(rate)
    raise InputError(f"--fail-under {text!r} is not {_FORMS}, with a rate such as 0.9 or 90%")


def parse_rate(text: str) -> float:
    """Read a number, or a share in per cent; raise ValueError for anything else."""
    # Without rounding, 99.9 % is a little more than 0.999.
    return round(float(text[:-1]) / 100, 12) if text.endswith("%") else float(text)


def parse_share(text: str) -> float:
    """Read an option that is a share from 0 to 1; argparse prints the error."""
    with suppress(ValueError):
        if 0 <= (share := parse_rate(text)) <= 1:
            return share
    raise ArgumentTypeError(f"{text!r} is not a share from 0 to 1 or in per cent, such as 5%")


def check_gates(gates: Mapping[str, float], evaluators: Mapping[str, Evaluator]) -> None:
    """Raise InputError for a gate that the run cannot check, or a rate outside 0 to 1."""
    for target, rate in gates.items():
        name, figure = _split(target, evaluators)
        if name not in evaluators:
            problem = f"no evaluator of this run is called {name!r}; {hint(name, evaluators)}"
        elif figure[:1] == "." and figure not in (".mean", ".micro", ".macro"):
            problem = f"{figure[1:]!r} is not a figure; write {_FORMS}"
        elif figure == ".mean" and evaluators[name].lower_is_better:
            remedy = f"give it a threshold, and write {name}=RATE"
            problem = f"lower scores of {name} are better; {remedy}"
        elif figure not in ("", ".mean") and evaluators[name].breakdown() is None:
            problem = f"{name} has no figures of fields"
        elif not isfinite(rate) or (figure != ".mean" and not 0 <= rate <= 1):
            percent = f"; did you mean {rate:g}%?" if 2 < rate <= 100 else ""  # 101% is 1.01
            problem = f"{rate:g} is not a rate from 0 to 1{percent}"
        else:
            continue
        raise InputError(f"gate {target!r}: {problem}")


def _split(target: str, names: Collection[str]) -> tuple[str, str]:
    """Split a target into an evaluator's name and a figure, which begins with a point or slash."""
    # A name may have points itself, as gpt-4.1 has.
    named = (name for name in names if f"{target}.".startswith((f"{name}.", f"{name}/")))
    name = max(named, key=len, default=re.split("[./]", target, maxsplit=1)[0])
    return name, target.removeprefix(name)


def _read_figure(figures: Mapping[str, Any], figure: str) -> tuple[str, float | None]:
    """Return the name and the value of a figure."""
    if figure[:1] == "/":
        return "F1", figures["fields"][figure]["f1"]
    if figure in (".micro", ".macro"):
        return f"{figure[1:]} F1", figures[figure[1:]]["f1"]
    if figure:
        return "mean", figures["mean"]
    return "pass rate", figures["pass_rate"]


def find_misses(summary: Mapping[str, Any], gates: Mapping[str, float]) -> Iterator[str]:
    """Word each gate that a run misses; a gate without a rated row counts as missed."""
    for target, rate in gates.items():
        name, figure = _split(target, summary["evaluators"])
        figures = summary["evaluators"][name]
        fields = figures.get("fields", {})
        if figure[:1] == "/" and figure not in fields:
            yield f"{target}: no sample has this field; {hint(figure, fields)}"
            continue
        what, reached = _read_figure(figures, figure)
        if reached is None:
            why = "no row has a value" if figure else "no row passed or failed"
            yield f"{target}: {why}, so the {what} {rate:g} is not reached"
        elif reached < rate and not is_same(reached, rate):
            yield f"{target}: the {what} {reached:.6g} is under {rate:g}"
        rows, lost = figures["n"], figures["errors"]
        lost += figures["unscored"] if "judge" in figures else 0
        if lost > _MOST_LOST * rows:
            yield f"{target}: {lost} of {rows} rows have no result, more than {_MOST_LOST:.0%}"
