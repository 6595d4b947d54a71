"""The samples with a row that did not pass, for a page that filters and shows them."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.reports.parts.figures import Figures, by_sample
from llmeval_integrations.runs.records import score_of
from llmeval_integrations.runs.rows import Row, is_failing, write_value
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_samples

MOST_LISTED: Final = 100_000
"""Samples of a run that are listed."""

MOST_SHOWN: Final = 2_000
"""Samples of a run that are shown with their texts."""

MOST_CHARACTERS: Final = 10_000_000
"""Characters of all texts of a run together."""

LONGEST_TEXT: Final = 20_000
"""Characters of one text; of what is longer a part is shown."""

_BEFORE: Final = 1_000
"""Characters that are shown of such a text before its defect, or the first difference."""

_LONGEST_REASON: Final = 300
_MOST_DIFFERENCES: Final = 50
_EACH_KIND: Final = 10
_FAILED, _ERROR, _UNSCORED = 0, 1, 2
_TEXTS: Final = ("output", "reference", "input")
_NAMED: Final = ("differences", "outcomes", "errors")

_Text: TypeAlias = str | tuple[int, str, int] | None
"""A text, or of a long one where the part begins that is shown, the part, and characters in all."""


class _Failing(NamedTuple):
    """One listed sample."""

    badness: tuple[int, float, int]
    place: int
    id: str
    rows: list[tuple[Any, ...]]


@dataclass
class Words:
    """Texts, each kept once."""

    texts: dict[str, int] = field(default_factory=dict)
    """Each with its number."""

    def number(self, text: str | None) -> int:
        """Give a text's number, -1 where there is none."""
        if text is None:
            return -1
        return self.texts.setdefault(text, len(self.texts))


class Listing:
    """What the page's script reads: samples of all runs, worst first, and the texts of some."""

    def __init__(self, names: Sequence[str], evaluators: Sequence[str]) -> None:
        self.failing = 0
        """How many samples there are in all."""
        self._names = list(names)
        self._evaluators = {name: number for number, name in enumerate(evaluators)}
        self._labels = Words()
        self._reasons = Words()
        self._samples: list[tuple[tuple[int, float, int], list[Any]]] = []
        self._lower: set[str] = set()

    def add(self, number: int, run: Run, figures: Mapping[str, Figures]) -> None:
        """List the samples of one run."""
        self._lower |= {name for name, each in figures.items() if each.scores.lower_is_better}
        listed = heapq.nlargest(MOST_LISTED, self._failing(run, figures))
        chosen = {sample.place for sample in _chosen(listed)}
        differences = self._differences(run, chosen)
        texts = _texts(run, {place: _defect(differences.get(place, [])) for place in chosen})
        self._samples += [
            (
                sample.badness,
                [
                    number,
                    sample.id,
                    sample.rows,
                    texts.get(sample.place),
                    differences.get(sample.place, []),
                ],
            )
            for sample in listed
        ]

    def _failing(self, run: Run, figures: Mapping[str, Figures]) -> Iterator[_Failing]:
        for place, rows in by_sample(run):
            wrong = [row for row in rows if is_failing(row)]
            if not wrong:
                continue
            self.failing += 1
            failed = [row for row in wrong if row.passed is False]
            good = sum(figures[row.evaluator].scores.goodness(row) for row in failed)
            badness = (len(failed), -good / max(len(failed), 1), -place)
            yield _Failing(badness, place, _id(wrong[0].id), [self._row(row) for row in wrong])

    def _row(self, row: Row) -> tuple[Any, ...]:
        label = None if row.label is None else str(row.label)
        reason = str(row.reason or "")
        state = _FAILED if row.passed is False else _UNSCORED
        if row.error is not None:
            label, _, reason = row.error.partition(": ")
            state = _ERROR
        score = score_of(row)
        return (
            self._evaluators[row.evaluator],
            state,
            None if score is None else float(f"{score:.6g}"),
            self._labels.number(label),
            self._reasons.number(reason[:_LONGEST_REASON]),
        )

    def _differences(self, run: Run, chosen: set[int]) -> dict[int, list[Any]]:
        """Give what the evaluators name of the chosen samples, each with its JSON pointer."""
        return {
            place: [
                [self._evaluators[row.evaluator], *found]
                for row in rows
                if is_failing(row)
                for found in _named(row)
            ]
            for place, rows in by_sample(run)
            if place in chosen
        }

    def data(self) -> dict[str, Any]:
        """Give everything as JSON."""
        self._samples.sort(key=lambda pair: pair[0], reverse=True)
        samples = [sample for _, sample in self._samples]
        return {
            "runs": self._names,
            "evaluators": list(self._evaluators),
            "lower": [int(name in self._lower) for name in self._evaluators],
            "labels": list(self._labels.texts),
            "reasons": list(self._reasons.texts),
            "failing": self.failing,
            "samples": samples,
        }


