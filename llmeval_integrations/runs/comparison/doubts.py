"""What makes it doubtful that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.runs.columns import NUMBERS
from llmeval_integrations.runs.comparison.join import Joined, Pair
from llmeval_integrations.runs.groups import describe_repeats
from llmeval_integrations.runs.load import find_manifest, read_samples, sample_of
from llmeval_integrations.runs.manifest import SELECTION, word_differences
from llmeval_integrations.runs.numbers import write_count
from llmeval_integrations.runs.run import NAME_IT, Run

_LOOKED_AT: Final = 500
"""Samples whose ids are looked at for repeats."""


class _Side(NamedTuple):
    letter: str
    run: Run
    manifest: dict[str, Any]
    """What was run, empty where that is not known."""

    only: list[Any]
    """Ids of samples that the other run lacks."""


def doubts(a: Run, b: Run, joined: Joined) -> Iterator[str]:
    """Word each reason why a difference may come from something other than the outputs.

    There are four, each in a line: other evaluators or options, other samples, other references,
    another version of this package. One more line says of repeats without a group what they count.
    """
    one = _Side("A", a, find_manifest(a.out), joined.only_a)
    other = _Side("B", b, find_manifest(b.out), joined.only_b)
    pairs = max(joined.pairs.values(), key=len)
    found = {
        "other evaluators or options": _evaluators(one, other, joined),
        "other samples": _samples(one, other, pairs),
        "other references": _references(one, other, joined, pairs),
        "another version": _version(one, other),
    }
    for doubt, reasons in found.items():
        if words := "; ".join(reasons):
            yield f"{doubt}: {words}"
    yield from _repeats(pairs)


def _evaluators(a: _Side, b: _Side, joined: Joined) -> Iterator[str]:
    if a.manifest and b.manifest:
        for name in joined.pairs:
            yield from word_differences(
                name, *(each.manifest["evaluators"].get(name) for each in (b, a))
            )
    for own, other in ((a, b), (b, a)):
        names = other.run.summary["evaluators"]
        if alone := [name for name in own.run.summary["evaluators"] if name not in names]:
            yield f"in {own.letter} alone, so not compared: {', '.join(alone)}"


def _samples(a: _Side, b: _Side, pairs: Sequence[Pair]) -> Iterator[str]:
    for each in (a, b):
        if each.only:
            verb = "is" if len(each.only) == 1 else "are"
            count = write_count(len(each.only), "sample")
            yield f"{count} {verb} in {each.letter} alone, so not compared"
        if each.run.incomplete:
            yield f"{each.letter} is incomplete: {each.run.incomplete}"
    if a.manifest and b.manifest and (a.only or b.only):
        after, before = (
            {key: each.manifest["data"].get(key) for key in SELECTION} for each in (b, a)
        )
        yield from word_differences("data", after, before)
    numbers = [each.key for each in pairs if isinstance(each.key, int)]
    kinds = [each.manifest.get("ids") for each in (a, b)]
    if numbers and NUMBERS in kinds and not _are_of_one_file(a, b):
        yield (
            "ids are the numbers of the rows, so samples are joined by their place: right only "
            "where both runs have the same samples in the same order"
        )


def _are_of_one_file(a: _Side, b: _Side) -> bool:
    digests = [each.manifest.get("data", {}).get("sha256") for each in (a, b)]
    return None not in digests and digests[0] == digests[1]


def _references(a: _Side, b: _Side, joined: Joined, pairs: Sequence[Pair]) -> Iterator[str]:
    """Compare the columns of one file that references are from, then the references themselves.

    These are known of samples that both runs keep, which of our own are those that failed.
    """
    if not a.manifest or not b.manifest:
        return
    given = [{"reference": "reference", **(each.manifest.get("columns") or {})} for each in (a, b)]
    own = {
        name: tuple(each.get(f"{name}.reference", each["reference"]) for each in given)
        for name in joined.pairs
    }
    if _are_of_one_file(a, b):
        for name, columns in own.items():
            yield from word_differences(f"columns.{name}.reference", columns[1], columns[0])
    widths = [len(each.manifest["evaluators"]) for each in (a, b)]
    places = [(pair.a.place // widths[0], pair.b.place // widths[1]) for pair in pairs]
    # Evaluators whose references are from the same columns have the same ones.
    for columns in dict.fromkeys(own.values()):
        names = [name for name in own if own[name] == columns]
        first, second = (_digests_of_references(each.run, names[0]) for each in (a, b))
        both = [(here, there) for here, there in places if here in first and there in second]
        if other := sum(first[here] != second[there] for here, there in both):
            named = "" if len(names) == len(own) else f"{', '.join(names)}: "
            yield f"{named}{other} of {len(both)} samples that both runs keep have another one in B"


def _digests_of_references(run: Run, evaluator: str) -> dict[int, int]:
    """Give for the place of each sample that a run keeps what tells its reference apart."""
    found = {}
    with suppress(FileNotFoundError):
        for each in read_samples(run.out or ""):
            seen = sample_of(each, evaluator)
            if "reference" in seen:
                found[each["row"]] = hash(canonical(seen["reference"]))
    return found


def _version(a: _Side, b: _Side) -> Iterator[str]:
    before, after = (each.manifest.get("version") for each in (a, b))
    if before and after and before != after:
        yield f"A was evaluated by {before}, B by {after}"


def _repeats(pairs: Sequence[Pair]) -> Iterator[str]:
    """Say what rows with one id count, or what ids look like, where no group is named."""
    if any(pair.group is not None for pair in pairs):
        return
    if repeated := len(pairs) - len({pair.key for pair in pairs}):
        have = "has" if repeated == 1 else "have"
        yield (
            f"{write_count(repeated, 'sample')} {have} the id of another, and no group is named, "
            "so those with one id count as a group"
        )
    elif found := describe_repeats(pair.key for pair in pairs[:_LOOKED_AT]):
        yield f"{found}, and no group is named, so each row counts as independent; {NAME_IT}"
