"""What a run is: written beside its rows, so that only the same run is resumed."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

from llmeval_integrations.asking.client import Client
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.runs.reading import STDIN
from llmeval_integrations.version import __version__
from llmeval_integrations.wording import shown

_PACKAGES: Final = ("jsonschema-rs", "msgspec", "rapidfuzz", "regex")
_IDENTITY: Final = ("version", "evaluators", "fields", "data")
"""What has to be the same where a run is resumed."""

_NAMED: Final = (type, FunctionType, BuiltinFunctionType, MethodType)
_ONLY_FOR_PEOPLE: Final = "path"


def manifest_of(
    evaluators: Mapping[str, Evaluator],
    columns: Mapping[str, str] | None,
    samples: Any,
    reading: Mapping[str, Any],
) -> dict[str, Any]:
    """Say what is run: evaluators with their options, columns, data, versions, and when.

    `reading` says how the data is read, and which part of it.
    """
    return {
        "version": __version__,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "evaluators": {name: described(evaluator) for name, evaluator in evaluators.items()},
        "fields": dict(sorted((columns or {}).items())),
        "data": {**_fingerprint(samples), **reading},
    }


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """Name what keeps a run from being resumed: what is different in another manifest."""
    return [line for key in _IDENTITY for line in _different(key, here.get(key), there.get(key))]


def _different(place: str, here: Any, there: Any) -> Iterator[str]:
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        for key in {**there, **here}:
            if key != _ONLY_FOR_PEOPLE:
                yield from _different(f"{place}.{key}", here.get(key), there.get(key))
    elif here != there:
        yield f"{place} is {shown(here)}, and was {shown(there)}"


def described(evaluator: Evaluator) -> dict[str, Any]:
    """Say which evaluator this is, and its options, in JSON."""
    names: list[str] = [each.name for each in fields(evaluator)] if is_dataclass(evaluator) else []
    options = {name: _plain(getattr(evaluator, name)) for name in names}
    return {"evaluator": evaluator.name, "options": options}


def _plain(value: Any) -> Any:
    """Give an option's value in JSON; what has none is told by its name or its `repr`."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Client):
        return value.identity()
    if isinstance(value, Evaluator):
        return described(value)
    if isinstance(value, _NAMED):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, Sequence)):
        return [_plain(each) for each in value]
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text


def _fingerprint(samples: Any) -> dict[str, Any]:
    """Say which data this is; of a file by its content, of anything else as far as can be told."""
    if not isinstance(samples, (str, os.PathLike)):
        size = {"samples": len(samples)} if isinstance(samples, Sized) else {}
        return {"kind": type(samples).__name__, **size}
    path = Path(samples)
    if os.fspath(samples) == STDIN or not path.is_file():
        return {"kind": "stream", "path": str(path)}
    with path.open("rb") as handle:
        digest = _digest(handle)
    return {"kind": "file", "path": str(path), "bytes": path.stat().st_size, "sha256": digest}


def _digest(handle: Any) -> str:
    """Give the SHA-256 of an open file."""
    import hashlib  # 5 ms, for runs with a directory alone

    if sys.version_info >= (3, 11):
        return hashlib.file_digest(handle, "sha256").hexdigest()
    digest = hashlib.sha256()
    while block := handle.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _versions() -> Iterator[tuple[str, str]]:
    from importlib.metadata import PackageNotFoundError, version  # 20 ms, which few calls pay

    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
