"""Groups of rows: their figures, and ids that look like repeats."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from llmeval_integrations.runs.rows import Key, Row, as_stored, key_of
from llmeval_integrations.stats.intervals import Figures, Group
from llmeval_integrations.stats.repeats import Tries, repeats

_MOST_FLAKY: Final = 100  # the number of flaky groups that are listed
_REPEAT: Final = re.compile(r".+[.:#/_\s-][a-z]{0,8}[-_]?(\d{1,3})", re.IGNORECASE)
"""The id of a task, a separator, and the number of a try, such as `t1.0` or `t1-run2`."""

_MOST_TRIES: Final = 100


@dataclass
class _Counts:
    """The counts of one group."""

    group: Any
    rated: int = 0
    passes: int = 0
    scored: int = 0
    total: float = 0.0
    squares: float = 0.0


class Groups:
    """The groups of one evaluator."""

    def __init__(self) -> None:
        self._counts: dict[Key, _Counts] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, row: Row) -> None:
        """Count a row."""
        counts = self._counts.setdefault(key_of(row.group), _Counts(row.group))
        if row.passed is not None:
            counts.rated += 1
            counts.passes += row.passed
        if row.score is not None and not row.unscored:
            counts.scored += 1
            counts.total += row.score
            counts.squares += row.score * row.score

    def of_verdicts(self, figures: Figures) -> list[Group]:
        """Return the groups with the sums of verdicts; `figures` are those of all rows."""
        counts = self._counts.values()
        return _add_ungrouped([(each.rated, each.passes, each.passes) for each in counts], figures)

    def of_scores(self, figures: Figures) -> list[Group]:
        """Return the groups with the sums of scores; `figures` are those of all rows."""
        counts = self._counts.values()
        return _add_ungrouped([(each.scored, each.total, each.squares) for each in counts], figures)

    def summary(self) -> dict[str, Any]:
        """Return pass@k, pass^k and the flaky groups, in which only some rows passed."""
        rated = [each for each in self._counts.values() if each.rated]
        tasks = Counter(Tries(each.passes, each.rated) for each in rated)
        flaky = [each for each in rated if 0 < each.passes < each.rated]
        flaky.sort(key=lambda each: abs(2 * each.passes - each.rated) / each.rated)
        return {
            "n": len(self),
            "repeats": repeats(tasks),
            "flaky": len(flaky),
            "flaky_groups": [
                {"group": as_stored(each.group), "passes": each.passes, "n": each.rated}
                for each in flaky[:_MOST_FLAKY]
            ],
        }


def _add_ungrouped(counts: list[tuple[int, float, float]], figures: Figures) -> list[Group]:
    """Return the groups, and a group of its own for each row without one.

    Only number, sum and squares of these rows are known, so two values with the same mean and
    spread represent them. For figures of 0 and 1 they are 0 and 1.
    """
    groups = [Group(rows, total) for rows, total, _ in counts if rows]
    alone = figures.n - sum(each.rows for each in groups)
    if groups and alone:
        mean = (figures.total - math.fsum(each.total for each in groups)) / alone
        squares = figures.squares - math.fsum(each for _, _, each in counts)
        spread = math.sqrt(max(squares / alone - mean * mean, 0.0))
        high = max(1, min(alone - 1, round(alone * (mean if figures.are_shares else 0.5))))
        low = alone - high
        groups += [Group(1, mean + spread * math.sqrt(low / high))] * high
        groups += [Group(1, mean - spread * math.sqrt(high / max(low, 1)))] * low
    return groups


def describe_repeats(ids: Iterable[Any]) -> str | None:
    """Describe ids that look like repeats; None if they do not.

    They do if an id occurs twice. They also do if most ids name a task and the number of a try,
    such as `t1.0` and `t1.1`, and the tasks have the same few numbers.
    """
    keys = [*map(key_of, ids)]
    if doubled := len(keys) - len({*keys}):
        verb = "has" if doubled == 1 else "have"
        return f"{doubled:,} of {len(keys):,} rows {verb} the id of another"
    found = [each for key in keys if isinstance(key, str) and (each := _REPEAT.fullmatch(key))]
    tasks: dict[str, list[str]] = {}
    for each in found:
        tasks.setdefault(each.string[: each.start(1)], []).append(each.string)
    repeated = [tries for tries in tasks.values() if len(tries) > 1]
    rows = sum(map(len, repeated))
    is_few = len({each[1] for each in found}) <= min(rows // 2, _MOST_TRIES)
    if len(repeated) > 1 and 10 * rows >= 9 * len(keys) and is_few:
        first, second = repeated[0][:2]
        return f"ids such as {first!r} and {second!r} look like repeats of one task"
    return None
