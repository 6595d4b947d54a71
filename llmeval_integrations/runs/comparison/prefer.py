"""Asks a judge which of several runs has the better outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from os import PathLike
from random import Random
from typing import Any, NamedTuple, TypeAlias

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_count
from llmeval_integrations.core.quote import free_name, quote
from llmeval_integrations.runs.evaluate import evaluate
from llmeval_integrations.runs.load import read_run, read_texts
from llmeval_integrations.runs.rows import Key, number_keys
from llmeval_integrations.runs.run import Run
from llmeval_integrations.stats.intervals import Interval, Rate
from llmeval_integrations.stats.preferences import Match, Strength, WinRate, bradley_terry, win_rate

Outputs: TypeAlias = "Run | str | PathLike[str] | Iterable[Mapping[str, Any]]"
"""A run with a directory, the directory, or samples with an `id`."""

_Samples: TypeAlias = dict[tuple[Key, int], Mapping[str, Any]]


class Preferences(NamedTuple):
    """The figures of a judge of pairs. As text, it has a line for each figure."""

    names: Sequence[str]
    """The runs in their order."""

    rates: Mapping[tuple[str, str], WinRate]
    """How often the first of two runs is better, for all pairs of runs; a tie counts half."""

    strengths: Mapping[str, Strength]
    """The strength of each of three or more runs, the strongest first; empty for two runs."""

    position: Rate
    """The pairs in which both orders preferred the text in the first place, out of those with
    answers."""

    unscored: int
    """The number of pairs without a score."""

    left_out: int
    """The number of samples that are not in all runs."""

    judged: Run
    """The run of the judge, with a row for each pair."""

    def __str__(self) -> str:
        lines = [f"{a} against {b}: {rate}" for (a, b), rate in self.rates.items()]
        for name, each in self.strengths.items():
            bounds = _write_bounds(each.interval, "+.2f")
            lines.append(f"{name}: strength {each.value:+.2f}{bounds}")
        if self.position.rate is not None:
            lines.append(
                f"the first place was preferred in both orders in {self.position.rate:.1%} of pairs"
                f"{_write_bounds(self.position.interval, '.1%')}"
            )
        lines.append(f"{self.unscored} unscored, {self.left_out} left out")
        return "\n".join(lines)


def _write_bounds(interval: Interval | None, form: str) -> str:
    return "" if interval is None else f" ({interval[0]:{form}} to {interval[1]:{form}})"


def prefer(
    a: Outputs,
    b: Outputs,
    judge: Evaluator,
    *,
    others: Sequence[Outputs] = (),
    pairs: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Preferences:
    """Ask a judge of pairs which of two or more runs has the better outputs.

    Args:
        a: A run. Samples are joined by their ids.
        b: Another run.
        judge: An evaluator of `output` and `output_b`, such as Preference.
        others: Further runs.
        pairs: The number of random pairs to judge; None for all pairs.
        seed: The seed of the random pairs.
        options: Those of `evaluate` for judges, and `out`, a directory for the judge's rows.

    Raises:
        InputError: If a run keeps no outputs, or if no sample is in all runs.
        InvalidOptionError: If `judge` or `pairs` cannot be used.
    """
    if pairs is not None:
        check_count("pairs", pairs)
    if "output_b" not in getattr(judge, "needs", ()):
        raise InvalidOptionError(f"{quote(judge)} compares no two outputs; use Preference")
    runs: dict[str, _Samples] = {}
    for number, outputs in enumerate([a, b, *others]):
        name, samples = _read(outputs, number)
        runs[free_name(name, runs)] = samples
    shared = [key for key in runs[next(iter(runs))] if all(key in each for each in runs.values())]
    if not shared:
        raise InputError("no sample's id is in all runs")
    drawn = [(key, *two) for key in shared for two in combinations(runs, 2)]
    if pairs is not None and pairs < len(drawn):
        drawn = Random(seed).sample(drawn, pairs)  # noqa: S311 - no secret
    judged = evaluate([*_pair_outputs(runs, drawn)], judge, **options)
    left_out = len(set().union(*runs.values())) - len(shared)
    return _preferences([*runs], [(first, second) for _, first, second in drawn], judged, left_out)


def _read(outputs: Outputs, number: int) -> tuple[str, _Samples]:
    """Return the name of a run and its samples, by id and the number of the row with this id."""
    run = read_run(outputs) if isinstance(outputs, (str, PathLike)) else outputs
    name = chr(ord("a") + number)
    if isinstance(run, Run):
        name = name if run.out is None else run.out.name
        evaluator = next(iter(run.summary["evaluators"]))
        ids = [row.id for row in run.rows if row.evaluator == evaluator]
        texts = read_texts(run, evaluator)
        # The data of a run that was killed has further samples.
        samples = [(ids[place], each) for place, each in texts if place < len(ids)]
    else:
        given = [*run]
        if not all(isinstance(each, Mapping) and "id" in each for each in given):
            raise InputError("samples are mappings with an id")
        samples = [(each["id"], each) for each in given]
    if not samples:
        raise InputError(
            f"run {number + 1} keeps no outputs; evaluate with out=..., or give samples"
        )
    return name, dict(zip(number_keys(own for own, _ in samples), (each for _, each in samples)))


def _pair_outputs(
    runs: Mapping[str, _Samples], drawn: Sequence[tuple[tuple[Key, int], str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield a sample for each pair of outputs. Without a group, rows with one id are a group."""
    for place, (key, first, second) in enumerate(drawn):
        sample, other = runs[first][key], runs[second][key]
        output_b, group = other.get("output"), sample.get("group")
        if output_b is None and "output" in other:
            output_b = ""  # null is an empty answer; a pair that lacks an output is an error row
        if group is None or group == "":
            group = key[0]
        yield {**sample, "id": place, "output_b": output_b, "group": group}


def _preferences(
    names: Sequence[str], drawn: Sequence[tuple[str, str]], judged: Run, left_out: int
) -> Preferences:
    """Return the figures of the judge's rows, one for each pair of runs that was drawn."""
    rows = [*judged.rows]
    matches = [
        Match(*two, row.score, str(row.group))
        for row, two in zip(rows, drawn)
        if row.score is not None
    ]
    rates = {
        two: win_rate([match for match in matches if match[:2] == two])
        for two in combinations(names, 2)
    }
    # A pair on which the two orders disagree may have answers and no score.
    answered = [row for row in rows if row.score is not None or "answers" in row.metadata]
    first_places = [(str(row.group), row.metadata.get("position") == "first") for row in answered]
    return Preferences(
        names,
        {two: rate for two, rate in rates.items() if rate is not None},
        bradley_terry(matches) if len(names) > 2 and matches else {},
        Rate.of(first_places),
        len(rows) - len(matches),
        left_out,
        judged,
    )
