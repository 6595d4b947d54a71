"""What makes it doubtful that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.runs.columns import NUMBERS
from llmeval_integrations.runs.comparing.joining import Joined, Pairs
from llmeval_integrations.runs.manifest import differences
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.rows import Key
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_manifest, read_samples, seen_by

_OF_DATA: Final = ("kind", "samples", "format", "limit", "sample", "seed")
"""What has to be the same of the data. The file is another one where the outputs are others, as
they are between two prompts, so its content says nothing here."""


def doubts(a: Run, b: Run, joined: Joined) -> Iterator[str]:
    """Word each reason why a difference may come from something other than the outputs."""
    first, second = manifest_of_run(a), manifest_of_run(b)
    if first and second:
        yield from differences(_told(second, joined.pairs), _told(first, joined.pairs))
        if _is_same_file(first, second):
            yield from differences(_columns(second, joined.pairs), _columns(first, joined.pairs))
    for run, other, letter in ((a, b, "A"), (b, a, "B")):
        if run.incomplete:
            yield f"{letter} is incomplete: {run.incomplete}"
        own = [
            name for name in run.summary["evaluators"] if name not in other.summary["evaluators"]
        ]
        if own:
            yield f"in {letter} alone, so not compared: {', '.join(own)}"
    for ids, letter in ((joined.only_a, "A"), (joined.only_b, "B")):
        if ids:
            are = "is" if len(ids) == 1 else "are"
            yield f"{counted(len(ids), 'sample')} {are} in {letter} alone, so not compared"
    pairs = max(joined.pairs.values(), key=len)
    keys = [key for key, _ in groupby(pairs, attrgetter("key"))]
    repeated = len(pairs) - len(keys)
    if repeated:
        have = "has" if repeated == 1 else "have"
        yield (
            f"{counted(repeated, 'sample')} {have} the id of another; "
            "the mean of an id counts as one sample"
        )
    if not (first and second and _is_same_file(first, second)):
        yield from _joined_by_place(keys, first, second)
    if first and second:
        yield from _references(a, b, pairs, (first, second), joined.pairs)


def manifest_of_run(run: Run) -> dict[str, Any] | None:
    """Return what was run, None of a run in memory or without a manifest."""
    try:
        return None if run.out is None else read_manifest(run.out)
    except InputError:
        return None


def _told(manifest: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return what has to be the same in two manifests: evaluators with options, and which data."""
    evaluators = {name: manifest["evaluators"].get(name) for name in names}
    data = {key: manifest["data"].get(key) for key in _OF_DATA}
    return {"version": manifest.get("version"), "evaluators": evaluators, "data": data}


def _columns(manifest: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the columns that have to be the same in one file: those of the references."""
    return {"columns": {f"{name}.reference": _column(manifest, name) for name in names}}


def _column(manifest: Mapping[str, Any], name: str) -> str:
    """Return the column of an evaluator's references."""
    given = manifest.get("columns") or {}
    column: str = given.get(f"{name}.reference", given.get("reference", "reference"))
    return column


def _is_same_file(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    digest = first["data"].get("sha256")
    return digest is not None and digest == second["data"].get("sha256")


def _joined_by_place(keys: Sequence[Key], *manifests: Mapping[str, Any] | None) -> Iterator[str]:
    """Warn of ids that say no more than where a row is; of a run in memory that is a guess."""
    told = [manifest and manifest.get("ids") for manifest in manifests]
    if NUMBERS in told and any(isinstance(key, int) for key in keys):
        ids = "ids are the numbers of the rows, so"
    elif None in told and _are_numbers(keys):
        ids = "ids look like the numbers of the rows; if they are,"
    else:
        return
    yield (
        f"{ids} samples are joined by their place: right only where both runs have the same "
        "samples in the same order"
    )


def _are_numbers(keys: Sequence[Key]) -> bool:
    """Say whether the ids are whole numbers without a gap, as those are that rows have by place."""
    numbers = [key for key in keys if isinstance(key, int)]
    return len(numbers) == len(keys) > 1 and max(numbers) - min(numbers) == len(numbers) - 1


def _references(
    a: Run,
    b: Run,
    pairs: Pairs,
    manifests: tuple[Mapping[str, Any], Mapping[str, Any]],
    names: Iterable[str],
) -> Iterator[str]:
    """Compare the references of samples that failed in both runs, the only ones that are kept.

    Once for the evaluators that have theirs from the same columns.
    """
    widths = [len(each["evaluators"]) for each in manifests]
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        groups.setdefault(tuple(_column(each, name) for each in manifests), []).append(name)
    for group in groups.values():
        first, second = _failed(a, group[0]), _failed(b, group[0])
        compared = other = 0
        for pair in pairs:
            places = pair.a.place // widths[0], pair.b.place // widths[1]
            if places[0] in first and places[1] in second:
                compared += 1
                other += first[places[0]] != second[places[1]]
        if other:
            of_group = "" if len(groups) == 1 else f"{', '.join(group)}: "
            yield (
                f"{of_group}{other} of {compared} samples that failed in both runs have another "
                "reference in B: is it the same data?"
            )


def _failed(run: Run, evaluator: str) -> dict[int, int]:
    """Give, for the place of each sample that failed, what tells the evaluator's reference apart.

    Without those that have none.
    """
    try:
        samples = ((each["row"], seen_by(each, evaluator)) for each in read_samples(run.out or ""))
        return {
            place: hash(canonical(seen["reference"]))
            for place, seen in samples
            if "reference" in seen
        }
    except FileNotFoundError:
        return {}
