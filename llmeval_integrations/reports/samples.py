"""The samples of a page: what every evaluator said of each, and the texts of as many as fit."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.reports.differences import differences_of
from llmeval_integrations.reports.rows import by_sample
from llmeval_integrations.runs.comparison.doubts import known_lower
from llmeval_integrations.runs.records import score_of, text_of
from llmeval_integrations.runs.rows import Row, is_failing, write_value
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import found_in
from llmeval_integrations.runs.texts import read_texts

MOST_LISTED: Final = 100_000
"""Samples of a run that are listed."""

MOST_SHOWN: Final = 20_000
"""Samples of a run that are shown with their texts."""

MOST_CHARACTERS: Final = 10_000_000
"""Characters of all texts and differences of a page together."""

LONGEST_TEXT: Final = 20_000
"""Characters of one text; of what is longer a part is shown."""

_BEFORE: Final = 1_000
"""Characters that are shown of such a text before its defect, or the first difference."""

_LONGEST_REASON: Final = 300
_EACH_KIND: Final = 10
_PASSED, _FAILED, _UNSCORED, _ERROR, _NO_VERDICT = range(5)

_Text: TypeAlias = str | tuple[int, str, int] | None
"""A text, or of a long one where the part begins that is shown, the part, and characters in all."""


class _Sample(NamedTuple):
    """One sample of one run."""

    badness: tuple[int, float, int]
    place: int
    id: str
    rows: list[tuple[Any, ...] | None]


class _Words:
    """Texts, each kept once."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))


