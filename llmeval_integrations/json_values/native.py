"""Values of other libraries, such as arrays of NumPy, as Python's own."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from llmeval_integrations.json_values.size import measure

_SIMPLE: Final = frozenset((str, bytes, int, float, bool, type(None)))
_encode = msgspec.json.Encoder().encode


def is_plain(value: Any) -> bool:
    """Whether a value, or all that is in a container, is Python's own."""
    if type(value) in _SIMPLE:
        return True
    if type(value) is dict and _SIMPLE.issuperset(map(type, value.values())):
        return True
    if measure(value) is not None:  # which parsing refuses
        return True
    try:
        _encode(value)  # what can be written has no array in it, and C is quick to tell
    except Exception:  # noqa: BLE001 - anything may be in it
        return False
    return True


def as_python(value: Any) -> Any:
    """Return a value with Python's lists and numbers for those of NumPy and the like.

    A value that is too deep, or whose library fails, is given as it is.
    """
    if is_plain(value):
        return value
    try:
        return _as_python(value)
    except Exception:  # noqa: BLE001 - an array's own code may raise anything
        return value


def _as_python(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if hasattr(type(value), "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _as_python(item) for key, item in value.items()}
    return [_as_python(item) for item in value] if isinstance(value, (list, tuple)) else value
