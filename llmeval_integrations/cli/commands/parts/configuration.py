"""A run written down in a YAML file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from llmeval_integrations.cli.commands.parts.specification import (
    Specification,
    parse_specification,
    resolve,
)
from llmeval_integrations.cli.commands.parts.thresholds import parse_rate
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import hint, quote
from llmeval_integrations.runs.reading.opening import HUB, STDIN

if TYPE_CHECKING:
    from yaml.nodes import Node

SUFFIXES: Final = (".yaml", ".yml")

_ONLY_OPTIONS: Final = {
    "no_cache": "write cache: false",
    "dry_run": "--dry-run is for the command line alone",
    "quiet": "--quiet is for the command line alone",
    "json": "--json is for the command line alone",
}
"""What is right instead of the options that are not keys."""

_MERGE: Final = "tag:yaml.org,2002:merge"
"""The tag of the key `<<`."""

_Reader: TypeAlias = Callable[[Any, Path], Any]


class Configuration(NamedTuple):
    """What a run is made of, from a file or a command line; None where it does not say."""

    data: str | None = None
    """The path of the data, or "-"."""

    format: str | None = None
    """The format of the data."""

    evaluators: list[Specification] | None = None
    """The evaluators."""

    columns: Mapping[str, str | None] | None = None
    """From `[EVALUATOR.]FIELD` to a column, or None where no column is that field."""

    out: str | None = None
    """The directory of the run."""

    overwrite: bool | None = None
    """Whether the directory may hold a run already."""

    resume: bool | None = None
    """Whether a run that is there is gone on with."""

    retry_errors: bool | None = None
    """Whether its rows without a score are done again."""

    fail_under: Mapping[str, float] | None = None
    """What the command fails below: a pass rate for `NAME`, a mean score for `NAME.mean`, the F1 of
    a field for `NAME/FIELD`."""

    max_errors: int | str | None = None
    """The most error rows of an evaluator, a number or a share such as "1%"."""

    limit: int | None = None
    """How many of the first rows are evaluated."""

    sample: int | None = None
    """How many of them, drawn by chance."""

    seed: int | None = None
    """Which are drawn."""

    workers: int | None = None
    """The most processes."""

    engine: str | None = None
    """Where samples are evaluated: "local" or "ray"."""

    concurrency: int | None = None
    """The most samples that are judged at a time."""

    cache: str | Literal[False] | None = None
    """The file of judges' replies; False for none."""

    frozen: bool | None = None
    """Whether nothing is asked that the cache lacks."""

    max_cost: float | None = None
    """US dollars after which judges are not asked any more."""

    max_tokens: int | None = None
    """Tokens after which judges are not asked any more."""

    def updated(self, other: Configuration) -> Configuration:
        """Return this configuration with what the other one says; mappings are merged by name."""
        said = {key: value for key, value in other._asdict().items() if value is not None}
        for key in ("columns", "fail_under"):
            if key in said:
                said[key] = {**(getattr(self, key) or {}), **said[key]}
        return self._replace(**said)


def read_configuration(path: Path) -> Configuration:
    """Read a YAML file; the paths in it are relative to its folder.

    Its keys are the fields of Configuration. `evaluators` is a list; an item is an evaluator's
    name, as on the command line with options behind it; a mapping from a name to options; or
    `{name: ..., evaluator: ..., options: ...}`. Raises InputError.
    """
    content = _load(path)
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: expected keys and values, got {quote(content)}")
    try:
        _check_keys(content, Configuration._fields, _ONLY_OPTIONS)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    given = {key: value for key, value in content.items() if value is not None}
    readers: dict[str, _Reader] = {
        "data": _path,
        "out": _path,
        "format": _text,
        "evaluators": _evaluators,
        "columns": _mapping_of((str, type(None)), "a column", "{output: answer}"),
        "overwrite": _flag,
        "resume": _flag,
        "retry_errors": _flag,
        "fail_under": _rates,
        "max_errors": _count_or_share,
        "limit": _number(int),
        "sample": _number(int),
        "seed": _number(int),
        "workers": _number(int),
        "engine": _text,
        "concurrency": _number(int),
        "cache": _path_or_false,
        "frozen": _flag,
        "max_cost": _number((int, float)),
        "max_tokens": _number(int),
    }
    read: dict[str, Any] = {}
    for key, value in given.items():
        try:
            read[key] = readers[key](value, path.parent)
        except InputError as error:
            raise InputError(f"{path}: {key}: {error}") from error
    return Configuration(**read)


