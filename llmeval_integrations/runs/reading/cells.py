"""Rows of tables whose cells are not JSON until somebody looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from llmeval_integrations.json_numbers import decode_as_python
from llmeval_integrations.picking import as_python, is_plain

_NONE: Final[Mapping[str, Any]] = {}


class Cells(dict[str, Any]):
    """A row that gives a cell as JSON has it.

    Only cells that are looked at are converted: a column of images has millions of numbers.
    """

    def __init__(self, cells: Mapping[str, Any], kinds: Mapping[str, Any] = _NONE) -> None:
        super().__init__(cells)
        self._kinds = kinds

    def get(self, key: str, default: Any = None) -> Any:
        """Return a cell with Python's lists and objects."""
        if key not in self:
            return default
        kind = self._kinds.get(key)
        return as_python(self[key]) if kind is None else as_json(self[key], kind)


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
    """Return a cell as JSON has it: a map is an object, a tensor a list, a JSON text its value."""
    from pyarrow import types

    if cell is None:
        return None
    if types.is_map(kind):
        return {key: as_json(item, kind.item_type) for key, item in cell}
    if types.is_struct(kind):
        return {field.name: as_json(cell[field.name], field.type) for field in kind}
    if hasattr(kind, "value_field"):
        return [as_json(item, kind.value_type) for item in cell]
    if getattr(kind, "extension_name", None) == "arrow.json":
        return _parsed(cell)
    return as_python(cell)


def _parsed(text: str) -> Any:
    """Parse a cell of JSON; one that is none stays a text, about which evaluators say why."""
    for decode in (msgspec.json.decode, decode_as_python):
        try:
            return decode(text)
        except (ValueError, ArithmeticError, RecursionError):
            pass
    return text