def samples_of_page(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Return what the page's script reads: the samples of all runs, joined by id, worst first."""
    evaluators = list(
        dict.fromkeys(name for run in runs.values() for name in run.summary["evaluators"])
    )
    reader = _Reader(evaluators, MOST_CHARACTERS // max(len(runs), 1))
    joined: dict[tuple[str, int], list[Any]] = {}
    ranks: dict[tuple[str, int], tuple[int, float, int]] = {}
    for number, run in enumerate(runs.values()):
        seen: Counter[str] = Counter()
        for sample, reference, given, side in reader.read(run):
            key = sample.id, seen[sample.id]
            seen[sample.id] += 1
            entry = joined.setdefault(key, [sample.id, None, None, [None] * len(runs)])
            entry[1] = reference if entry[1] is None else entry[1]
            entry[2] = given if entry[2] is None else entry[2]
            entry[3][number] = side
            ranks[key] = max(ranks.get(key, sample.badness), sample.badness)
    order = sorted(joined, key=ranks.__getitem__, reverse=True)
    lower = frozenset().union(*(known_lower(run) or () for run in runs.values()))
    return {
        "runs": list(runs),
        "evaluators": evaluators,
        "lower": [int(name in lower) for name in evaluators],
        "labels": list(reader.labels.texts),
        "reasons": list(reader.reasons.texts),
        "count": max((run.summary["samples"] for run in runs.values()), default=0),
        "samples": [joined[key] for key in order],
    }


class _Reader:
    """Reads the samples of runs."""

    def __init__(self, evaluators: Sequence[str], room: int) -> None:
        self.labels = _Words()
        self.reasons = _Words()
        self._numbers = {name: number for number, name in enumerate(evaluators)}
        self._room = room

    def read(self, run: Run) -> Iterator[tuple[_Sample, _Text, _Text, list[Any]]]:
        """Yield samples in the order of the data.

        Each with its reference, its input, and what is of this run: rows, output, differences.
        """
        listed = heapq.nlargest(MOST_LISTED, self._listed(run))
        ranks = {each.place: rank for rank, each in enumerate(_order(listed))}
        differences = self._differences(run, ranks)
        texts = self._texts(run, ranks, differences)
        for each in sorted(listed, key=lambda sample: sample.place):
            output, reference, given = texts.get(each.place, (None, None, None))
            named = differences[each.place] if each.place in texts else []
            rows = [row and (*row[:2], *self._number(*row[2:])) for row in each.rows]
            yield each, reference, given, [rows, output, named]

    def _number(self, label: str, reason: str) -> tuple[int, int]:
        return self.labels.number(label), self.reasons.number(reason)

    def _listed(self, run: Run) -> Iterator[_Sample]:
        lower = known_lower(run) or frozenset()
        for place, rows in by_sample(run):
            said: list[tuple[Any, ...] | None] = [None] * len(self._numbers)
            worst, goodness = 0, 0.0
            for row in rows:
                said[self._numbers[row.evaluator]] = self._row(row)
                worst += is_failing(row)
                score = score_of(row) or 0.0
                goodness += -score if row.evaluator in lower else score
            yield _Sample((worst, -goodness, -place), place, text_of(rows[0].id), said)

    def _row(self, row: Row) -> tuple[Any, ...]:
        (is_error, kind), reason = found_in(row)
        score = score_of(row)
        state = (
            _ERROR
            if is_error
            else _UNSCORED
            if row.unscored
            else {True: _PASSED, False: _FAILED, None: _NO_VERDICT}[row.passed]
        )
        kind = kind if is_failing(row) else str(row.label or "")
        return (
            state,
            None if score is None else float(f"{score:.4g}"),
            kind,
            reason[:_LONGEST_REASON],
        )

    def _differences(self, run: Run, ranks: Mapping[int, int]) -> dict[int, list[Any]]:
        """Return what the evaluators name of the samples that are shown with their texts."""
        found: dict[int, list[Any]] = defaultdict(list)
        for place, rows in by_sample(run):
            if place in ranks:
                for row in filter(is_failing, rows):
                    number = self._numbers[row.evaluator]
                    found[place] += [[number, *each] for each in differences_of(row)]
        return found

    def _texts(
        self, run: Run, ranks: Mapping[int, int], differences: Mapping[int, list[Any]]
    ) -> dict[int, tuple[_Text, _Text, _Text]]:
        """Read output, reference and input of the samples that there is room for, worst first."""
        found: dict[int, tuple[_Text, _Text, _Text]] = {}
        sizes: list[tuple[int, int, int]] = []
        total = 0
        for place, sample in read_texts(run, _lead(run)) if ranks else ():
            if place not in ranks:
                continue
            named = differences.get(place, [])
            found[place] = _parts(sample, named)
            size = sum(map(_length, found[place])) + len(str(named))
            heapq.heappush(sizes, (-ranks[place], place, size))
            total += size
            while total > self._room:
                _, last, size = heapq.heappop(sizes)
                del found[last]
                total -= size
        return found


def _lead(run: Run) -> str:
    """Return the evaluator whose columns are shown: the first that compares fields, or any."""
    evaluators = run.summary["evaluators"]
    compared = [name for name, each in evaluators.items() if each.get("fields")]
    return str([*compared, *evaluators][0])


def _order(listed: list[_Sample]) -> Iterator[_Sample]:
    """Yield the samples whose texts are shown: some of each kind of finding, then the worst."""
    seen: Counter[tuple[Any, ...]] = Counter()
    first: list[_Sample] = []
    rest: list[_Sample] = []
    for sample in listed:
        kinds = [
            (number, row[0], row[2])
            for number, row in enumerate(sample.rows)
            if row is not None and row[0] != _PASSED
        ]
        is_new = any(seen[kind] < _EACH_KIND for kind in kinds)
        seen.update(kinds if is_new else ())
        (first if is_new else rest).append(sample)
    yield from [*first, *rest][:MOST_SHOWN]


def _parts(sample: Mapping[str, Any], differences: list[Any]) -> tuple[_Text, _Text, _Text]:
    """Return output, reference and input; of a long one the part that tells most."""
    output, reference, given = (_text(sample, name) for name in ("output", "reference", "input"))
    at = next((each[1] for each in differences if isinstance(each[1], int)), None)
    differing = 0
    if max(len(output or ""), len(reference or "")) > LONGEST_TEXT:
        differing = _first_difference(output or "", reference or "")
    return (
        _part(output, differing if at is None else at),
        _part(reference, differing),
        _part(given, 0),
    )


def _text(sample: Mapping[str, Any], name: str) -> str | None:
    if name not in sample:
        return None
    value = sample[name]
    return value if isinstance(value, str) else write_value(value).decode()


def _part(text: str | None, at: int) -> _Text:
    if text is None or len(text) <= LONGEST_TEXT:
        return text
    begin = max(at - _BEFORE, 0)
    return begin, text[begin : begin + LONGEST_TEXT], len(text)


def _length(text: _Text) -> int:
    return len(text[1] if isinstance(text, tuple) else text or "")


def _first_difference(a: str, b: str) -> int:
    """Find where two texts begin to differ; 0 where they are the same."""
    if a == b:
        return 0
    sizes = range(1, min(len(a), len(b)) + 1)
    return bisect(sizes, False, key=lambda size: a[:size] != b[:size])
