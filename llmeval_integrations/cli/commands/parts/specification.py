"""Evaluators written down in a line: `[NAME=]EVALUATOR[:OPTION=VALUE,...]`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from llmeval_integrations.cli.commands.parts.describing import option_types
from llmeval_integrations.core.catalog import evaluator_class, load_evaluator
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import free_name, quote
from llmeval_integrations.evaluators.weighted_sum import Parts
from llmeval_integrations.judges.evaluator import JudgedEvaluator

_OPTION = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_END = re.compile(r"\s*(?:,(?=\s*[A-Za-z_]\w*\s*=)|\Z)")
_PATH: Final = re.compile(r"[\w./\\~-]+\.[A-Za-z]\w*")
_PAIR: Final = 2
_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}


class Specification(NamedTuple):
    """An evaluator that somebody asked for."""

    evaluator: str
    """Its name in the catalog."""

    options: Mapping[str, Any]
    """Its options."""

    name: str | None = None
    """What it is called in the run, if not as in the catalog."""

    folder: Path = Path()
    """Where files are that the options of evaluators within it name."""


def parse_specification(text: str, folder: Path) -> Specification:
    """Take `[NAME=]EVALUATOR[:OPTION=VALUE,...]` apart.

    A value is JSON, else text up to the next `,OPTION=`. `@FILE` stands for what is in the file,
    which is looked for in the folder; `@@` begins a text that begins with `@`. In the options of an
    evaluator within it, which are JSON, every text is read so.
    Raises InputError for what is written otherwise, and for a file that cannot be read.
    """
    head, _, rest = text.partition(":")
    name, sign, evaluator = [part.strip() for part in head.rpartition("=")]
    if not evaluator or (sign and not name):
        raise InputError(f"{text!r} is not [NAME=]EVALUATOR[:OPTION=VALUE,...]")
    return Specification(evaluator, _options(rest, text, folder), name or None, folder)


def build(specifications: Iterable[Specification]) -> dict[str, Evaluator]:
    """Build the evaluators by name; of two that are called alike the second becomes `name_2`.

    Raises UnknownNameError, InvalidOptionError, and InputError where a name was given twice or a
    file cannot be read.
    """
    if "" not in sys.path:
        sys.path.append("")  # for functions that options name, as `compare` of json_fields
    specifications = list(specifications)
    given = [name for _, _, name, _ in specifications if name is not None]
    for each in given:
        if given.count(each) > 1:
            raise InputError(f"two evaluators are called {each!r}")
    built: dict[str, Evaluator] = {}
    for evaluator, options, name, folder in specifications:
        made = _load(evaluator, options, folder)
        built[name or free_name(made.name, {*built, *given})] = made
    return built


def resolve(value: Any, folder: Path) -> Any:
    """Return what stands in a file for the text `@FILE`, and any other value as it is.

    The file's content is its JSON value, else its text without the line break at the end. A
    configuration, whose folder is absolute, names files in its folder alone: it may be somebody
    else's.
    """
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    if value.startswith("@@"):
        return value[1:]
    path = folder / value[1:]
    if folder.is_absolute() and not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{value!r} leads out of {folder}, the folder of the configuration")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{value!r}: cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{value!r}: {path} is not UTF-8") from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.removesuffix("\n").removesuffix("\r")


def _options(rest: str, text: str, folder: Path) -> dict[str, Any]:
    options: dict[str, Any] = {}
    position = 0
    while position < len(rest):
        start = _OPTION.match(rest, position)
        if start is None:
            raise InputError(f"{text!r}: {rest[position:]!r} is not OPTION=VALUE")
        if start[1] in options:
            raise InputError(f"{text!r}: the option {start[1]} is given twice")
        options[start[1]], position = _value(rest, start.end(), folder)
    return options


def _value(rest: str, start: int, folder: Path) -> tuple[Any, int]:
    """Read a value, and where the next option begins."""
    try:
        value, stop = json.JSONDecoder().raw_decode(rest, start)
    except (ValueError, RecursionError):
        stop = -1
    end = _END.match(rest, stop) if stop > 0 else None
    if end is None:
        end = _END.search(rest, start)
        value = resolve(rest[start : end.start()], folder) if end else ""
    return value, end.end() if end else len(rest)


def _load(name: str, options: Mapping[str, Any], folder: Path) -> Evaluator:
    kinds = option_types(evaluator_class(name))
    fitted = {key: _fit(value, kinds.get(key, Any), folder) for key, value in options.items()}
    try:
        return load_evaluator(name, **fitted)
    except InvalidOptionError as error:
        for key, value in options.items():
            if _is_path(value) and quote(value) in str(error):
                raise InvalidOptionError(
                    f"{name}: {key}={value!r} is a text; for what is in the file write @{value}"
                ) from error
            better = _as_json(value)
            if better:
                raise InvalidOptionError(f"{error}; options are JSON, so write {better}") from error
            if "client" in kinds and key not in kinds and key in _options_of_clients():
                right = f'client={{"name": ..., {json.dumps(key)}: ...}}'
                raise InvalidOptionError(f"{error}; the client has it: {right}") from error
        raise


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and _PATH.fullmatch(value) is not None


def _options_of_clients() -> Collection[str]:
    from llmeval_integrations.llm.config import ClientConfig

    return ClientConfig.model_fields


def _as_json(value: Any) -> str | None:
    """Say how a text that is not JSON may have been meant, None where it is just a text."""
    if not isinstance(value, str):
        return None
    if value[:1] in ("{", "["):
        return "names and texts in double quotes"
    return _PYTHON_WORDS.get(value)


def _weighted(pair: Any, folder: Path) -> Any:
    """Build the evaluator of a pair of one and its weight."""
    if not isinstance(pair, Sequence) or len(pair) != _PAIR:
        return pair
    part, weight = pair
    return _inner(part, folder), weight


def _inner(value: Any, folder: Path) -> Any:
    """Build the evaluator that stands in another one's option: `NAME` or `{NAME: OPTIONS}`."""
    if isinstance(value, str):
        return _load(value, {}, folder)
    if not isinstance(value, Mapping):
        return value
    if len(value) != 1:  # its values are not shown, for they may hold a key
        raise InvalidOptionError(
            f"expected one evaluator, got {', '.join(map(str, value)) or '{}'}"
        )
    [(name, options)] = value.items()
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise InvalidOptionError(f"{name}: {quote(options)} are not options by name")
    return _load(name, {key: resolve(each, folder) for key, each in options.items()}, folder)


