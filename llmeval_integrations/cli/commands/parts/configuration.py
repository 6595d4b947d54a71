"""A run written down in a YAML file, or in `pyproject.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, get_type_hints

import msgspec
from msgspec.structs import asdict, replace

from llmeval_integrations.cli.commands.parts.files import load_toml, load_yaml
from llmeval_integrations.cli.commands.parts.specification import (
    Specification,
    parse_specification,
    resolve,
)
from llmeval_integrations.cli.commands.parts.thresholds import parse_rate
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import hint, quote
from llmeval_integrations.json_values.size import measure
from llmeval_integrations.runs.reading.opening import HUB, STDIN

SUFFIXES: Final = (".yaml", ".yml", ".toml")
"""How the name of a configuration ends."""

TABLE: Final = "llmeval"
"""The table under `tool` in a TOML file."""

_ONLY_OPTIONS: Final = {
    "no_cache": "write cache: false",
    "dry_run": "--dry-run is for the command line alone",
    "quiet": "--quiet is for the command line alone",
    "json": "--json is for the command line alone",
    "open": "--open is for the command line alone",
}
"""What is right instead of the options that are not keys."""

_OF_PATHS: Final = ("data", "out", "cache")

Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
"""A text that names something."""


class Configuration(msgspec.Struct, frozen=True):
    """What a run is made of, from a file or a command line; None where it does not say."""

    data: str | None = None
    """The path of the data, or "-"."""

    format: str | None = None
    """The format of the data."""

    evaluators: list[Specification] | None = None
    """The evaluators."""

    columns: dict[str, str | None] | None = None
    """From `[EVALUATOR.]FIELD` to a column, or None where no column is that field."""

    out: str | None = None
    """The directory of the run."""

    overwrite: bool | None = None
    """Whether the directory may hold a run already."""

    resume: bool | None = None
    """Whether a run that is there is gone on with."""

    retry_errors: bool | None = None
    """Whether its rows without a score are done again."""

    fail_under: dict[str, float] | None = None
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
        said = {key: value for key, value in asdict(other).items() if value is not None}
        for key in ("columns", "fail_under"):
            if key in said:
                said[key] = {**(getattr(self, key) or {}), **said[key]}
        return replace(self, **said)


_KINDS: Final = {
    **get_type_hints(Configuration),
    "fail_under": dict[str, float | str],
    "cache": str | bool,
}
"""What the keys hold as they are written."""


def read_configuration(path: Path) -> Configuration:
    """Read a YAML file, or the table `tool.llmeval` of a TOML file.

    Paths are relative to its folder. Its keys are the fields of Configuration. `evaluators` is a
    list; an item is an evaluator's name, as on the command line with options behind it; a mapping
    from a name to options; or `{name: ..., evaluator: ..., options: ...}`. Raises InputError.
    """
    try:
        content = _load(path)
        given = {key: value for key, value in content.items() if value is not None}
        return Configuration(**{key: _read(key, each, path) for key, each in given.items()})
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _load(path: Path) -> Mapping[str, Any]:
    if path.suffix.lower() == ".toml":
        content = load_toml(path).get("tool", {}).get(TABLE)
        if content is None:
            raise InputError(f"there is no table [tool.{TABLE}]")
    else:
        content = load_yaml(path)
    if not isinstance(content, dict):
        raise InputError(f"expected keys and values, got {quote(content)}")
    if limit := measure(content):  # some aliases make a short file a very large value
        raise InputError(f"it holds more than a configuration may ({limit})")
    _check_keys(content, Configuration.__struct_fields__, _ONLY_OPTIONS)
    return content


def _read(key: str, value: Any, path: Path) -> Any:
    try:
        if key == "evaluators":
            return _evaluators(value, path.parent.resolve())
        found = _convert(value, _KINDS[key])
        if key == "fail_under":
            return {name: _rate(name, rate) for name, rate in found.items()}
        return _resolve(found, path.parent) if key in _OF_PATHS else found
    except InputError as error:
        raise InputError(f"{key}: {error}") from error


def _convert(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{error}; it is {quote(value)}") from error


def _resolve(path: str | bool, folder: Path) -> str | Literal[False]:
    if path is False:
        return path
    if path is True or not path:
        raise InputError(f"expected a path, or for the cache false, got {path!r}")
    is_path = path != STDIN and not path.startswith(HUB)
    return str(folder / Path(path).expanduser()) if is_path else path


def _rate(name: str, rate: float | str) -> float:
    try:
        return parse_rate(rate)
    except ValueError as error:
        raise InputError(f"{name!r}: {quote(rate)} is not a rate") from error


def _check_keys(
    content: Mapping[Any, Any], known: tuple[str, ...], instead: Mapping[str, str] | None = None
) -> None:
    """Raise InputError for a key that is not known; `instead` says what is right for some."""
    for key in content:
        if key not in known:
            right = (instead or {}).get(str(key).replace("-", "_")) or hint(key, known)
            raise InputError(f"unknown key {quote(key)}; {right}")


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
    name = _convert(name, Name | None)
    return Specification(_convert(evaluator, Name), resolved, name, folder)
