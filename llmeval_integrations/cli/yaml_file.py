"""Reading YAML files by the rules of YAML 1.2: `NO`, `on` and dates are texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import yaml

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote

_DECIMAL: Final = r"(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
_SCALARS: Final = {
    "null": ("~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": ("true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": ("[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (rf"[-+]?(?:{_DECIMAL}|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)", list("-+.0123456789")),
    "merge": ("<<", ["<"]),
}


class _Loader(yaml.SafeLoader):
    """PyYAML's loader with the scalars of YAML 1.2, which refuses duplicate keys."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as PyYAML has it

    def compose_mapping_node(self, anchor: Any) -> Any:
        node: Any = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            name, line = (key.tag, str(key.value)), key.start_mark.line + 1
            if name in lines and not key.tag.endswith(":merge"):
                first = f"already in line {lines[name]}"
                raise InputError(f"line {line}: the key {quote(key.value)} is {first}")
            lines[name] = line
        return node


for _name, (_pattern, _first) in _SCALARS.items():
    _tag = f"tag:yaml.org,2002:{_name}"
    _Loader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z"), _first)


def load_yaml(path: Path) -> Any:
    """Return the content of a file; raise InputError if it is not YAML with plain values."""
    try:
        return yaml.load(path.read_bytes(), _Loader)  # noqa: S506 - a loader of safe values
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):  # which is a ValueError, too
            raise
        message = " ".join(str(error).split()).replace('in "<byte string>", ', "at ")
        raise InputError(f"is not YAML: {message}") from error
