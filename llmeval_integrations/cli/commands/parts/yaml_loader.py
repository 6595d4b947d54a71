"""YAML in which words are texts: `NO` is not false, and `1:30` no number."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

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


class Loader(yaml.SafeLoader):
    """PyYAML's loader with the scalars of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as PyYAML has it


for _name, (_pattern, _first) in _SCALARS.items():
    Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}",
        re.compile(rf"(?:{_pattern})\Z"),
        [*_first, ""] if _name == "null" else list(_first),
    )
