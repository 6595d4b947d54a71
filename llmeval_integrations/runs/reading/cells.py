"""Rows of tables whose cells are not JSON until somebody looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.json_values.python_values import as_python, is_plain

_NONE: Final[Mapping[str, Any]] = {}


class Cells(dict[str, Any]):
    """A row that gives a cell as JSON has it.

    Only cells that are looked at are converted: a column of images has millions of numbers.
    """

    def __init__(self, cells: Mapping[str, Any], kinds: Mapping[str, Any] = _NONE) -> None:
        super().__init__(cells)
        self._kinds = kinds

    def get(self, key: str, default: Any = None) -> Any:
        """Return a cell with Python's lists and objects; raise InputError where it has none."""
        if key not in self:
            return default
        cell, kind = self[key], self._kinds.get(key)
        if isinstance(cell, InputError):
            raise InputError(f"column {key!r}: {cell}")
        return as_python(cell) if kind is None else as_json(cell, kind)


def readable(row: dict[str, Any], kinds: Mapping[str, Any] = _NONE) -> dict[str, Any]:
    """Return a row as it is, where all its cells are JSON, else as Cells.

    kinds: the types of pyarrow of those cells that are not, as `is_json` says it.
    """
    return Cells(row, kinds) if kinds or not is_plain(row) else row


def is_json(kind: Any) -> bool:
    """Whether pyarrow gives the cells of this type as JSON has them."""
    from pyarrow import BaseExtensionType, types

    if types.is_struct(kind):
        return all(is_json(field.type) for field in kind)
    if hasattr(kind, "value_field"):
        return is_json(kind.value_type)
    return not (types.is_map(kind) or isinstance(kind, BaseExtensionType))


def as_json(cell: Any, kind: Any) -> Any:
    """Return a cell as JSON has it: maps are objects, tensors lists of lists, JSON texts values."""
    from pyarrow import types

    if cell is None:
        return None
    if types.is_map(kind):
        return {key: as_json(item, kind.item_type) for key, item in cell}
    if types.is_struct(kind):
        return {field.name: as_json(cell[field.name], field.type) for field in kind}
    if hasattr(kind, "value_field"):
        return [as_json(item, kind.value_type) for item in cell]
    name = getattr(kind, "extension_name", None)
    if name == "arrow.json":
        return _parsed(cell)
    if name == "arrow.fixed_shape_tensor":
        return _nested(as_python(cell), kind)
    return as_python(cell)


def _nested(numbers: list[Any], kind: Any) -> list[Any]:
    """Put the numbers of a tensor in lists of lists; in one where its axes have another order."""
    order = list(kind.permutation or ())
    if order == sorted(order):  # pyarrow does not read another one as it has written it
        for size in reversed(kind.shape[1:]):
            numbers = [numbers[at : at + size] for at in range(0, len(numbers), size or 1)]
    return numbers


def _parsed(text: str) -> Any:
    """Parse a cell of JSON; one that is none stays a text, about which evaluators say why."""
    for decode in (msgspec.json.decode, decode_as_python):
        try:
            return decode(text)
        except (ValueError, ArithmeticError, RecursionError):
            pass
    return text
