"""The samples of a page: what every evaluator said of each, and the texts of as many as fit."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.reports.differences import differences_of, places_of
from llmeval_integrations.reports.tables import by_sample
from llmeval_integrations.runs.comparison.doubts import known_lower
from llmeval_integrations.runs.records import score_of, text_of
from llmeval_integrations.runs.rows import Row, is_failing, write_value
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import found_in
from llmeval_integrations.runs.texts import read_texts

MOST_LISTED: Final = 100_000
"""Samples of a run that are listed."""

MOST_CHARACTERS: Final = 10_000_000
"""Characters of all texts and differences of a page together."""

LONGEST_TEXT: Final = 20_000
"""Characters of one text; of what is longer a part is shown."""

_BEFORE: Final = 1_000
"""Characters that are shown of such a text before its defect, or the first difference."""

_LONGEST_REASON: Final = 300
_GAP: Final = "\n\n"
"""What stands between contexts."""

_Text: TypeAlias = str | tuple[int, str, int] | None
"""A text, or of a long one where the part begins that is shown, the part, and characters in all."""


class _Sample(NamedTuple):
    """One sample of one run; those that sort first are better."""

    wrong: int
    badness: float
    order: int
    id: str
    rows: list[Any]


class _Shown(NamedTuple):
    """What a page shows of a sample when it is opened."""

    output: _Text = None
    reference: _Text = None
    given: _Text = None
    differences: Sequence[Any] = ()
    places: Sequence[Any] = ()


def samples_of_page(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Return what the page's script reads: the samples of all runs, joined by id, worst first."""
    names = dict.fromkeys(name for run in runs.values() for name in run.summary["evaluators"])
    reader = _Reader([*names], MOST_CHARACTERS // max(len(runs), 1))
    joined: dict[tuple[str, int], list[Any]] = {}
    ranks: dict[tuple[str, int], tuple[int, float, int]] = {}
    for number, run in enumerate(runs.values()):
        occurrences: Counter[str] = Counter()
        for sample, shown in reader.read(run):
            key = sample.id, occurrences[sample.id]
            occurrences[sample.id] += 1
            entry = joined.setdefault(key, [sample.id, None, None, [None] * len(runs)])
            entry[1] = shown.reference if entry[1] is None else entry[1]
            entry[2] = shown.given if entry[2] is None else entry[2]
            entry[3][number] = [sample.rows, shown.output, shown.differences, shown.places]
            ranks[key] = max(ranks.get(key, sample[:3]), sample[:3])
    lower = frozenset().union(*(known_lower(run) or () for run in runs.values()))
    return {
        "runs": [*runs],
        "evaluators": [*names],
        "lower": [int(name in lower) for name in names],
        "labels": [*reader.labels],
        "reasons": [*reader.reasons],
        "count": max((run.summary["samples"] for run in runs.values()), default=0),
        "samples": [joined[key] for key in sorted(joined, key=ranks.__getitem__, reverse=True)],
    }


class _Reader:
    """Reads the samples of runs, and numbers what many rows have."""

    def __init__(self, evaluators: Sequence[str], room: int) -> None:
        self.labels: dict[str, int] = {}
        self.reasons: dict[str, int] = {}
        self._numbers = {name: number for number, name in enumerate(evaluators)}
        self._room = room

    def read(self, run: Run) -> Iterator[tuple[_Sample, _Shown]]:
        """Yield samples in the order of the data, each with what is shown of it."""
        listed = heapq.nlargest(MOST_LISTED, self._list(run))
        ranks = {-each.order: rank for rank, each in enumerate(listed)}
        shown = self._show(run, ranks)
        for each in sorted(listed, key=lambda sample: -sample.order):
            rows = [row and [*row[:2], *self._number(*row[2:])] for row in each.rows]
            yield each._replace(rows=rows), shown.get(-each.order, _Shown())

    def _number(self, label: str, reason: str) -> tuple[int, int]:
        return (
            self.labels.setdefault(label, len(self.labels)),
            self.reasons.setdefault(reason, len(self.reasons)),
        )

    def _list(self, run: Run) -> Iterator[_Sample]:
        lower = known_lower(run) or frozenset()
        for place, rows in by_sample(run):
            said: list[Any] = [None] * len(self._numbers)
            badness = 0.0
            for row in rows:
                said[self._numbers[row.evaluator]] = _row(row)
                score = score_of(row) or 0.0
                badness += score if row.evaluator in lower else -score
            yield _Sample(sum(map(is_failing, rows)), badness, -place, text_of(rows[0].id), said)

    def _show(self, run: Run, ranks: Mapping[int, int]) -> dict[int, _Shown]:
        """Read the texts of the samples that there is room for, worst first."""
        found: dict[int, _Shown] = {}
        sizes: list[tuple[int, int, int]] = []
        total = 0
        named = self._name(run, ranks)
        for place, sample in read_texts(run, _lead(run)) if ranks else ():
            if place in ranks:
                found[place] = _shown(sample, *named.get(place, ([], [])))
                size = len(str(found[place]))
                heapq.heappush(sizes, (-ranks[place], place, size))
                total += size
            while total > self._room:
                _, last, size = heapq.heappop(sizes)
                del found[last]
                total -= size
        return found

    def _name(self, run: Run, ranks: Mapping[int, int]) -> dict[int, tuple[list[Any], list[Any]]]:
        """Return the differences and the places in the source that evaluators name."""
        found: dict[int, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
        for place, rows in by_sample(run):
            for row in rows if place in ranks else ():
                if is_failing(row):
                    number = self._numbers[row.evaluator]
                    found[place][0].extend([number, *each] for each in differences_of(row))
                found[place][1].extend(places_of(row))
        return found


def _row(row: Row) -> tuple[int, float | None, str, str]:
    """Return state, score, label and reason; states are numbered as in the page's script."""
    (is_error, kind), reason = found_in(row)
    score = score_of(row)
    state = 3 if is_error else 2 if row.unscored else {True: 0, False: 1, None: 4}[row.passed]
    label = kind if is_failing(row) else str(row.label or "")
    return state, None if score is None else float(f"{score:.4g}"), label, reason[:_LONGEST_REASON]


def _lead(run: Run) -> str:
    """Return the evaluator whose columns are shown: the first that compares fields, or any."""
    evaluators = run.summary["evaluators"]
    compared = [name for name, each in evaluators.items() if each.get("fields")]
    return str([*compared, *evaluators][0])


def _shown(sample: Mapping[str, Any], differences: list[Any], places: list[Any]) -> _Shown:
    """Return output, reference and input; of a long one the part that tells most."""
    output, reference, given = (
        _text(sample.get(name)) for name in ("output", "reference", "input")
    )
    if any(place[0] is not None for place in places):
        given, places = _in_contexts(sample.get("contexts"), places)
    differing = 0
    if max(len(output or ""), len(reference or "")) > LONGEST_TEXT:
        differing = _first_difference(output or "", reference or "")
    at = next((each[1] for each in differences if isinstance(each[1], int)), differing)
    shown = _part(output, at), _part(reference, differing), _part(given, 0)
    return _Shown(*shown, differences, [place[1:] for place in places])


def _in_contexts(contexts: Any, places: list[Any]) -> tuple[str | None, list[Any]]:
    """Put contexts behind each other, and count places from the beginning of the first."""
    if not isinstance(contexts, (list, tuple)) or not all(type(each) is str for each in contexts):
        return _text(contexts), []
    starts = [len(_GAP.join([*contexts[:number], ""])) for number in range(len(contexts))]
    moved = [
        (context, *said, starts[context] + start, starts[context] + end)
        for context, *said, start, end in places
    ]
    return _GAP.join(contexts), moved


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return write_value(value).decode()


def _part(text: str | None, at: int) -> _Text:
    if text is None or len(text) <= LONGEST_TEXT:
        return text
    begin = max(at - _BEFORE, 0)
    return begin, text[begin : begin + LONGEST_TEXT], len(text)


def _first_difference(a: str, b: str) -> int:
    """Find where two texts begin to differ; 0 where they are the same."""
    sizes = range(1, min(len(a), len(b)) + 1)
    return 0 if a == b else bisect(sizes, False, key=lambda size: a[:size] != b[:size])
