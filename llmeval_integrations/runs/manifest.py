"""What a run is: written beside its rows, so that only the same run is resumed."""

from __future__ import annotations

import inspect
import os
import platform
import re
from collections.abc import Iterator, Mapping, MappingView, Sequence, Sized
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from functools import partial
from itertools import islice
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, get_origin

import msgspec

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.json_values.python_values import as_python, is_plain
from llmeval_integrations.llm.client import Client
from llmeval_integrations.runs.differing import differing
from llmeval_integrations.runs.reading.opening import HUB, STDIN, open_source
from llmeval_integrations.runs.reading.selecting import select
from llmeval_integrations.runs.rows import as_plain, write_in_order
from llmeval_integrations.schemas.reading import schema_text
from llmeval_integrations.version import __version__

if TYPE_CHECKING:
    import hashlib

_PACKAGES: Final = ("jsonschema-rs", "msgspec", "rapidfuzz", "regex")
_IDENTITY: Final = ("version", "evaluators", "columns", "data")
"""What has to be the same where a run is resumed."""

_AT_A_TIME: Final = 64
"""Rows in memory that are written together."""

_ADDRESS: Final = re.compile(" at 0x[0-9A-Fa-f]+")
"""What the `repr` of an object says that is another in every process."""


def manifest_of(
    evaluators: Mapping[str, Evaluator],
    columns: Mapping[str, str | None] | None,
    samples: Any,
    reading: Mapping[str, Any],
    *,
    ids: str,
) -> dict[str, Any]:
    """Say what is run: evaluators with their options, columns, data, versions, and when.

    `reading` says how the data is read, and which part of it; `ids`, where ids come from.
    """
    return {
        "version": __version__,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "evaluators": {name: described(evaluator) for name, evaluator in evaluators.items()},
        "columns": dict(sorted((columns or {}).items())),
        "data": {**_fingerprint(samples, reading.get("limit")), **reading},
        "ids": ids,
    }


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """Name what keeps a run from being resumed: what is different in another manifest."""
    found = [
        line
        for key in _IDENTITY
        for line in differing(key, _identity(here, key), _identity(there, key))
    ]
    orders = [", ".join(each.get("evaluators") or ()) for each in (here, there)]
    if not found and orders[0] != orders[1]:
        return [f"the order of evaluators is {orders[0]}, and was {orders[1]}"]
    return found


def _identity(manifest: Mapping[str, Any], key: str) -> Any:
    """Return what has to be the same of a manifest's part."""
    part = manifest.get(key)
    if key == "data" and isinstance(part, Mapping):  # told by its content; it may have been moved
        return {name: value for name, value in part.items() if name != "path"}
    return part


def described(evaluator: Evaluator) -> dict[str, Any]:
    """Say which evaluator this is, and its options, in JSON."""
    told: dict[str, Any] = {"evaluator": evaluator.name, "options": {}}
    if is_dataclass(evaluator):
        told["options"] = _fields_of(evaluator)
    elif vars(evaluator):
        told["attributes"] = _digest_of(vars(evaluator))  # which nobody said are to be seen
    return {**told, "lower_is_better": True} if evaluator.lower_is_better else told