def _chosen(listed: list[_Failing]) -> Iterator[_Failing]:
    """Choose whose texts are shown: some of each kind of finding, then the worst."""
    seen: Counter[tuple[Any, ...]] = Counter()
    rest: list[_Failing] = []
    left = MOST_SHOWN
    for sample in listed:
        kinds = [(row[0], row[1], row[3]) for row in sample.rows]
        if left and any(seen[kind] < _EACH_KIND for kind in kinds):
            seen.update(kinds)
            left -= 1
            yield sample
        elif len(rest) < MOST_SHOWN:
            rest.append(sample)
    yield from rest[:left]


def _texts(run: Run, defects: Mapping[int, int | None]) -> dict[int, list[_Text]]:
    """Read the texts of the samples with these places and defects, as far as all may be shown."""
    found: dict[int, list[_Text]] = {}
    left = MOST_CHARACTERS
    for sample in _samples(run):
        if sample["row"] in defects and left > 0:
            texts = _parts(sample, defects[sample["row"]])
            left -= sum(len(text if isinstance(text, str) else text[1]) for text in texts if text)
            found[sample["row"]] = texts
    return found


def _parts(sample: Mapping[str, Any], defect: int | None) -> list[_Text]:
    """Give output, reference and input; of a long one the part that tells most."""
    output, reference, given = (_text(sample, name) for name in _TEXTS)
    differing = _first_difference(output or "", reference or "")
    at = differing if defect is None else defect
    return [_part(output, at), _part(reference, differing), _part(given, 0)]


def _part(text: str | None, at: int) -> _Text:
    if text is None or len(text) <= LONGEST_TEXT:
        return text
    begin = max(at - _BEFORE, 0)
    return begin, text[begin : begin + LONGEST_TEXT], len(text)


def _first_difference(a: str, b: str) -> int:
    """Find where two texts begin to differ; 0 where they are the same."""
    if a == b:
        return 0
    sizes = range(1, min(len(a), len(b)) + 1)
    return bisect(sizes, False, key=lambda size: a[:size] != b[:size])


def _defect(differences: list[Any]) -> int | None:
    """Find the first place of a defect among what evaluators name."""
    return next((each[1] for each in differences if isinstance(each[1], int)), None)


def _samples(run: Run) -> Iterator[dict[str, Any]]:
    """Read the samples of a run; of one in memory, or without their file, there are none."""
    try:
        yield from read_samples(run.out) if run.out is not None else ()
    except FileNotFoundError:
        return


def _text(sample: Mapping[str, Any], name: str) -> str | None:
    if name not in sample:
        return None
    value = sample[name]
    return value if isinstance(value, str) else write_value(value).decode()


def _named(row: Row) -> Iterator[list[Any]]:
    """Give the differences, errors or the position of a defect that a row's metadata name."""
    metadata = row.metadata or {}
    entries = [entry for name in _NAMED for entry in _entries(metadata.get(name))]
    for entry in entries[:_MOST_DIFFERENCES]:
        pointer = entry.get("path", entry.get("pointer"))
        kind = entry.get("kind", entry.get("keyword"))
        if kind != "match" and isinstance(pointer, str):
            yield [
                pointer,
                str(kind),
                _value(entry, "output") or entry.get("message"),
                _value(entry, "reference"),
            ]
    if isinstance(metadata.get("offset"), int):
        yield [metadata["offset"], row.label or "defect", None, None]


def _entries(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _value(entry: dict[str, Any], name: str) -> str | None:
    if name not in entry:
        return None
    text = write_value(entry[name]).decode()
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def _id(value: Any) -> str:
    return value if isinstance(value, str) else write_value(value).decode()
