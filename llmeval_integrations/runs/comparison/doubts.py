"""Reasons to doubt that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.runs.columns import NUMBERS
from llmeval_integrations.runs.comparison.join import Pair
from llmeval_integrations.runs.load import find_manifest, read_samples, sample_of
from llmeval_integrations.runs.manifest import describe_differences
from llmeval_integrations.runs.numbers import say_once, write_count
from llmeval_integrations.runs.rows import Key, key_of
from llmeval_integrations.runs.run import Run


class _Side(NamedTuple):
    letter: str
    run: Run
    only: list[Any]  # the ids of samples that the other run lacks
    manifest: dict[str, Any]  # empty for a run in memory


def doubts(
    a: Run, b: Run, pairs: Mapping[str, list[Pair]], only: Sequence[list[Any]]
) -> Iterator[str]:
    """Yield the reasons why a difference may have another cause than the outputs.

    These are other evaluators or options, other samples, other references, and another version of
    this package. Further lines are the warnings of both runs of repeats without a group.
    """
    one, other = (
        _Side(letter, run, alone, find_manifest(run.out))
        for letter, run, alone in zip("AB", (a, b), only)
    )
    digest, its = (each.manifest.get("data", {}).get("sha256") for each in (one, other))
    is_one_file = digest is not None and digest == its
    found = {
        "other evaluators or options": _evaluators(one, other, pairs),
        "other samples": _samples(one, other, is_one_file=is_one_file),
        "other references": _references(one, other, pairs, is_one_file=is_one_file),
    }
    for doubt, reasons in found.items():
        if words := "; ".join(reasons):
            yield f"{doubt}: {words}"
    before, after = (each.manifest.get("version") for each in (one, other))
    if before and after and before != after:
        yield f"another version: A was evaluated by {before}, B by {after}"
    if all(pair.group is None for own in pairs.values() for pair in own):
        yield from dict.fromkeys([*a.warnings, *b.warnings])


def _evaluators(a: _Side, b: _Side, names: Iterable[str]) -> Iterator[str]:
    now, before = b.run.evaluators, a.run.evaluators
    if now is not None and before is not None:
        for name in names:
            yield from describe_differences(name, now.get(name), before.get(name))
    for own, other in ((a, b), (b, a)):
        others = other.run.summary["evaluators"]
        if alone := [name for name in own.run.summary["evaluators"] if name not in others]:
            yield f"in {own.letter} alone, so not compared: {', '.join(alone)}"


def _samples(a: _Side, b: _Side, *, is_one_file: bool) -> Iterator[str]:
    for each in (a, b):
        if each.only:
            count = write_count(len(each.only), "sample")
            yield f"{count} in {each.letter} alone, so not compared"
        if each.run.incomplete:
            yield f"{each.letter} is incomplete: {each.run.incomplete}"
    if NUMBERS in (a.manifest.get("ids"), b.manifest.get("ids")) and not is_one_file:
        yield (
            "ids are the numbers of the rows, so samples are joined by their place: this is right "
            "only if both runs have the same samples in the same order"
        )


def _references(a: _Side, b: _Side, names: Iterable[str], *, is_one_file: bool) -> Iterator[str]:
    """Compare the columns of references if the data is one file, and the references themselves.

    A run keeps only some references: of a file, those of samples that did not pass.
    """
    if not a.manifest or not b.manifest:
        return
    if is_one_file:
        now, before = (
            {key: each for key, each in columns.items() if key.endswith("reference")}
            for columns in (side.manifest.get("columns") or {} for side in (b, a))
        )
        yield from describe_differences("columns", now, before)
    first, second = (_digests_of_references(each.run, names) for each in (a, b))
    found = []
    for name in names:
        here, there = first[name], second[name]
        both = here.keys() & there.keys()
        if other := sum(here[key] != there[key] for key in both):
            text = f"{other} of {len(both)} samples that both runs keep have another one in B"
            found.append((name, text))
    yield from say_once(found)


def _digests_of_references(run: Run, evaluators: Iterable[str]) -> dict[str, dict[Key, int]]:
    """Return a digest of each reference that a run keeps, by evaluator and id of the sample."""
    found: dict[str, dict[Key, int]] = {name: {} for name in evaluators}
    with suppress(FileNotFoundError):
        for sample in read_samples(run.out or ""):
            for name, digests in found.items():
                kept = sample_of(sample, name)
                if "reference" in kept:
                    digests[key_of(kept["id"])] = hash(canonical(kept["reference"]))
    return found
