"""Evaluators written as text: `[NAME=]EVALUATOR[:OPTION=VALUE,...]`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from llmeval_integrations.core.catalog import evaluator_class, load_evaluator
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import option_types
from llmeval_integrations.core.quote import free_name, quote
from llmeval_integrations.evaluators.weighted_sum import Parts

_OPTION: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_END: Final = re.compile(r"\s*(?:,(?=\s*[A-Za-z_]\w*\s*=)|\Z)")
_FORMS: Final = 'an option is JSON (true, null, "text"), the content of a file (@FILE), or text'


class Specification(NamedTuple):
    """An evaluator to be built: its name in the catalog, and its options."""

    evaluator: str
    options: Mapping[str, Any]
    name: str | None = None
    """Its name in the run, if this differs from the catalog's."""


def parse_specification(text: str, folder: Path | None = Path()) -> Specification:
    """Parse `[NAME=]EVALUATOR[:OPTION=VALUE,...]`.

    A value is JSON, or text up to the next `,OPTION=`. `@FILE` is replaced by the file's content.
    Raises InputError.
    """
    head, _, rest = text.partition(":")
    name, sign, evaluator = [part.strip() for part in head.rpartition("=")]
    if not evaluator or (sign and not name):
        raise InputError(f"{text!r} is not [NAME=]EVALUATOR[:OPTION=VALUE,...]")
    options: dict[str, Any] = {}
    position = 0
    while position < len(rest):
        start = _OPTION.match(rest, position)
        if start is None:
            raise InputError(f"{text!r}: {rest[position:]!r} is not OPTION=VALUE")
        if start[1] in options:
            raise InputError(f"{text!r}: the option {start[1]} is given twice")
        options[start[1]], position = _read_value(rest, start.end(), folder)
    return Specification(evaluator, options, name or None)


def read_specification(item: Any, folder: Path | None) -> Specification:
    """Read an evaluator of a configuration: a text, or `{[NAME=]EVALUATOR: OPTIONS}`."""
    if isinstance(item, str):
        return parse_specification(item, folder)
    if not isinstance(item, Mapping) or len(item) != 1:  # no values: there may be an API key
        found = ", ".join(map(str, item)) if isinstance(item, Mapping) else quote(item)
        raise InputError(f"expected one evaluator with its options, got {found}")
    [(name, options)] = item.items()
    if not isinstance(options, (Mapping, NoneType)):
        raise InputError(f"{name}: expected options by name, got {quote(options)}")
    return parse_specification(str(name))._replace(options=read_files(options or {}, folder))


def _read_value(rest: str, start: int, folder: Path | None) -> tuple[Any, int]:
    """Return a value, and the position of the next option."""
    try:
        value, stop = json.JSONDecoder().raw_decode(rest, start)
        if end := _END.match(rest, stop):
            return value if isinstance(value, str) else read_files(value, folder), end.end()
    except (ValueError, RecursionError):
        pass  # it is a text
    end = _END.search(rest, start)
    return (read_files(rest[start : end.start()], folder), end.end()) if end else ("", len(rest))


def read_files(value: Any, folder: Path | None) -> Any:
    """Replace every text `@FILE` in a value, at any depth, by the content of the file.

    The content is JSON, or text without its last line break. Write `@@` for a text that begins
    with `@`. A configuration may come from somebody else, so it can only read its own folder,
    which is absolute. On the command line, the folder is relative, and any file can be read.
    Without a folder, nothing is replaced.
    """
    if isinstance(value, Mapping):
        return {key: read_files(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [read_files(each, folder) for each in value]
    if folder is None or not isinstance(value, str) or not value.startswith("@"):
        return value
    if value.startswith("@@"):
        return value[1:]
    path = folder / value[1:]
    if folder.is_absolute() and not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{value!r} is outside {folder}, the folder of the configuration")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{value!r}: cannot read {path}: {reason}") from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.removesuffix("\n").removesuffix("\r")


def build(specifications: Sequence[Specification]) -> dict[str, Evaluator]:
    """Build evaluators by name; a second `json_match` is named `json_match_2`.

    Raises UnknownNameError, InvalidOptionError, or InputError for a name that is given twice.
    """
    if "" not in sys.path:
        sys.path.append("")  # options such as `compare` of json_fields name functions
    given = [each.name for each in specifications if each.name is not None]
    if len({*given}) < len(given):
        raise InputError(f"two evaluators have one name: {', '.join(given)}")
    built: dict[str, Evaluator] = {}
    for each in specifications:
        evaluator = _load(each)
        built[each.name or free_name(evaluator.name, {*built, *given})] = evaluator
    return built


def _load(given: Specification) -> Evaluator:
    types = option_types(evaluator_class(given.evaluator))
    values = {key: _fit(value, types.get(key, Any)) for key, value in given.options.items()}
    try:
        return load_evaluator(given.evaluator, **values)
    except InvalidOptionError as error:
        texts = (quote(value) for value in given.options.values() if isinstance(value, str))
        if any(text in str(error) for text in texts):
            raise InvalidOptionError(f"{error}; {_FORMS}") from error
        raise


def _fit(value: Any, kind: Any) -> Any:
    """Convert a value to the option's type: names to evaluators, mappings to dataclasses.

    If an option requires text, a number or boolean becomes text, as in `draft=7`.
    """
    if _is_evaluator(kind):
        return _build_inner(value)
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, Mapping):
        try:
            return kind(**value)
        except TypeError as error:
            raise InvalidOptionError(str(error)) from error
    if kind == Parts and isinstance(value, (Mapping, list)):
        pairs = value.items() if isinstance(value, Mapping) else value
        return [
            (_build_inner(pair[0]), *pair[1:]) if isinstance(pair, (list, tuple)) else pair
            for pair in pairs
        ]
    if get_origin(kind) is Sequence and _is_evaluator(get_args(kind)[0]):
        return [_build_inner(each) for each in value] if isinstance(value, list) else value
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    types = {type(word) for part in parts if get_origin(part) is Literal for word in get_args(part)}
    types |= {part for part in parts if get_origin(part) is not Literal}
    return json.dumps(value) if isinstance(value, int) and types <= {str, NoneType} else value


def _is_evaluator(kind: Any) -> bool:
    # `list[X]` is an instance of `type` in Python 3.10, but no class.
    return isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, Evaluator)


def _build_inner(value: Any) -> Any:
    """Build an evaluator that is an option of another; its files were read with the other's."""
    if isinstance(value, (str, Mapping)):
        return _load(read_specification(value, None))
    return value
