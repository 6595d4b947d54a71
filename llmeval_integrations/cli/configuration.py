"""The configuration of a run, in a YAML file or in `pyproject.toml`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import asdict, replace

from llmeval_integrations.cli.gates import parse_gate
from llmeval_integrations.cli.specification import Specification, read_specification
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.json_values.values import measure
from llmeval_integrations.runs.data.source import HUB, STDIN

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

SUFFIXES: Final = (".yaml", ".yml", ".toml")
"""The suffixes of configuration files."""


class Configuration(msgspec.Struct, frozen=True):
    """The options of `llmeval run`; None if an option is not given."""

    data: str | None = None
    format: str | None = None
    evaluators: list[Specification] | None = None
    columns: dict[str, str | None] | None = None
    out: str | None = None
    overwrite: bool | None = None
    resume: bool | None = None
    retry_errors: bool | None = None
    fail_under: dict[str, float] | None = None
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
        """Return a copy with the other's options; columns and gates are merged by name."""
        said = {key: value for key, value in asdict(other).items() if value is not None}
        for key in ("columns", "fail_under"):
            if key in said:
                said[key] = {**(getattr(self, key) or {}), **said[key]}
        return replace(self, **said)


def read_configuration(path: Path) -> Configuration:
    """Read a YAML file, or the table `tool.llmeval` of a TOML file.

    Paths are relative to the file's folder. An item of `evaluators` is written as on the command
    line, or as `{[NAME=]EVALUATOR: OPTIONS}`. Raises InputError.
    """
    try:
        return msgspec.convert(_read(path), Configuration)
    except (InputError, msgspec.ValidationError, RuntimeError) as error:  # `~` of no known user
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
    if limit := measure(content).limit:  # aliases can turn a short file into a huge value
        raise InputError(f"it is larger than a configuration may be ({limit})")
    for key in content:
        if key not in (known := Configuration.__struct_fields__):
            raise InputError(f"there is no key {key!r}; {hint(key, known)}")
    found = {key: value for key, value in content.items() if value is not None}
    evaluators = found.get("evaluators", [])
    if isinstance(evaluators, Mapping):
        evaluators = [{name: options} for name, options in evaluators.items()]
    if isinstance(evaluators, list):
        folder = path.parent.resolve()
        found["evaluators"] = [read_specification(item, folder) for item in evaluators]
    if isinstance(gates := found.get("fail_under"), dict):
        written = {name: f"{name}={rate}" for name, rate in gates.items() if isinstance(rate, str)}
        found["fail_under"] = {**gates, **dict(map(parse_gate, written.values()))}
    for key in ("data", "out", "cache"):
        place = found.get(key)
        if isinstance(place, str) and place != STDIN and not place.startswith(HUB):
            found[key] = str(path.parent / Path(place).expanduser())
    return found


def choose_cache(given: str | Literal[False] | None) -> str | Path | None:
    """Return the file for judges' replies: in the user's cache folder, unless another is given.

    None for False, and if there is no home.
    """
    if given is not None:
        return given or None
    try:
        folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a container may run as a user without a name and without HOME
        return None
    return Path(folder) / "llmeval" / "replies.sqlite"


def _load_toml(path: Path) -> Any:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except ValueError as error:
        raise InputError(f"is not TOML: {error}") from error
    if "llmeval" not in content:
        raise InputError("there is no table [tool.llmeval]")
    return content["llmeval"]