def _plain(value: Any) -> Any:
    """Return an option's value in JSON; what has none is told by its name or its `repr`."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else repr(value)
    if isinstance(value, Client):
        return value.identity()
    if isinstance(value, Evaluator):
        return described(value)
    if isinstance(value, type) or callable(getattr(value, "json_schema", None)):
        return _of_type(value)
    # Compiled functions are of other types, and `list[int]` has the name of `list`.
    if isinstance(getattr(value, "__qualname__", None), str) and get_origin(value) is None:
        return _of_function(value)
    if isinstance(value, partial):
        return {"name": _plain(value.func), "given": _plain([value.args, value.keywords])}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    if isinstance(value, AbstractSet):  # whose own order is another in every process
        return sorted(map(_plain, value), key=write_in_order)
    if is_dataclass(value):
        return _fields_of(value)
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text


def _fields_of(dataclass: Any) -> dict[str, Any]:
    return {each.name: _plain(getattr(dataclass, each.name)) for each in fields(dataclass)}


def _of_type(value: Any) -> Any:
    """Tell a type by its name; a Pydantic model, and a TypeAdapter, by its JSON Schema, too."""
    name = _name(value if isinstance(value, type) else type(value))
    try:
        return {"name": name, "schema": msgspec.json.decode(schema_text(value))}
    except (InvalidSchemaError, TypeError):
        return name


def _of_function(value: Any) -> Any:
    """Tell a function by its name and source, what it is bound to, and the values around it."""
    told = {"name": _name(value)}
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        told["of"] = _digest_of(owner)  # of which nobody asked to see anything
    around: list[Any] = []
    for function in (value, inspect.unwrap(value)):
        with suppress(OSError, TypeError):  # compiled ones have no source, and nothing around them
            told["source"] = _sha256(inspect.getsource(function).encode()).hexdigest()
            around += inspect.getclosurevars(function).nonlocals.values()
    if around:
        plain = [each if is_plain(each) else type(each).__qualname__ for each in around]
        told["around"] = _digest_of(plain)
    return told if len(told) > 1 else told["name"]


def _digest_of(value: Any) -> str:
    """Return the SHA-256 of an option's value."""
    return _sha256(write_in_order(_plain(value))).hexdigest()


def _name(value: Any) -> str:
    name = f"{getattr(value, '__module__', None)}.{value.__qualname__}"
    code: Any = getattr(value, "__code__", None)
    # Several of rapidfuzz's distances share one name, as do functions under one decorator.
    other = code is not None and code.co_name != value.__name__
    return f"{name} ({code.co_name})" if other else name


def _sha256(text: bytes = b"") -> hashlib._Hash:
    import hashlib  # 5 ms, for runs with a directory alone

    return hashlib.sha256(text)


def _fingerprint(samples: Any, limit: int | None) -> dict[str, Any]:
    """Say which data this is; by its content, where that can be read twice."""
    if not isinstance(samples, (str, os.PathLike)):
        if not isinstance(samples, Sized):
            return {"kind": "iterator"}
        told: dict[str, Any] = {"kind": type(samples).__name__, "samples": len(samples)}
        if _can_be_read_again(samples):
            told["rows_sha256"] = _digest_of_rows(_rows(samples, limit))
        return told
    if str(samples).startswith(HUB):
        return {"kind": "hub", "path": samples}
    path = Path(samples)
    if os.fspath(samples) == STDIN or not path.is_file():
        return {"kind": "stream", "path": str(path)}
    digest = digest_of_file(path)
    return {"kind": "file", "path": str(path), "bytes": path.stat().st_size, "sha256": digest}


def _can_be_read_again(samples: Sized) -> bool:
    """Whether reading them takes nothing away: they give items by their place, or are a view.

    A length alone does not say so; a bar of progress around an iterator has one, too.
    """
    return hasattr(samples, "__getitem__") or isinstance(samples, MappingView)


def _rows(samples: Any, limit: int | None) -> Iterator[Any]:
    """Give the rows of data in memory, those of a list as they are."""
    if type(samples) is list:
        return iter(samples[:limit])
    source = open_source(samples)
    select(source, limit, None, 0)
    return (row for _, row in source.records)


def _digest_of_rows(rows: Iterator[Any]) -> str:
    """Return the SHA-256 of rows in memory, the same in every process."""
    digest = _sha256()
    while some := list(islice(rows, _AT_A_TIME)):
        digest.update(_packed(some))
    return digest.hexdigest()


def _packed(rows: list[Any]) -> bytes:
    """Write rows of any values, the same in every process."""
    try:
        return _pack(rows)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return _ADDRESS.sub("", write_in_order(rows).decode()).encode()


def _without_address(value: Any) -> Any:
    """Return a value that has no form of its own as rows have it, a `repr` without its address."""
    python = as_python(value)  # an array's `repr` leaves most of its numbers out
    if python is not value:
        return python
    plain = as_plain(value)
    return _ADDRESS.sub("", plain) if isinstance(plain, str) else plain


# A third of the time that JSON takes, for nothing in a text has to be escaped.
_pack: Final = msgspec.msgpack.Encoder(enc_hook=_without_address, order="deterministic").encode


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = _sha256()
    with path.open("rb") as handle:
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
