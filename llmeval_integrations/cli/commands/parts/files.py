"""YAML, in which words are texts: `NO` is not false, and `1:30` no number; and TOML."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_MERGE: Final = "tag:yaml.org,2002:merge"
"""The tag of the key `<<`."""

_DECIMAL: Final = r"(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
_SCALARS: Final = {
    "null": ("~|null|Null|NULL|", "~nN"),
    "bool": ("true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": ("[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+", "-+0123456789"),
    "float": (rf"[-+]?(?:{_DECIMAL}|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)", "-+.0123456789"),
    "merge": ("<<", "<"),
}
"""What is more than a text, by the core schema of YAML 1.2 (chapter 10.3), and how it may begin.

PyYAML reads YAML 1.1, in which also `no`, `on` and `y` are booleans, and dates are dates. As there,
digits may be parted by `_`; a number with zeros before it is a text.
"""


class _Loader(yaml.SafeLoader):
    """PyYAML's loader with the scalars of YAML 1.2, in which no key of a mapping stands twice."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as PyYAML has it

    def compose_mapping_node(self, anchor: Any) -> Any:
        node: Any = super().compose_mapping_node(anchor)
        first: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if not isinstance(key.value, str) or key.tag == _MERGE:
                continue
            line = key.start_mark.line + 1
            if (key.tag, key.value) in first:
                raise InputError(
                    f"line {line}: the key {quote(key.value)} stands in line "
                    f"{first[key.tag, key.value]} already"
                )
            first[key.tag, key.value] = line
        return node


for _name, (_pattern, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}",
        re.compile(rf"(?:{_pattern})\Z"),
        [*_first, ""] if _name == "null" else list(_first),
    )


def load_yaml(path: Path) -> Any:
    """Read a YAML file; raise InputError where it is none."""
    try:
        return yaml.load(path.read_bytes(), _Loader)  # noqa: S506 - a loader of safe values
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InputError(
            f"is not YAML: {place}{getattr(error, 'problem', None) or error}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"cannot be read as YAML: {error}") from error


def load_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; raise InputError where it is none."""
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"is not TOML: {error}") from error
    return found