def _inner_list(value: Any, folder: Path) -> Any:
    """Build several such evaluators, of a list of them or a mapping."""
    if isinstance(value, Mapping):
        value = [{name: options} for name, options in value.items()]
    return [_inner(each, folder) for each in value] if isinstance(value, list) else value


def _made(kind: type, values: Mapping[str, Any]) -> Any:
    """Make what an option takes of a dataclass's fields by name."""
    known = [each.name for each in fields(kind)]
    for name in values:
        if name not in known:
            raise InvalidOptionError(f"{kind.__name__} has no {name!r}; it has {', '.join(known)}")
    return kind(**values)


def _fit(value: Any, kind: Any, folder: Path) -> Any:
    """Return a value as the option takes it.

    A number or truth value is text where only text is taken, as in `draft=7`; evaluators are built
    by their names, and other objects of their fields.
    """
    if kind == Parts:
        pairs = value.items() if isinstance(value, Mapping) else value
        is_pairs = isinstance(pairs, Iterable) and not isinstance(pairs, str)
        return [_weighted(pair, folder) for pair in pairs] if is_pairs else value
    if isinstance(kind, type) and issubclass(kind, Evaluator):
        return _inner(value, folder)
    if kind == Sequence[JudgedEvaluator]:
        return _inner_list(value, folder)
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
        return _made(kind, value)
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    only_text = all(
        part in (str, NoneType)
        or (get_origin(part) is Literal and all(isinstance(word, str) for word in get_args(part)))
        for part in parts
    )
    return json.dumps(value) if only_text and isinstance(value, int) else value