def _load(path: Path) -> Any:
    import yaml

    from llmeval_integrations.cli.commands.parts.yaml_loader import Loader

    try:
        loader = Loader(path.read_bytes())
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _check_once(node, path)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except InputError:
        raise  # it says all; as a ValueError it would be worded below
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InputError(
            f"{path} is not YAML: {place}{getattr(error, 'problem', None) or error}"
        ) from error
    except (RecursionError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{path} cannot be read as YAML: {error}") from error


def _check_once(node: Node, path: Path) -> None:
    """Raise InputError for a key that stands twice in one mapping: YAML would drop the first."""
    for above, first, second in _twice(node, (), set()):
        more = (
            "; in a list the same evaluator may stand twice, with a name of its own: "
            "- {name: ..., evaluator: ..., options: ...}"
            if above == ("evaluators",)
            else ""
        )
        raise InputError(
            f"{path}: line {second.start_mark.line + 1}: the key {quote(second.value)} stands in "
            f"line {first.start_mark.line + 1} already{more}"
        )


def _twice(
    node: Node, above: tuple[str, ...], seen: set[Node]
) -> Iterator[tuple[tuple[str, ...], Node, Node]]:
    """Yield keys that stand twice in a mapping, with the keys above it; an alias is seen once."""
    if node in seen or isinstance(node.value, str):
        return
    seen.add(node)
    keys: dict[tuple[str, str], Node] = {}
    for item in node.value:
        if not isinstance(item, tuple):
            yield from _twice(item, above, seen)
            continue
        key, value = item
        inside = above
        if isinstance(key.value, str):
            if key.tag != _MERGE and (key.tag, key.value) in keys:
                yield above, keys[key.tag, key.value], key
            keys[key.tag, key.value] = key
            inside = (*above, key.value)
        yield from _twice(value, inside, seen)


def _check_keys(
    content: Mapping[Any, Any], known: tuple[str, ...], instead: Mapping[str, str] | None = None
) -> None:
    """Raise InputError for a key that is not known; `instead` says what is right for some."""
    for key in content:
        if key not in known:
            right = (instead or {}).get(str(key).replace("-", "_")) or hint(key, known)
            raise InputError(f"unknown key {quote(key)}; {right}")


def _path(value: Any, folder: Path) -> str:
    text = _text(value, folder)
    is_path = text != STDIN and not text.startswith(HUB)
    return text if not is_path else str(folder / Path(text).expanduser())


def _path_or_false(value: Any, folder: Path) -> str | Literal[False]:
    return value if value is False else _path(value, folder)


def _count_or_share(value: Any, _folder: Path) -> int | str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError(f"expected a whole number or a share such as 1%, got {quote(value)}")
    return value


def _number(kind: type | tuple[type, ...]) -> _Reader:
    def read(value: Any, _folder: Path) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            whole = "; it has to be whole" if isinstance(value, float) else ""
            raise InputError(f"expected a number, got {quote(value)}{whole}")
        return value

    return read


def _text(value: Any, _folder: Path) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"expected a text, got {quote(value)}")
    return value


def _flag(value: Any, _folder: Path) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"expected true or false, got {quote(value)}")
    return value


def _mapping_of(kind: type | tuple[type, ...], what: str, example: str) -> _Reader:
    def read(value: Any, _folder: Path) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(f"expected names and values such as {example}, got {quote(value)}")
        for name, item in value.items():
            if not isinstance(name, str) or not isinstance(item, kind) or isinstance(item, bool):
                raise InputError(f"{name!r}: {quote(item)} is not a name and {what}")
        return value

    return read


def _rates(value: Any, folder: Path) -> Mapping[str, float]:
    given = _mapping_of((int, float, str), "a rate", "{json_match: 0.9}")(value, folder)
    rates = {}
    for name, rate in given.items():
        try:
            rates[name] = parse_rate(rate)
        except ValueError as error:
            raise InputError(f"{name!r}: {quote(rate)} is not a name and a rate") from error
    return rates


def _evaluators(value: Any, folder: Path) -> list[Specification]:
    if isinstance(value, Mapping):
        value = [{name: options} for name, options in value.items()]
    if not isinstance(value, list):
        raise InputError(f"expected a list, got {quote(value)}")
    return [_evaluator(item, folder) for item in value]


def _evaluator(item: Any, folder: Path) -> Specification:
    if isinstance(item, str):
        return parse_specification(item, folder)
    if isinstance(item, Mapping) and "evaluator" in item:
        _check_keys(item, ("name", "evaluator", "options"))
        name, evaluator = item.get("name"), item["evaluator"]
        options = item.get("options")
    elif isinstance(item, Mapping) and len(item) == 1:
        name, (evaluator, options) = None, next(iter(item.items()))
    else:
        raise InputError(f"{quote(item)} is not a name, or a name with its options")
    options = {} if options is None else options
    if name is None and isinstance(options, Mapping) and "evaluator" in options:
        raise InputError(
            f"{quote(evaluator)}: with a name of its own an evaluator is written in a list, as "
            f"- {{name: {evaluator}, evaluator: {options['evaluator']}, options: ...}}"
        )
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        raise InputError(f"{evaluator}: {quote(options)} are not options by name")
    resolved = {key: resolve(option, folder) for key, option in options.items()}
    name = None if name is None else _text(name, folder)
    return Specification(_text(evaluator, folder), resolved, name, folder)
