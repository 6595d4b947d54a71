"""How length, formatting and position change a judge's verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample, as_sample
from llmeval_integrations.stats.intervals import Interval, Share, difference_interval

Change: TypeAlias = Callable[[Sample], Sample]
"""Changes a sample in a way that should not change its verdict."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")


def lengthen(sample: Sample) -> Sample:
    """Repeat the output: it becomes longer, with nothing new in it."""
    text = str(sample.output)
    return replace(sample, output=f"{text}\n\nIn other words, to sum up: {text}")


def decorate(sample: Sample) -> Sample:
    """Write the output as a list in Markdown, under a heading, with an item for each sentence."""
    sentences = _SENTENCE.split(str(sample.output).strip())
    items = "\n".join(f"- **{sentence}**" for sentence in sentences)
    return replace(sample, output=f"## Answer\n\n{items}")


CHANGES: Final[Mapping[str, Change]] = {"length": lengthen, "formatting": decorate}


@dataclass(frozen=True)
class Shift:
    """How one change shifts a judge's results."""

    samples: int
    """The samples with a score before and after the change."""

    unscored: int
    """The other samples."""

    changed: Share
    """The samples whose verdict changes, or whose score if there is no verdict."""

    shift: float
    """The mean change of the score."""

    interval: Interval | None
    """The 95 % interval of the shift, by groups if samples have them; None for a single group."""

    def __str__(self) -> str:
        bounds = f" ({self.interval[0]:+.3f} to {self.interval[1]:+.3f})" if self.interval else ""
        low, high = self.changed.interval() or (0.0, 1.0)
        return (
            f"{self.changed.part} of {self.samples} verdicts change ({low:.0%} to {high:.0%}), "
            f"scores by {self.shift:+.3f}{bounds}"
        )


def judge_bias(
    judge: Evaluator,
    samples: Iterable[Sample | Mapping[str, Any]],
    changes: Mapping[str, Change] = CHANGES,
) -> dict[str, Shift]:
    """Measure how changes that should not matter shift a judge's results.

    judge: any evaluator. One that compares `output` with `output_b`, such as Preference, is also
        asked with both swapped, under the name `position`. A judge without this bias then returns 1
        minus its first score.
    samples: typical outputs, at best some hundred. They are judged once unchanged, and once for
        each change.
    changes: functions from a sample to one that should get the same verdict, by name. The default
        repeats each output (`length`), and writes it as a list in Markdown (`formatting`).

    Raises InputError if there is no sample, or an output is not a text.
    """
    originals = [as_sample(sample) for sample in samples]
    if not originals:
        raise InputError("judge_bias: there is no sample to judge")
    for sample in originals:
        if not isinstance(sample.output, str):
            raise InputError(f"judge_bias: the output {quote(sample.output)} is not a text")
    groups = [None if sample.group is MISSING else sample.group for sample in originals]
    results = judge.evaluate_many(originals)
    found = {}
    for name, change in changes.items():
        after = judge.evaluate_many([change(sample) for sample in originals])
        found[name] = _shift(results, after, groups)
    if "output_b" in judge.needs:
        swapped = judge.evaluate_many(
            [replace(each, output=each.output_b, output_b=each.output) for each in originals]
        )
        mirrored = [Result(None if x.score is None else 1 - x.score) for x in swapped]
        found["position"] = _shift(results, mirrored, groups)
    return found


def _shift(before: Sequence[Result], after: Sequence[Result], groups: Sequence[Hashable]) -> Shift:
    differences: list[tuple[Hashable, float]] = []
    changed = 0
    for one, other, group in zip(before, after, groups):
        if one.score is not None and other.score is not None:
            differences.append((group, other.score - one.score))
            has_verdicts = one.passed is not None and other.passed is not None
            changed += one.passed != other.passed if has_verdicts else one.score != other.score
    n = len(differences)
    if not n:
        return Shift(0, len(before), Share(0, 0), 0.0, None)
    shift = math.fsum(each for _, each in differences) / n
    interval = difference_interval(differences)
    return Shift(n, len(before) - n, Share(changed, n), shift, interval)
