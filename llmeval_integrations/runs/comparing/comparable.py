"""What makes it doubtful that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.runs.columns import NUMBERS
from llmeval_integrations.runs.comparing.joining import Joined, Pairs
from llmeval_integrations.runs.differing import differing
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.repeated_ids import repeated_ids
from llmeval_integrations.runs.rows import Key
from llmeval_integrations.runs.run import NAME_IT, Run
from llmeval_integrations.runs.stored import read_manifest, read_samples, seen_by

_SELECTION: Final = ("limit", "sample", "seed")
"""What chooses samples of the data. Data of other outputs are another file, so nothing else of it
says anything here."""

_LOOKED_AT: Final = 500
"""Samples whose ids are looked at for repeats, of all in the order of their ids."""

_Manifest: TypeAlias = Mapping[str, Any]


def doubts(a: Run, b: Run, joined: Joined) -> Iterator[str]:
    """Word each reason why a difference may come from something other than the outputs.

    There are four, each in a line: other evaluators or options, other samples, other references,
    another version of this package. One more line says of repeats without a group what they count.
    """
    first, second = manifest_of_run(a), manifest_of_run(b)
    manifests = (first, second) if first and second else None
    pairs = max(joined.pairs.values(), key=len)
    found = {
        "other evaluators or options": _evaluators(a, b, manifests, joined.pairs),
        "other samples": _samples(a, b, manifests, joined),
        "other references": _references(a, b, pairs, manifests, joined.pairs),
        "another version": _version(manifests),
    }
    for doubt, reasons in found.items():
        if said := "; ".join(reasons):
            yield f"{doubt}: {said}"
    yield from _repeats(pairs)


def _evaluators(
    a: Run, b: Run, manifests: tuple[_Manifest, _Manifest] | None, names: Iterable[str]
) -> Iterator[str]:
    if manifests:
        before, after = (
            {name: each["evaluators"].get(name) for name in names} for each in manifests
        )
        for name in before:
            yield from differing(name, after[name], before[name])
    for run, other, letter in ((a, b, "A"), (b, a, "B")):
        own = [
            name for name in run.summary["evaluators"] if name not in other.summary["evaluators"]
        ]
        if own:
            yield f"in {letter} alone, so not compared: {', '.join(own)}"


def _samples(
    a: Run, b: Run, manifests: tuple[_Manifest, _Manifest] | None, joined: Joined
) -> Iterator[str]:
    for run, ids, letter in ((a, joined.only_a, "A"), (b, joined.only_b, "B")):
        if ids:
            are = "is" if len(ids) == 1 else "are"
            yield f"{counted(len(ids), 'sample')} {are} in {letter} alone, so not compared"
        if run.incomplete:
            yield f"{letter} is incomplete: {run.incomplete}"
    if manifests and (joined.only_a or joined.only_b):
        before, after = ({key: each["data"].get(key) for key in _SELECTION} for each in manifests)
        yield from differing("data", after, before)
    if not (manifests and _is_same_file(*manifests)):
        pairs = max(joined.pairs.values(), key=len)
        keys = [key for key, _ in groupby(pairs, attrgetter("key"))]
        yield from _joined_by_place(keys, manifest_of_run(a), manifest_of_run(b))


def _version(manifests: tuple[_Manifest, _Manifest] | None) -> Iterator[str]:
    if manifests:
        before, after = (each.get("version") for each in manifests)
        if before and after and before != after:
            yield f"A was evaluated by {before}, B by {after}"


def _repeats(pairs: Pairs) -> Iterator[str]:
    """Say what rows with one id count, or what ids look like, where no group is named."""
    if any(pair.group >= 0 for pair in pairs):
        return
    repeated = len(pairs) - sum(1 for _ in groupby(pairs, attrgetter("key")))
    if repeated:
        have = "has" if repeated == 1 else "have"
        yield (
            f"{counted(repeated, 'sample')} {have} the id of another, and no group is named, so "
            "those with one id count as a group"
        )
    elif found := repeated_ids(pair.key for pair in islice(pairs, _LOOKED_AT)):
        yield f"{found}, and no group is named, so each row counts as independent; {NAME_IT}"


def manifest_of_run(run: Run) -> dict[str, Any] | None:
    """Return what was run, None of a run in memory or without a manifest."""
    try:
        return None if run.out is None else read_manifest(run.out)
    except InputError:
        return None


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
    manifests: tuple[_Manifest, _Manifest] | None,
    names: Iterable[str],
) -> Iterator[str]:
    """Compare the columns of one file that references are from, then the references themselves.

    These are known of samples that both runs keep, which of our own are those that failed; they
    are compared once for the evaluators that have theirs from the same columns.
    """
    if not manifests:
        return
    if _is_same_file(*manifests):
        for name in names:
            before, after = (_column(each, name) for each in manifests)
            yield from differing(f"columns.{name}.reference", after, before)
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
                f"{of_group}{other} of {compared} samples that both runs keep have another one in B"
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
