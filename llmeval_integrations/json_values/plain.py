"""Values that are parsed already: whether they are JSON, in the types that parsing gives."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache, partial
from math import isfinite
from typing import Any, get_args

import msgspec

from llmeval_integrations.core.fresh_stack import has_fresh_stack, on_fresh_stack
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.defects import Defect, check_value
from llmeval_integrations.json_values.depth import SHORT, is_too_deep
from llmeval_integrations.json_values.numbers import exact_decimal_of, exact_float, exact_int

_LONGEST_INTEGER = 14_284  # bits of 4,300 digits, the most that Python converts
_AS_THEY_ARE = frozenset((str, bool, float, type(None)))
_WIDE = 100  # members from which to copy them is quicker than to write and read them
_NAMES = frozenset((str,))
_SCALARS = _AS_THEY_ARE | {int}
_UNUSUAL = (TypeError, ValueError, OverflowError, RecursionError)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def plain(value: Any, *, finite: bool) -> Any:
    """Return a value as parsing its JSON text would, or the Defect that keeps it from being JSON.

    Pydantic models are what they dump: by their aliases, which their schema and the text of a
    language model have, but by their names where a field of theirs, or of a model in them, is read
    by another alias than it is written. With `finite` NaN and Infinity are defects.
    """
    copy = _copied(value, _written(value))
    return _slowly(value, finite=finite) if copy is MISSING else copy


def plain_both(value: Any, other: Any, *, finite: bool) -> tuple[Any, Any]:
    """Do what `plain` does with two values; give one twice where both are written alike."""
    text, other_text = _written(value), _written(other)
    copy = _copied(value, text)
    if copy is not MISSING and text == other_text and _is_equal(copy, other):
        return copy, copy
    second = _copied(other, other_text)
    return (
        _slowly(value, finite=finite) if copy is MISSING else copy,
        _slowly(other, finite=finite) if second is MISSING else second,
    )


def _written(value: Any) -> bytes | None:
    """Write a value as JSON; None where there is no doing so."""
    try:
        return _encode(value)
    except _UNUSUAL:
        return None


def _copied(value: Any, text: bytes | None) -> Any:
    """Copy a value that is written as this text; MISSING where it is not plain JSON.

    What survives the way there and back is: eight times faster than to look at each part.
    """
    if text is None:
        return MISSING
    if type(value) is dict and len(value) > _WIDE and _is_flat(value):
        return dict(value)
    try:
        copy = _decode(text)
    except _UNUSUAL:
        return MISSING
    is_plain = _is_equal(copy, value) and (len(text) <= SHORT or not is_too_deep(text.decode()))
    return copy if is_plain else MISSING


def _is_equal(copy: Any, value: Any) -> bool:
    try:
        return bool(copy == value)
    except _UNUSUAL:
        return False


def _slowly(value: Any, *, finite: bool) -> Any:
    """Do what `plain` does, looking at each part."""
    try:
        return _read(value, finite=finite)
    except RecursionError:
        if has_fresh_stack():
            return Defect("too_deep", "Nested deeper than can be read")
        return on_fresh_stack(partial(plain, value, finite=finite))


def _is_flat(value: dict[Any, Any]) -> bool:
    """Whether an object that could be encoded is plain, with nothing in it but its members."""
    kinds = set(map(type, value.values()))
    return (
        kinds <= _SCALARS
        and _NAMES.issuperset(map(type, value))
        and (
            float not in kinds
            or all(isfinite(member) for member in value.values() if type(member) is float)
        )
    )


def _read(value: Any, *, finite: bool) -> Any:
    if type(value) not in (dict, list) and hasattr(type(value), "model_dump"):
        try:
            dumped = dump_model(value)
        except Exception as error:  # noqa: BLE001 - the model's own code may raise anything
            return Defect("not_json", f"{type(value).__name__} is not a JSON value: {error}")
        return plain(dumped, finite=finite)
    defect = check_value(value, finite=finite)
    if defect and defect.name == "not_json" and isinstance(value, (dict, list, tuple)):
        try:
            value = _dumped(value)
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - what is no model stands there, or one whose code raises
            return defect
        defect = check_value(value, finite=finite)
    return defect or _plain(value)


def _dumped(value: Any) -> Any:
    """Put what Pydantic models dump in their places in arrays and objects.

    Raises TypeError at whatever else is not JSON, for all behind it is in vain.
    """
    if value is None or isinstance(value, (str, int, float, Decimal)):
        return value
    if isinstance(value, dict):
        return {key: _dumped(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_dumped(item) for item in value]
    if not hasattr(type(value), "model_dump"):
        raise TypeError(type(value).__name__)
    return dump_model(value)


def dump_model(model: Any) -> Any:
    """Return what a Pydantic model dumps, as `plain` says, or what is like one.

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


def _plain(value: Any) -> Any:
    """Write a JSON value with the types that parsing gives: no tuple, no subclass, no long integer.

    Decimals become the number that their text stands for.
    """
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, dict):
        return dict(zip(map(str.__str__, value), map(_plain, value.values())))
    if isinstance(value, (list, tuple)):
        return list(map(_plain, value))
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        value = int(value)
        return value if value.bit_length() <= _LONGEST_INTEGER else exact_decimal_of(value)
    if isinstance(value, Decimal) and value.is_finite():
        text = str(value)
        return exact_int(text) if text.lstrip("-").isdigit() else exact_float(text)
    return float(value)
