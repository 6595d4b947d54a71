"""What the evaluators of a run saw: all samples where the data is still there, else those kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.columns import columns_by_evaluator, with_ids_of
from llmeval_integrations.runs.manifest import digest_of_file
from llmeval_integrations.runs.reading.opening import open_source
from llmeval_integrations.runs.reading.selecting import select
from llmeval_integrations.runs.rows import members_of
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.samples import samples_of
from llmeval_integrations.runs.stored import read_manifest, read_samples, seen_by

_AT_ONCE: Final = 64


def read_texts(run: Run, evaluator: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the fields of samples as an evaluator saw them, each with its place in the data.

    A run keeps the samples that did not pass. The others are read from the file of data where that
    has not changed since.
    """
    if run.out is None:
        return
    try:
        manifest = read_manifest(run.out)
    except InputError:
        manifest = {"data": {}}
    if _is_unchanged(manifest["data"]):
        yield from _from_data(manifest, evaluator)
        return
    try:
        for sample in read_samples(run.out):
            yield sample["row"], seen_by(sample, evaluator)
    except FileNotFoundError:
        return


def _is_unchanged(data: Mapping[str, Any]) -> bool:
    if data.get("kind") != "file":
        return False
    path = Path(data["path"])
    if not path.is_file() or path.stat().st_size != data["bytes"]:
        return False
    return bool(digest_of_file(path) == data["sha256"])


def _from_data(
    manifest: Mapping[str, Any], evaluator: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    data = manifest["data"]
    source = open_source(data["path"], data["format"])
    select(source, data["limit"], data["sample"], data["seed"])
    columns = with_ids_of(
        source, columns_by_evaluator(manifest["columns"], list(manifest["evaluators"]))
    )
    records, place = iter(source.records), 0
    while chunk := list(islice(records, _AT_ONCE)):
        samples = samples_of({evaluator: columns[evaluator]}, chunk)[evaluator]
        for number in range(len(chunk)):
            stored = samples.stored(number)
            yield place, stored if isinstance(stored, dict) else members_of(stored)
            place += 1
