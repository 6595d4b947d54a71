"""What tells a framework's model from others: what it is made of, and where it asks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from llmeval_integrations.llm.sdks.keys import HIDDEN, held_by, without_keys

_ADDRESSES: Final = ("base_url", "api_base", "openai_api_base", "anthropic_api_url")
_DEEPEST: Final = 12
"""How far what a model holds is followed."""

_INTO_FUNCTIONS: Final = 6
"""How far what a function holds is."""

_INTO_OBJECTS: Final = 3
"""How far objects of classes that nothing is known of are."""

_COUNTS: Final = re.compile(r"(?:\A|_)(?:count|counter|calls)\Z")
"""Ends of the names of numbers that go up with each call, as `call_count` of a pipeline."""

_EMPTY: Final = CellType()
"""A name that a function takes from around it, and that is not set yet."""


def fingerprint(thing: Any) -> str:
    """Name a model: by the same text in every process where it is set alike, whatever its keys."""
    return sha256(json.dumps(without_keys(_told(thing)), sort_keys=True).encode()).hexdigest()


def address_of(model: Any) -> str | None:
    """Return where a model asks, by its own field or by the SDK's object that it holds."""
    held = held_by(model)
    inner = [getattr(each, "__dict__", {}).get("_client") for each in held]
    places = [
        *(getattr(model, name, None) for name in _ADDRESSES),
        *(getattr(each, "base_url", None) for each in (*held, *inner)),
    ]
    texts = (str(place) for place in places if isinstance(place, str) or _is_url(place))
    return next(filter(None, texts), None)


def _is_url(thing: Any) -> bool:
    return type(thing).__name__ == "URL"


def _told(thing: Any, levels: int = _DEEPEST) -> Any:
    """Say in JSON what something is made of; what is too deep is named by its class."""
    if thing is None or isinstance(thing, (str, bool, int, float)):
        return thing
    if levels == 0:
        return _name(type(thing))
    below = levels - 1
    if isinstance(thing, Mapping):
        return {str(key): _told(each, below) for key, each in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_told(each, below) for each in thing]
    if isinstance(thing, AbstractSet):  # whose own order is another in every process
        return sorted((_told(each, below) for each in thing), key=json.dumps)
    if hasattr(thing, "get_secret_value"):
        return HIDDEN
    if isinstance(thing, type):
        return _name(thing)
    if isinstance(thing, (FunctionType, MethodType, partial)):
        return _told(_parts_of_function(thing), min(below, _INTO_FUNCTIONS))
    return [_name(type(thing)), _told_members(thing, below)]


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _parts_of_function(function: Any) -> list[Any]:
    """Return what tells a function from others, also of its name, as two lambdas are."""
    if isinstance(function, partial):
        return [function.func, function.args, function.keywords]
    cells = function.__closure__ or ()
    return [
        _name(function),
        getattr(function, "__self__", None),
        _parts_of_code(function.__code__),
        function.__defaults__,
        function.__kwdefaults__,
        [cell.cell_contents for cell in cells if cell != _EMPTY],
    ]


def _parts_of_code(code: CodeType) -> list[Any]:
    constants = [
        _parts_of_code(each) if isinstance(each, CodeType) else each for each in code.co_consts
    ]
    return [code.co_code.hex(), code.co_names, constants]


def _told_members(thing: Any, levels: int) -> Any:
    """Say what an object holds: its fields where it has such, else what is plain in it."""
    known = getattr(type(thing), "model_fields", None)
    if known is not None:
        names = [name for name, field in known.items() if not field.exclude]
        further = getattr(thing, "__pydantic_extra__", None) or {}
        members = {name: vars(thing).get(name) for name in names}
        return [_told({**members, **further}, levels), {"base_url": address_of(thing)}]
    if hasattr(thing, "__fields__"):  # LlamaIndex 0.10 stands on pydantic's first version
        return _told(thing.dict(), levels)
    if is_dataclass(thing):
        return _told({each.name: getattr(thing, each.name) for each in fields(thing)}, levels)
    return _told_of_any_class(thing, min(levels, _INTO_OBJECTS))


def _told_of_any_class(thing: Any, levels: int) -> Any:
    """Say what an object of a class that nothing is known of holds, or else what it says it is.

    So a pipeline is told by the name of its model.
    """
    if not hasattr(thing, "__dict__"):
        text = repr(thing)
        if " at 0x" not in text:  # that is another in every process
            return text
    held = {**_in_slots(thing), **getattr(thing, "__dict__", {})}
    return _told({name: each for name, each in held.items() if _shapes(name, each)}, levels)


def _in_slots(thing: Any) -> dict[str, Any]:
    slots = [getattr(kind, "__slots__", ()) for kind in type(thing).__mro__]
    names = [name for each in slots for name in ((each,) if isinstance(each, str) else each)]
    return {name: getattr(thing, name) for name in names if hasattr(thing, name)}


def _shapes(name: str, value: Any) -> bool:
    """Tell whether an attribute may shape replies: public ones may, but for counts of calls.

    Of private ones texts and objects, such as the model behind it: all else is much, and changes.
    """
    if isinstance(value, (type, ModuleType)) or (isinstance(value, int) and _COUNTS.search(name)):
        return False
    is_plain = isinstance(value, (bool, int, float, Mapping, list, tuple, AbstractSet))
    is_private_object = hasattr(value, "__dict__") and not is_plain
    return not name.startswith("_") or isinstance(value, str) or is_private_object
