"""The samples of a page: the results of every evaluator, and as many texts as fit."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.core.figures import format_figure
from llmeval_integrations.evaluators.json_grounded import texts_of
from llmeval_integrations.reports.outcomes import differences_of, places_of
from llmeval_integrations.reports.tables import rows_of
from llmeval_integrations.runs.cells import text_of
from llmeval_integrations.runs.load import read_texts
from llmeval_integrations.runs.rows import Row, is_failing, write_value
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import find_cause

MOST_LISTED: Final = 100_000
"""The most samples of a run that are listed."""

MOST_CHARACTERS: Final = 10_000_000
"""The most characters of all texts and differences of a page together."""

LONGEST_TEXT: Final = 20_000
"""The most characters of one text; only a part of a longer text is shown."""

_BEFORE: Final = 1_000
"""Characters of a longer text that are shown before its defect."""

_GAP: Final = "\n\n"
"""The separator of the texts of a source."""

_Text: TypeAlias = str | tuple[int, str, int] | None
"""A text, or the part of a long text: where it begins, the part, and the text's whole length."""


class _Sample(NamedTuple):
    """One sample of one run; worse samples sort last."""

    rank: tuple[int, float, int]  # failing rows, badness, and minus the number: earlier is worse
    number: int
    id: str
    rows: list[Any]
    differences: list[Any]
    places: list[Any]  # where values were found in the source


def samples_of_page(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Return the data of the page's script: the samples of all runs, joined by id, worst first."""
    names = [*dict.fromkeys(name for run in runs.values() for name in run.summary["evaluators"])]
    lower = frozenset[str]().union(*(run.lower_is_better for run in runs.values()))
    joined: dict[tuple[str, int], list[Any]] = {}
    ranks: dict[tuple[str, int], tuple[int, float, int]] = {}
    for run_number, run in enumerate(runs.values()):
        occurrences: Counter[str] = Counter()
        listed = heapq.nlargest(MOST_LISTED, _samples(run, names, lower))
        texts = _choose_texts(run, listed, MOST_CHARACTERS // len(runs))
        for sample in sorted(listed, key=attrgetter("number")):
            key = sample.id, occurrences[sample.id]
            occurrences[sample.id] += 1
            entry = joined.setdefault(key, [sample.id, None, None, [None] * len(runs)])
            output, *others, places = texts.get(sample.number, (None, None, None, []))
            entry[1:3] = [old if old is not None else new for old, new in zip(entry[1:3], others)]
            differences = sample.differences if sample.number in texts else []
            entry[3][run_number] = [sample.rows, output, differences, places]
            ranks[key] = max(ranks.get(key, sample.rank), sample.rank)
    return {
        "runs": [*runs],
        "evaluators": names,
        "lower": [name in lower for name in names],
        "count": max((run.summary["samples"] for run in runs.values()), default=0),
        "samples": [joined[key] for key in sorted(joined, key=ranks.__getitem__, reverse=True)],
    }


def _samples(run: Run, names: Sequence[str], lower: Collection[str]) -> Iterator[_Sample]:
    """Yield each sample with the results of every evaluator, and how bad they are."""
    every, width = rows_of(run), len(run.summary["evaluators"])
    for number, rows in enumerate(iter(lambda: [*islice(every, width)], [])):
        said: list[Any] = [None] * len(names)
        badness, differences = 0.0, []
        for row in rows:
            evaluator = names.index(row.evaluator)
            said[evaluator] = _row(row)
            badness += (row.score or 0.0) * (1 if row.evaluator in lower else -1)
            if is_failing(row):
                differences += [[evaluator, *each] for each in differences_of(row)]
        places = [each for row in rows for each in places_of(row)]
        rank = sum(map(is_failing, rows)), badness, -number
        yield _Sample(rank, number, text_of(rows[0].id), said, differences, places)


def _row(row: Row) -> tuple[int, float | None, str, str]:
    """Return state, score, label and reason; the page's script defines the states' numbers."""
    (is_error, kind), reason = find_cause(row)
    score = row.score
    state = 3 if is_error else 2 if row.unscored else {True: 0, False: 1, None: 4}[row.passed]
    label = kind if is_failing(row) else str(row.label or "")
    return state, None if score is None else float(format_figure(score)), label, reason


def _choose_texts(run: Run, listed: Sequence[_Sample], room: int) -> dict[int, tuple[Any, ...]]:
    """Read the texts of the worst samples, as many as there is room for, and places in them."""
    ranks = {each.number: rank for rank, each in enumerate(listed)}
    evaluators = run.summary["evaluators"]
    # Evaluators may have columns of their own; the page shows those of one with fields.
    first = min(evaluators, default="")  # a run that has just begun has none
    lead = next((name for name in evaluators if evaluators[name].get("fields")), first)
    found: dict[int, tuple[Any, ...]] = {}
    sizes: list[tuple[int, int, int]] = []
    for number, sample in read_texts(run, lead) if listed else ():
        if number not in ranks:
            continue
        own = listed[ranks[number]]
        found[number] = _cut_texts(sample, own.differences, own.places)
        size = len(str(found[number])) + len(str(own.differences))
        heapq.heappush(sizes, (-ranks[number], number, size))
        room -= size
        while room < 0:
            _, last, size = heapq.heappop(sizes)
            del found[last]
            room += size
    return found


def _cut_texts(
    sample: Mapping[str, Any], differences: list[Any], places: list[Any]
) -> tuple[_Text, _Text, _Text, list[Any]]:
    """Return output, reference, source and places; a long output is cut around its defect."""
    source = sample.get("input")
    if places:
        source, places = _source(sample, places)
    defect = next((each[1] for each in differences if isinstance(each[1], int)), 0)
    return _cut(sample.get("output"), defect), _cut(sample.get("reference")), _cut(source), places


def _source(sample: Mapping[str, Any], places: list[Any]) -> tuple[str, list[Any]]:
    """Return the source as JsonGrounded read it, with places as offsets from its beginning."""
    name = "input" if places[0][0] is None else "contexts"
    texts = texts_of(sample.get(name) or "", name)
    starts = [0, *accumulate(len(text) + len(_GAP) for text in texts)]
    moved = [
        (said, starts[context or 0] + start, starts[context or 0] + end)
        for context, said, start, end in places
        if (context or 0) < len(texts)
    ]
    return _GAP.join(texts), moved


def _cut(value: Any, defect: int = 0) -> _Text:
    """Write a value as text, of which only the part around the defect is shown if it is long."""
    text = value if value is None or isinstance(value, str) else write_value(value).decode()
    if text is None or len(text) <= LONGEST_TEXT:
        return text
    begin = max(defect - _BEFORE, 0)
    return begin, text[begin : begin + LONGEST_TEXT], len(text)
