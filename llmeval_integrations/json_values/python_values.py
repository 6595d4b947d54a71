"""Values that are parsed already: are they JSON? In the types that parsing gives."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, get_args

import msgspec

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS, MAX_NODES
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.defects import DEFECTS, Defect
from llmeval_integrations.json_values.numbers import NumberRangeError, exact_float, exact_int
from llmeval_integrations.json_values.pointer import pointer
from llmeval_integrations.json_values.size import SHORT, may_have_long_integer, measure

_LARGEST: Final = 10**MAX_DIGITS
_UNUSUAL = (TypeError, ValueError, OverflowError, RecursionError)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def copy_value(value: Any, *, finite: bool) -> Any:
    """Return a value as parsing its JSON text would, or the Defect that keeps it from being JSON.

    Pydantic models are dumped by alias, as their schema and a language model name their fields;
    by name where a field of theirs, or of a model within, is read by another alias than it is
    written. With `finite` NaN and Infinity are defects.
    """
    limit = measure(value)
    if limit is not None:
        return Defect(limit, DEFECTS[limit].capitalize())
    copy = _copy_by_writing(value)
    if copy is not MISSING:
        return copy
    try:
        return _Reader(finite).read(value, ())
    except _NotJsonError as error:
        return error.defect


def _copy_by_writing(value: Any) -> Any:
    """Copy a value by writing and reading it; MISSING where it comes back as something else.

    That is quicker than to look at each part.
    """
    try:
        text = _encode(value)
        copy = _decode(text)
        is_same = bool(copy == value)
    except _UNUSUAL:
        return MISSING
    if not is_same or (len(text) > SHORT and may_have_long_integer(text.decode())):
        return MISSING
    return copy


class _NotJsonError(Exception):
    """A part of a value is not JSON."""

    def __init__(self, name: str, problem: str, path: tuple[str | int, ...]) -> None:
        super().__init__(problem)
        is_json = name == "number_out_of_range"
        self.defect = Defect(name, f"{problem} at {pointer(path) or 'the root'}", is_json=is_json)


class _Reader:
    """Copies a value part by part, which tells where it is not JSON."""

    def __init__(self, finite: bool) -> None:
        self._finite = finite
        self._nodes = 0

    def read(self, value: Any, path: tuple[str | int, ...]) -> Any:
        self._nodes += 1  # of models, too, whose parts `measure` does not see
        if self._nodes > MAX_NODES:
            raise _NotJsonError("too_large", "More values than are read", path)
        if value is None or type(value) is bool:
            return value
        if isinstance(value, str):
            return _read_text(value, path)
        if isinstance(value, (int, float, Decimal)):
            return self._read_number(value, path)
        if isinstance(value, (dict, list, tuple)):
            return self._read_container(value, path)
        kind = type(value).__name__
        if not hasattr(type(value), "model_dump"):
            raise _NotJsonError("not_json", f"{kind} is not a JSON value", path)
        try:
            dumped = dump_model(value)
        except Exception as error:
            problem = f"{kind} is not a JSON value: {error}"
            raise _NotJsonError("not_json", problem, path) from error
        return self.read(dumped, path)

    def _read_container(self, value: Any, path: tuple[str | int, ...]) -> Any:
        if len(path) >= MAX_DEPTH:
            raise _NotJsonError("too_deep", f"Nested deeper than {MAX_DEPTH} levels", path)
        if not isinstance(value, dict):
            return [self.read(item, (*path, n)) for n, item in enumerate(value)]
        members = {}
        for key, member in value.items():
            if not isinstance(key, str):
                problem = f"the key {key!r:.80} is not text"
                raise _NotJsonError("not_json", problem, (*path, str(key)))
            members[_read_text(key, (*path, key))] = self.read(member, (*path, key))
        return members

    def _read_number(self, value: Any, path: tuple[str | int, ...]) -> int | float:
        if isinstance(value, int):
            if -_LARGEST < value < _LARGEST:
                return int(value)
            raise _NotJsonError("number_out_of_range", "Number out of range", path)
        is_finite = value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
        if not is_finite and (self._finite or isinstance(value, Decimal)):
            raise _NotJsonError("nan_or_infinity", f"{value!r} is not JSON", path)
        if isinstance(value, float):
            return float(value)
        text = str(value)
        try:
            return exact_int(text) if text.lstrip("-").isdigit() else exact_float(text)
        except NumberRangeError:
            raise _NotJsonError("number_out_of_range", "Number out of range", path) from None


def _read_text(value: str, path: tuple[str | int, ...]) -> str:
    text = str.__str__(value)  # a subclass may say something else of itself
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _NotJsonError("lone_surrogate", "Lone surrogate", path) from None
    return text


def dump_model(model: Any) -> Any:
    """Return what a Pydantic model dumps, as `copy_value` says, or what is like one.

    Computed fields are left out, as they are in the schema that a language model is given.
    """
    kind: Any = type(model)
    by_alias = {"by_alias": True} if _is_written_as_read(kind) else {}
    try:
        return model.model_dump(mode="json", round_trip=True, **by_alias)
    except TypeError:  # for what is like a Pydantic model may know neither
        return model.model_dump(mode="json")


@lru_cache(maxsize=512)
def _is_written_as_read(model: type) -> bool:
    """Whether all fields of a Pydantic model, and of those in it, have one alias or none."""
    waiting: list[Any] = [model]
    known: set[int] = set()
    for each in waiting:
        if id(each) in known:
            continue
        known.add(id(each))
        waiting += get_args(each)
        fields = getattr(each, "model_fields", None) if isinstance(each, type) else None
        for field in fields.values() if isinstance(fields, dict) else ():
            if field.validation_alias != field.serialization_alias:
                return False
            waiting.append(field.annotation)
    return True
