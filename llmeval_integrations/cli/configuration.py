"""A run written in a YAML file, or in `pyproject.toml`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import asdict, replace

from llmeval_integrations.cli.gates import parse_rate
from llmeval_integrations.cli.specification import Specification, parse_specification, read_file
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import hint, quote
from llmeval_integrations.json_values.limits import measure
from llmeval_integrations.runs.data.open_source import HUB, STDIN

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

SUFFIXES: Final = (".yaml", ".yml", ".toml")
"""How the name of a configuration ends."""

_CALL_ALONE: Final = ("dry_run", "quiet", "json", "open")
"""Options that stand on the command line alone."""


class Configuration(msgspec.Struct, frozen=True):
    """What a run is made of, by the options of `llmeval run`; None where it is not said."""

    data: str | None = None
    format: str | None = None
    evaluators: list[Specification] | None = None
    columns: dict[str, str | None] | None = None
    out: str | None = None
    overwrite: bool | None = None
    resume: bool | None = None
    retry_errors: bool | None = None
    fail_under: dict[str, float] | None = None
    max_errors: int | str | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int | None = None
    workers: int | None = None
    engine: Literal["local", "ray"] | None = None
    concurrency: int | None = None
    cache: str | Literal[False] | None = None
    frozen: bool | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    batch: bool | None = None

    def update(self, other: Configuration) -> Configuration:
        """Return this one with what the other says; columns and gates are merged by name."""
        said = {key: value for key, value in asdict(other).items() if value is not None}
        for key in ("columns", "fail_under"):
            if key in said:
                said[key] = {**(getattr(self, key) or {}), **said[key]}
        return replace(self, **said)


def read_configuration(path: Path) -> Configuration:
    """Read a YAML file, or the table `tool.llmeval` of a TOML file; raises InputError.

    Paths are relative to its folder. An item of `evaluators` is written as on the command line, as
    `{NAME: OPTIONS}`, or as `{name: ..., evaluator: ..., options: ...}`.
    """
    try:
        return msgspec.convert(_read(path), Configuration)
    except (InputError, msgspec.ValidationError) as error:
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _read(path: Path) -> dict[str, Any]:
    if path.suffix.lower() == ".toml":
        content = _load_toml(path)
    else:
        from llmeval_integrations.cli.yaml_file import load_yaml  # PyYAML takes 11 ms to import

        content = load_yaml(path)
    if not isinstance(content, dict):
        raise InputError(f"expected keys and values, got {quote(content)}")
    if limit := measure(content).limit:  # some aliases make a short file a very large value
        raise InputError(f"it holds more than a configuration may ({limit})")
    _check_keys(content, Configuration.__struct_fields__)
    found = {key: value for key, value in content.items() if value is not None}
    if "evaluators" in found:
        found["evaluators"] = _read_evaluators(found["evaluators"], path.parent.resolve())
    if isinstance(gates := found.get("fail_under"), dict):
        found["fail_under"] = {name: _read_rate(name, rate) for name, rate in gates.items()}
    for key in ("data", "out", "cache"):
        place = found.get(key)
        if isinstance(place, str) and place != STDIN and not place.startswith(HUB):
            found[key] = str(path.parent / Path(place).expanduser())
    return found


def default_cache() -> Path:
    """Return the file of judges' replies in the user's folder for caches."""
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Caches"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return folder / "llmeval" / "replies.sqlite"


def _check_keys(content: Mapping[Any, Any], known: tuple[str, ...]) -> None:
    for key in content:
        if key not in known:
            is_call = str(key).replace("-", "_") in _CALL_ALONE
            advice = "that is for the command line alone" if is_call else hint(key, known)
            raise InputError(f"unknown key {quote(key)}; {advice}")


def _read_rate(name: str, rate: Any) -> Any:
    try:
        return parse_rate(rate) if isinstance(rate, str) else rate
    except ValueError as error:
        raise InputError(f"fail_under: {name!r}: {quote(rate)} is not a rate") from error


def _read_evaluators(value: Any, folder: Path) -> list[Specification]:
    if isinstance(value, Mapping):
        value = [{name: options} for name, options in value.items()]
    if not isinstance(value, list):
        raise InputError(f"evaluators: expected a list, got {quote(value)}")
    return [_read_evaluator(item, folder) for item in value]


def _read_evaluator(item: Any, folder: Path) -> Specification:
    if isinstance(item, str):
        return parse_specification(item, folder)
    if isinstance(item, Mapping) and "evaluator" in item:
        _check_keys(item, ("name", "evaluator", "options"))
        name, evaluator, options = item.get("name"), item["evaluator"], item.get("options")
    elif isinstance(item, Mapping) and len(item) == 1:
        name, (evaluator, options) = None, next(iter(item.items()))
    else:
        raise InputError(f"evaluators: {quote(item)} is not a name, or a name with its options")
    if not isinstance(evaluator, str) or not isinstance(name, (str, NoneType)):
        raise InputError(f"evaluators: {quote(item)}: a name is a text")
    options = {} if options is None else options
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        raise InputError(f"evaluators: {evaluator}: {quote(options)} are not options by name")
    values = {key: read_file(option, folder) for key, option in options.items()}
    return Specification(evaluator, values, name, folder)


def _load_toml(path: Path) -> Any:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except ValueError as error:
        raise InputError(f"is not TOML: {error}") from error
    if "llmeval" not in content:
        raise InputError("there is no table [tool.llmeval]")
    return content["llmeval"]
