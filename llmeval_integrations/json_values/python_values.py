"""Convert values that are already parsed to the types that parsing gives, if they are JSON."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS
from llmeval_integrations.json_values.defects import DEFECTS, Defect
from llmeval_integrations.json_values.equality import SCALARS
from llmeval_integrations.json_values.limits import measure
from llmeval_integrations.json_values.numbers import decode, read_number
from llmeval_integrations.json_values.pointer import pointer

_Path: TypeAlias = tuple[str | int, ...]

_LARGEST: Final = 10**MAX_DIGITS
_encode = msgspec.json.Encoder().encode


def copy_value(value: Any, *, finite: bool) -> Any:
    """Return a value as if it was parsed from its JSON text, or a Defect if it is not JSON.

    Pydantic models are dumped. With `finite`, NaN and Infinity are defects.
    """
    limit = measure(value).limit
    if limit is None:
        try:  # writing and parsing it is faster than copying each part
            copy = decode(_encode(value).decode())
            if copy == value:  # a tuple, a model, NaN or a key that is not text differs
                return copy
        except (TypeError, ValueError, OverflowError, RecursionError):
            pass
        try:
            copy = _copy(value, (), finite=finite)
        except _NotJsonError as error:
            return error.defect
        limit = measure(copy).limit  # the parts of models were not measured before
    return Defect(limit, DEFECTS[limit].capitalize()) if limit else copy


class _NotJsonError(Exception):
    """A part of a value is not JSON."""

    def __init__(self, name: str, problem: str, path: _Path) -> None:
        super().__init__(problem)
        is_json = name == "number_out_of_range"
        self.defect = Defect(name, f"{problem} at {pointer(path) or 'the root'}", is_json=is_json)


def _copy(value: Any, path: _Path, *, finite: bool) -> Any:
    """Copy a value part by part, to locate a part that is not JSON."""
    if value is None or type(value) is bool:
        return value
    if isinstance(value, str):
        return _copy_text(value, path)
    if isinstance(value, (int, float, Decimal)):
        return _copy_number(value, path, finite=finite)
    if len(path) > MAX_DEPTH:
        raise _NotJsonError("too_deep", DEFECTS["too_deep"].capitalize(), path)
    if isinstance(value, (list, tuple)):
        return [_copy(item, (*path, n), finite=finite) for n, item in enumerate(value)]
    if isinstance(value, dict):
        copy = {}
        for key, part in value.items():
            inside = (*path, str(key))
            if not isinstance(key, str):
                raise _NotJsonError("not_json", f"the key {key!r:.80} is not text", inside)
            copy[_copy_text(key, inside)] = _copy(part, inside, finite=finite)
        return copy
    problem = f"{type(value).__name__} is not a JSON value"
    if not hasattr(type(value), "model_dump"):
        raise _NotJsonError("not_json", problem, path)
    try:
        dumped = dump_model(value)
    except Exception as error:
        raise _NotJsonError("not_json", f"{problem}: {error}", path) from error
    return _copy(dumped, path, finite=finite)


def _copy_number(value: float | Decimal, path: _Path, *, finite: bool) -> int | float:
    number: int | float | None
    if isinstance(value, int):
        number = int(value) if -_LARGEST < value < _LARGEST else None
    elif isinstance(value, float):
        if finite and not isfinite(value):
            raise _NotJsonError("nan_or_infinity", f"{value!r} is not JSON", path)
        number = float(value)
    elif not value.is_finite():
        raise _NotJsonError("nan_or_infinity", f"{value!r} is not JSON", path)
    else:
        number = read_number(str(value))
    if number is None:
        raise _NotJsonError("number_out_of_range", "Number out of range", path)
    return number


def _copy_text(value: str, path: _Path) -> str:
    text = str.__str__(value)  # an enum or another subclass may have its own `__str__`
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _NotJsonError("lone_surrogate", "Lone surrogate", path) from None
    return text


def dump_model(model: Any) -> Any:
    """Return the dump of a Pydantic model, or of an object like one.

    Fields have their aliases, as in the model's schema. Computed fields are left out, since they
    are not in that schema.
    """
    try:
        return model.model_dump(mode="json", round_trip=True, by_alias=True)
    except TypeError:  # an object like a Pydantic model may lack these options
        return model.model_dump(mode="json")


def as_python(value: Any) -> Any:
    """Replace the arrays and numbers of NumPy and the like by Python's lists and numbers.

    A value that is too deep, or whose library fails, is returned unchanged.
    """
    if type(value) in SCALARS:
        return value
    try:
        return value if measure(value).limit else _as_python(value)
    except Exception:  # noqa: BLE001 - an array's own code may raise anything
        return value


def _as_python(value: Any) -> Any:
    if hasattr(type(value), "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _as_python(item) for key, item in value.items()}
    return [_as_python(item) for item in value] if type(value) in (list, tuple) else value
