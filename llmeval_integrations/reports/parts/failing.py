"""The samples with a row that did not pass, for a page that filters and shows them."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.reports.parts.figures import Figures, by_sample
from llmeval_integrations.reports.parts.places import in_reference, offset, shown
from llmeval_integrations.runs.records import score_of
from llmeval_integrations.runs.rows import Row, is_failing, write_value
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_samples, seen_by
from llmeval_integrations.runs.summary import found_in

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

_Texts: TypeAlias = tuple[_Text, _Text, _Text]
"""What was seen of a sample: output, reference and input."""


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

    def number(self, text: str) -> int:
        """Return a text's number."""
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
        chosen = {sample.place: sample.rows for sample in _chosen(listed)}
        differences = self._differences(run, chosen)
        texts = self._texts(run, chosen, differences)
        self._samples += [
            (sample.badness, [number, sample.id, *part])
            for sample in listed
            for part in _apart(
                sample.rows, texts.get(sample.place, {}), differences.get(sample.place, [])
            )
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
        (is_error, kind), reason = found_in(row)
        state = _ERROR if is_error else _FAILED if row.passed is False else _UNSCORED
        score = score_of(row)
        return (
            self._evaluators[row.evaluator],
            state,
            None if score is None else float(f"{score:.6g}"),
            self._labels.number(kind),
            self._reasons.number(reason[:_LONGEST_REASON]),
        )

    def _differences(self, run: Run, chosen: Collection[int]) -> dict[int, list[Any]]:
        """Return what the evaluators name of the chosen samples, each with its JSON pointer."""
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

    def _texts(
        self,
        run: Run,
        chosen: Mapping[int, list[tuple[Any, ...]]],
        differences: Mapping[int, list[Any]],
    ) -> dict[int, dict[int, _Texts]]:
        """Read what each evaluator saw of the chosen samples, as far as all may be shown."""
        found: dict[int, dict[int, _Texts]] = {}
        left = MOST_CHARACTERS
        names = list(self._evaluators)
        for sample in _samples(run):
            place = sample["row"]
            if place not in chosen or left <= 0:
                continue
            found[place] = {}
            for seen, numbers in _seen(sample, {names[row[0]]: row[0] for row in chosen[place]}):
                named = [each for each in differences.get(place, []) if each[0] in numbers]
                texts = _parts(seen, named)
                left -= sum(map(_length, texts))
                found[place] |= dict.fromkeys(numbers, texts)
        return found

    def data(self) -> dict[str, Any]:
        """Return everything as JSON."""
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


def _apart(
    rows: list[tuple[Any, ...]], texts: Mapping[int, _Texts], differences: list[Any]
) -> Iterator[list[Any]]:
    """Yield a sample's rows, texts and differences, once for each of the texts that were seen."""
    for each in dict.fromkeys(texts.get(row[0]) for row in rows):
        yield [
            [row for row in rows if texts.get(row[0]) == each],
            each,
            [found for found in differences if texts.get(found[0]) == each],
        ]


def _seen(
    sample: Mapping[str, Any], evaluators: Mapping[str, int]
) -> Iterator[tuple[Mapping[str, Any], list[int]]]:
    """Yield what evaluators saw of a sample, with the numbers of those that saw the same."""
    seen = {name: seen_by(sample, name) for name in evaluators}
    common = [number for name, number in evaluators.items() if seen[name] is sample]
    if common:
        yield sample, common
    for name, number in evaluators.items():
        if seen[name] is not sample:
            yield seen[name], [number]


def _parts(sample: Mapping[str, Any], differences: list[Any]) -> _Texts:
    """Return output, reference and input; of a long one the part that tells most."""
    output, reference, given = (_text(sample, name) for name in _TEXTS)
    named = [each for each in differences if isinstance(each[1], str) and not _is_of_call(each)]
    if named and output is not None and reference is not None:
        _find_in_reference(named, output, reference)
    here, there = _places(output or "", reference or "", named)
    defect = _defect(differences)
    return (
        _part(output, here if defect is None else defect),
        _part(reference, there),
        _part(given, 0),
    )


def _find_in_reference(named: list[Any], output: str, reference: str) -> None:
    """Note where in the reference is what evaluators name; in a long one nothing is marked."""
    named = named if len(reference) <= LONGEST_TEXT else named[:1]
    ours, theirs = parse(output), parse(reference)
    if type(theirs) is Defect:
        return
    for _, each in groupby(named, itemgetter(0)):
        differences = list(each)
        pointers = in_reference([(each[1], each[4]) for each in differences], ours, theirs)
        for difference, pointer in zip(differences, pointers):
            difference[5] = pointer


def _places(output: str, reference: str, named: list[Any]) -> tuple[int, int]:
    """Find where two texts differ first: in what is named, else in their characters."""
    if max(len(output), len(reference)) <= LONGEST_TEXT:
        return 0, 0  # both are shown as wholes
    if named:
        pointer, found = named[0][1], named[0][5]
        here, there = offset(output, pointer), offset(reference, found or pointer)
        if here is not None and there is not None:
            return here, there
    differing = _first_difference(output, reference)
    return differing, differing


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
    """Yield the differences, errors or the position of a defect that a row's metadata name."""
    metadata = row.metadata or {}
    entries = [entry for name in _NAMED for entry in _entries(metadata.get(name))]
    for entry in entries[:_MOST_DIFFERENCES]:
        pointer = entry.get("pointer")
        kind = entry.get("kind", entry.get("keyword"))
        if kind != "match" and isinstance(pointer, str):
            yield [
                pointer,
                str(kind),
                _value(entry, "output") or entry.get("message"),
                _value(entry, "reference"),
                None,
            ]
    yield from islice(_of_calls(_entries(metadata.get("calls"))), _MOST_DIFFERENCES)
    if isinstance(metadata.get("offset"), int):
        yield [metadata["offset"], row.label or "defect", None, None, None]


def _of_calls(calls: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield what is wrong with tool calls and their arguments, each with the call at its end."""
    for number, call in enumerate(calls):
        name = str(call.get("name") or "(no name)")[:_LONGEST_REASON]
        kind = call.get("kind")
        place = number if kind is None else call.get("output")  # without a kind all were made
        named = f"{place + 1}. {name}" if isinstance(place, int) and len(calls) > 1 else name
        if kind not in (None, "right", "wrong_arguments"):
            yield ["", str(kind), *_sides_of(call, name), None, named]
        for wrong in _entries(call.get("arguments")) + _entries(call.get("errors")):
            yield [
                str(wrong.get("pointer", "")),
                str(wrong.get("kind", wrong.get("keyword"))),
                _value(wrong, "output"),
                _value(wrong, "reference") or wrong.get("message"),
                None,
                named,
            ]


def _is_of_call(difference: list[Any]) -> bool:
    return len(difference) > 6


def _sides_of(call: Mapping[str, Any], name: str) -> tuple[str | None, str | None]:
    """Return what stands for a call that is wrong as a whole, and what was expected instead."""
    if "problem" in call:
        return str(call["problem"])[:_LONGEST_REASON], None
    here, there = call.get("output"), call.get("reference")
    if call["kind"] == "wrong_order" and isinstance(here, int) and isinstance(there, int):
        return f"call {here + 1}", f"call {there + 1}"
    expected = str(call.get("expected_name", name))[:_LONGEST_REASON]
    return name if "output" in call else None, expected if "reference" in call else None


def _entries(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _value(entry: dict[str, Any], name: str) -> str | None:
    return shown(entry[name]) if name in entry else None


def _id(value: Any) -> str:
    return value if isinstance(value, str) else write_value(value).decode()
