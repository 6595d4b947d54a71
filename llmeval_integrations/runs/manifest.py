"""The manifest of a run. A run can be resumed only with an equal manifest."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.llm.client import Client
from llmeval_integrations.runs.data.source import HUB, STDIN
from llmeval_integrations.runs.options import RunOptions
from llmeval_integrations.runs.rows import write_repr, write_value
from llmeval_integrations.schemas.parse import schema_text
from llmeval_integrations.text.excerpt import cut_around_difference
from llmeval_integrations.version import __version__

_ABSENT: Final = object()
_LONGEST: Final = 60


def manifest_of(
    evaluators: Mapping[str, Evaluator], samples: Any, options: RunOptions, *, ids: str
) -> dict[str, Any]:
    """Describe a run: its evaluators with their options, its columns, data, version and start.

    `ids` tells where the ids come from.
    """
    return {
        "version": __version__,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "evaluators": describe_evaluators(evaluators),
        "columns": dict(sorted((options.get("columns") or {}).items())),
        "data": {
            **_describe_data(samples),
            "format": options.get("format"),
            "limit": options.get("limit"),
            "sample": options.get("sample"),
            "seed": options.get("seed", 0),
        },
        "ids": ids,
    }


def describe_conflicts(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Describe the differences between two manifests that prevent a run from being resumed."""
    data = before["data"]
    if now["data"]["kind"] == "file":
        data = {**data, "path": now["data"]["path"]}  # it may be moved
    found = [*describe_differences("data", now["data"], data)]
    for key in ("version", "evaluators", "columns"):
        found += describe_differences(key, now.get(key), before.get(key))
    orders = ([*each["evaluators"]] for each in (now, before))  # which decide whose a row is
    return found or [*describe_differences("evaluators", *orders)]


def describe_differences(place: str, now: Any, before: Any) -> Iterator[str]:
    """Describe each difference between two JSON values, with its place."""
    if isinstance(now, Mapping) and isinstance(before, Mapping):
        for key in {**before, **now}:
            values = now.get(key, _ABSENT), before.get(key, _ABSENT)
            yield from describe_differences(f"{place}.{key}", *values)
    elif isinstance(now, (list, tuple)) and isinstance(before, (list, tuple)):
        for number, values in enumerate(zip_longest(now, before, fillvalue=_ABSENT)):
            yield from describe_differences(f"{place}[{number}]", *values)
    elif now is _ABSENT or before is _ABSENT or canonical(now) != canonical(before):
        here, there = ("absent" if each is _ABSENT else repr(each) for each in (now, before))
        here, there = cut_around_difference(here, there, _LONGEST)
        yield f"{place} is {here}, and was {there}"


def describe_evaluators(evaluators: Mapping[str, Evaluator]) -> dict[str, dict[str, Any]]:
    """Describe evaluators in JSON, by their names in the run."""
    return {name: describe_evaluator(each) for name, each in evaluators.items()}


def describe_evaluator(evaluator: Evaluator) -> dict[str, Any]:
    """Describe an evaluator in JSON: its name and its options."""
    found: dict[str, Any] = {"evaluator": evaluator.name, "options": {}}
    if is_dataclass(evaluator):
        found["options"] = _fields_of(evaluator)
    elif getattr(evaluator, "__dict__", None):  # only a digest, because attributes may be secret
        found["attributes"] = _sha256([write_value(_write_option(vars(evaluator)))])
    return {**found, "lower_is_better": True} if evaluator.lower_is_better else found


def _write_option(value: Any) -> Any:
    """Return the value of an option in JSON. Other values are known by their name or `repr`."""
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
    if isinstance(value, AbstractSet):  # whose order differs in every process
        return sorted(map(_write_option, value), key=write_value)
    if is_dataclass(value):
        return _fields_of(value)
    return write_repr(value)


def _fields_of(dataclass: Any) -> dict[str, Any]:
    return {each.name: _write_option(getattr(dataclass, each.name)) for each in fields(dataclass)}


def _describe_data(samples: Any) -> dict[str, Any]:
    """Describe the data, a file by its content. Of other data, a run keeps all samples."""
    if not isinstance(samples, (str, os.PathLike)):
        return {"kind": type(samples).__name__}
    path = os.fspath(samples)
    if path.startswith(HUB):
        return {"kind": "hub", "path": path}
    if path == STDIN or not Path(path).is_file():
        return {"kind": "stream", "path": path}
    size = Path(path).stat().st_size
    return {"kind": "file", "path": path, "bytes": size, "sha256": digest_of_file(Path(path))}


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return _sha256(iter(lambda: handle.read(1 << 20), b""))


def _sha256(parts: Iterable[bytes]) -> str:
    import hashlib  # 5 ms, needed only for runs with a directory

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
