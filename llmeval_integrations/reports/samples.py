"""The samples of a page: what every evaluator said of each, and the texts of as many as fit."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.reports.differences import differences_of, places_of
from llmeval_integrations.reports.tables import by_sample
from llmeval_integrations.runs.comparison.doubts import known_lower
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.rows import Row, is_failing, write_value
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_texts
from llmeval_integrations.runs.summary import found_in

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
    """One sample of one run; those that sort last are worse."""

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
    names = [*dict.fromkeys(name for run in runs.values() for name in run.summary["evaluators"])]
    lower = {name for run in runs.values() for name in known_lower(run) or ()}
    joined: dict[tuple[str, int], list[Any]] = {}
    ranks: dict[tuple[str, int], tuple[int, float, int]] = {}
    for number, run in enumerate(runs.values()):
        occurrences: Counter[str] = Counter()
        listed = heapq.nlargest(MOST_LISTED, _samples(run, names, lower))
        shown = _texts(run, names, listed, MOST_CHARACTERS // len(runs))
        for sample in sorted(listed, key=lambda sample: -sample.order):
            key = sample.id, occurrences[sample.id]
            occurrences[sample.id] += 1
            found = shown.get(-sample.order, _Shown())
            entry = joined.setdefault(key, [sample.id, None, None, [None] * len(runs)])
            entry[1] = found.reference if entry[1] is None else entry[1]
            entry[2] = found.given if entry[2] is None else entry[2]
            entry[3][number] = [sample.rows, found.output, found.differences, found.places]
            ranks[key] = max(ranks.get(key, sample[:3]), sample[:3])
    return {
        "runs": [*runs],
        "evaluators": names,
        "lower": [int(name in lower) for name in names],
        "count": max((run.summary["samples"] for run in runs.values()), default=0),
        "samples": [joined[key] for key in sorted(joined, key=ranks.__getitem__, reverse=True)],
    }


def _samples(run: Run, names: Sequence[str], lower: Collection[str]) -> Iterator[_Sample]:
    """Yield what every evaluator said of each sample, and how bad that is."""
    for place, rows in by_sample(run):
        said: list[Any] = [None] * len(names)
        badness = 0.0
        for row in rows:
            said[names.index(row.evaluator)] = _row(row)
            score = row.score or 0.0
            badness += score if row.evaluator in lower else -score
        yield _Sample(sum(map(is_failing, rows)), badness, -place, text_of(rows[0].id), said)


def _texts(
    run: Run, names: Sequence[str], listed: Sequence[_Sample], room: int
) -> dict[int, _Shown]:
    """Read the texts of the samples that there is room for, worst first."""
    ranks = {-each.order: rank for rank, each in enumerate(listed)}
    named = _named(run, names)
    found: dict[int, _Shown] = {}
    sizes: list[tuple[int, int, int]] = []
    total = 0
    for place, sample in read_texts(run, _lead(run)) if ranks else ():
        if place not in ranks:
            continue
        found[place] = _shown(sample, *named.get(place, ([], [])))
        size = len(str(found[place]))
        heapq.heappush(sizes, (-ranks[place], place, size))
        total += size
        while total > room:
            _, last, size = heapq.heappop(sizes)
            del found[last]
            total -= size
    return found


def _named(run: Run, names: Sequence[str]) -> dict[int, tuple[list[Any], list[Any]]]:
    """Return the differences and the places in the source that evaluators name, by sample."""
    found: dict[int, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for place, rows in by_sample(run):
        for row in rows:
            if is_failing(row):
                number = names.index(row.evaluator)
                found[place][0].extend([number, *each] for each in differences_of(row))
            if places := places_of(row):
                found[place][1].extend(places)
    return found


def _row(row: Row) -> tuple[int, float | None, str, str]:
    """Return state, score, label and reason; states are numbered as in the page's script."""
    (is_error, kind), reason = found_in(row)
    score = row.score
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
