"""What length, formatting and position do to a judge's verdict."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample, as_sample
from llmeval_integrations.stats.groups import Figures, Group, mean_interval
from llmeval_integrations.stats.intervals import Interval, Share

Change: TypeAlias = Callable[[Sample], Sample]
"""Makes a sample that should get the same verdict."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")


def lengthen(sample: Sample) -> Sample:
    """Say the output a second time: it is longer, and says nothing new."""
    text = str(sample.output)
    return replace(sample, output=f"{text}\n\nIn other words, to sum up: {text}")


def decorate(sample: Sample) -> Sample:
    """Write the output as a list in Markdown, under a heading, a sentence an item."""
    sentences = _SENTENCE.split(str(sample.output).strip())
    items = "\n".join(f"- **{sentence}**" for sentence in sentences)
    return replace(sample, output=f"## Answer\n\n{items}")


CHANGES: Final[Mapping[str, Change]] = {"length": lengthen, "formatting": decorate}


@dataclass(frozen=True)
class Shift:
    """What one change does to a judge's results."""

    samples: int
    """Those that have a result before and after."""

    unscored: int
    """Those that have not."""

    changed: Share
    """The samples whose verdict, or score where there is no verdict, is another one."""

    shift: float
    """How much higher the mean score is after the change."""

    interval: Interval | None
    """Of 95 %, by groups where samples have them; None of a single group, and of no spread."""

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
    """Measure what changes that should not matter do to a judge's results.

    judge: any evaluator. One that compares `output` with `output_b`, as Preference does, is also
        asked with both swapped, under the name `position`: without a bias its score is then 1 less
        the other.
    samples: outputs that people would judge as they are, at best some hundred. They are judged once
        as they are, and once for each change.
    changes: functions from a sample to one that should get the same verdict, by name. The default
        says each output twice (`length`), and writes it as a list in Markdown (`formatting`).

    Raises InputError where there is no sample, or an output is no text.
    """
    originals = [as_sample(sample) for sample in samples]
    if not originals:
        raise InputError("judge_bias: there is no sample to judge")
    for sample in originals:
        if not isinstance(sample.output, str):
            raise InputError(f"judge_bias: the output {quote(sample.output)} is no text")
    before = judge.evaluate_many(originals)
    groups = [sample.group if isinstance(sample.group, Hashable) else None for sample in originals]
    found = {}
    for name, change in changes.items():
        after = judge.evaluate_many([change(sample) for sample in originals])
        found[name] = _shift(before, after, groups)
    if "output_b" in judge.needs:
        swapped = judge.evaluate_many(
            [replace(each, output=each.output_b, output_b=each.output) for each in originals]
        )
        found["position"] = _shift(before, [_mirror(each) for each in swapped], groups)
    return found


def _mirror(result: Result) -> Result:
    """Return a result of a swapped pair as one of the pair."""
    score = None if result.score is None else 1 - result.score
    return Result(score, None, None, None, {})


def _shift(before: Sequence[Result], after: Sequence[Result], groups: Sequence[Hashable]) -> Shift:
    differences: dict[Hashable, list[float]] = defaultdict(list)
    changed = 0
    for place, (one, other) in enumerate(zip(before, after)):
        if one.score is None or other.score is None:
            continue
        group = groups[place]
        key = ("row", place) if group is None else ("group", group)
        differences[key].append(other.score - one.score)
        has_verdicts = one.passed is not None and other.passed is not None
        changed += one.passed != other.passed if has_verdicts else one.score != other.score
    all_of_them = [each for members in differences.values() for each in members]
    n = len(all_of_them)
    if not n:
        return Shift(0, len(before), Share(0, 0), 0.0, None)
    # Differences lie from -1 to 1: Wilson's interval of their half, put back.
    halves = Figures.of([(1 + each) / 2 for each in all_of_them])
    members = [
        Group(len(each), math.fsum((1 + one) / 2 for one in each)) for each in differences.values()
    ]
    bounds = mean_interval(halves, members)
    interval = None if bounds is None else (2 * bounds[0] - 1, 2 * bounds[1] - 1)
    return Shift(n, len(before) - n, Share(changed, n), math.fsum(all_of_them) / n, interval)
