"""What a run is: written beside its rows, so that only the same run is resumed."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from itertools import takewhile, zip_longest
from math import isfinite
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import shorten
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.llm.client import Client
from llmeval_integrations.runs.data.source import HUB, STDIN, open_source
from llmeval_integrations.runs.options import RunOptions
from llmeval_integrations.runs.rows import write_value
from llmeval_integrations.schemas.parse import schema_text
from llmeval_integrations.version import __version__

_PACKAGES: Final = ("jsonschema-rs", "msgspec", "rapidfuzz", "regex")
_CONTENT: Final = ("kind", "path", "bytes", "sha256", "samples", "rows_sha256")
"""What says which data it is."""

_ADDRESS: Final = re.compile(" at 0x[0-9A-Fa-f]+")
"""What the `repr` of an object says that is another in every process."""

_ABSENT: Final = object()
_LONGEST: Final = 60


def manifest_of(
    evaluators: Mapping[str, Evaluator], samples: Any, options: RunOptions, *, ids: str
) -> dict[str, Any]:
    """Describe a run: evaluators with their options, columns, data, versions, and when.

    `ids` says where ids come from.
    """
    from importlib.metadata import version  # 20 ms, which few calls pay

    data = _describe_data(samples, options.get("limit"))
    return {
        "version": __version__,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {package: version(package) for package in _PACKAGES},
        "evaluators": {
            name: describe_evaluator(evaluator) for name, evaluator in evaluators.items()
        },
        "columns": dict(sorted((options.get("columns") or {}).items())),
        "data": {
            **data,
            "format": options.get("format"),
            "limit": options.get("limit"),
            "sample": options.get("sample"),
            "seed": options.get("seed", 0),
        },
        "ids": ids,
    }


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """Word what keeps a run from being resumed: what is different in another manifest."""
    parts = {**here["data"]}, {**there["data"]}
    now, before = map(_word_data, parts)
    contents = [[part.pop(key, None) for key in _CONTENT] for part in parts]
    # A file may have been moved.
    if any(one != other for key, one, other in zip(_CONTENT, *contents) if key != "path"):
        return [f"{now} has changed" if now == before else f"the data is {now}, and was {before}"]
    found = [*word_differences("data", *parts)]
    for key in ("version", "evaluators", "columns"):
        found += word_differences(key, here.get(key), there.get(key))
    orders = [", ".join(each["evaluators"]) for each in (here, there)]
    if not found and orders[0] != orders[1]:
        return [f"the order of evaluators is {orders[0]}, and was {orders[1]}"]
    return found


def word_differences(place: str, here: Any, there: Any) -> Iterator[str]:
    """Word each difference between two JSON values, with its place."""
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        for key in {**there, **here}:
            yield from word_differences(
                f"{place}.{key}", here.get(key, _ABSENT), there.get(key, _ABSENT)
            )
    elif isinstance(here, (list, tuple)) and isinstance(there, (list, tuple)):
        for number, (one, other) in enumerate(zip_longest(here, there, fillvalue=_ABSENT)):
            yield from word_differences(f"{place}[{number}]", one, other)
    elif here is _ABSENT or there is _ABSENT or canonical(here) != canonical(there):
        now, before = ("absent" if each is _ABSENT else repr(each) for each in (here, there))
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(now, before)))
        if alike > _LONGEST // 2:  # what is cut off would be all that differs
            now, before = (f"...{text[alike - _LONGEST // 4 :]}" for text in (now, before))
        yield f"{place} is {shorten(now, _LONGEST)}, and was {shorten(before, _LONGEST)}"


def _word_data(data: Mapping[str, Any]) -> str:
    """Say which data this is."""
    if data.get("kind") == "file":
        return f"{data['path']} ({data['bytes']:,} bytes)"
    count = f" of {data['samples']:,} samples" if "samples" in data else ""
    return f"a {data.get('kind')}{count}" + (f" {data['path']}" if "path" in data else "")


def describe_evaluator(evaluator: Evaluator) -> dict[str, Any]:
    """Describe an evaluator: its name and its options, in JSON."""
    found: dict[str, Any] = {"evaluator": evaluator.name, "options": {}}
    if is_dataclass(evaluator):
        found["options"] = _fields_of(evaluator)
    elif vars(evaluator):  # a digest, for among them may be what nobody is to see
        found["attributes"] = _sha256([write_value(_write_option(vars(evaluator)), in_order=True)])
    return {**found, "lower_is_better": True} if evaluator.lower_is_better else found


def _write_option(value: Any) -> Any:
    """Return the value of an option in JSON; what has none is known by its name or its `repr`."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else repr(value)
    if isinstance(value, Client):
        return value.identity()
    if isinstance(value, Evaluator):
        return describe_evaluator(value)
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        name = f"{value.__module__}.{value.__qualname__}"
        is_model = hasattr(value, "model_json_schema")
        return {"name": name, "schema": schema_text(value)} if is_model else name
    if isinstance(value, Mapping):
        return {str(key): _write_option(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_write_option(each) for each in value]
    if isinstance(value, AbstractSet):  # whose own order is another in every process
        return sorted(map(_write_option, value), key=write_value)
    if is_dataclass(value):
        return _fields_of(value)
    return _ADDRESS.sub("", repr(value))


def _fields_of(dataclass: Any) -> dict[str, Any]:
    return {each.name: _write_option(getattr(dataclass, each.name)) for each in fields(dataclass)}


def _describe_data(samples: Any, limit: int | None) -> dict[str, Any]:
    """Describe the data: by its content, where that can be read twice."""
    if isinstance(samples, (str, os.PathLike)):
        path = os.fspath(samples)
        if path.startswith(HUB):
            return {"kind": "hub", "path": path}
        if path == STDIN or not Path(path).is_file():
            return {"kind": "stream", "path": path}
        size = Path(path).stat().st_size
        return {"kind": "file", "path": path, "bytes": size, "sha256": digest_of_file(Path(path))}
    found: dict[str, Any] = {"kind": type(samples).__name__}
    if isinstance(samples, Sized):
        found["samples"] = len(samples)
        # A length alone does not say so; a bar of progress around an iterator has one, too.
        if hasattr(samples, "__getitem__"):
            found["rows_sha256"] = _digest_of_rows(samples, limit)
    return found


def _digest_of_rows(samples: Any, limit: int | None) -> str:
    """Return the SHA-256 of rows in memory, the same in every process."""
    source = open_source(samples)
    source.select(limit, None)
    lines = (write_value(row, in_order=True) for _, row in source.records)
    return _sha256(
        _ADDRESS.sub("", line.decode()).encode() if b" at 0x" in line else line for line in lines
    )


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return _sha256(iter(lambda: handle.read(1 << 20), b""))


def _sha256(parts: Iterable[bytes]) -> str:
    import hashlib  # 5 ms, for runs with a directory alone

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
