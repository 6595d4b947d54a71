"""The rules that people set for arguments: by tool and path, and for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.fields.paths import ANY, Override, check_path, read_overrides
from llmeval_integrations.fields.rule import check_settings
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.document import object_of
from llmeval_integrations.text.edit_distance import load_levenshtein
from llmeval_integrations.tool_calls.node import CoercingNode, ToolNode

_MOST_KEPT: Final = 1_000
"""The tools without a schema whose nodes are kept."""


class ArgumentRules:
    """How the arguments of each tool are compared."""

    def __init__(
        self,
        fields: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        *,
        coerce: bool = False,
    ) -> None:
        """`fields` are settings by `TOOL/path`, `coerce` that of ToolCalls."""
        fields = {f"/{key}": settings for key, settings in (fields or {}).items()}
        self._overrides = read_overrides(fields)
        self._defaults = check_settings(defaults or {}, "defaults")
        self._coerce = coerce
        self._nodes: dict[str, ToolNode] = {}
        settings = (*fields.values(), self._defaults)
        if any(each.get("similarity") is not None for each in settings):
            load_levenshtein()

    def __getstate__(self) -> dict[str, Any]:
        # without the arguments that calls have had, which may be nested deeper than pickle goes
        return {**self.__dict__, "_nodes": {}}

    def node(self, tool: str, schema: Any = None) -> ToolNode:
        """Return the node of a tool's arguments; that of a tool without a schema is made once."""
        if schema is not None:
            return self._make_node(tool, schema)
        if tool not in self._nodes:
            if len(self._nodes) >= _MOST_KEPT:  # names that models make up are without number
                self._nodes.clear()
            self._nodes[tool] = self._make_node(tool, None)
        return self._nodes[tool]

    def _make_node(self, tool: str, schema: Any) -> ToolNode:
        overrides = [
            Override(each.steps[1:], each.settings)
            for each in self._overrides
            if each.steps[0] == tool or (each.steps[0] == ANY and _declares(each, schema))
        ]
        kind = CoercingNode if self._coerce else ToolNode
        return kind.of_tool(tool, schema, overrides, self._defaults)

    def check(self, schemas: Mapping[str, Any]) -> None:
        """Raise InvalidOptionError for a tool or an argument that there is not."""
        for each in self._overrides:
            name = each.steps[0]
            if name == ANY:
                if not any(_declares(each, schema) for schema in schemas.values()):
                    raise _unknown_argument(each, schemas.values())
            elif name not in schemas:
                raise InvalidOptionError(
                    f"fields: there is no tool {name!r}; {hint(name, schemas)}"
                )
            else:
                _check(each, schemas[name])


def _check(override: Override, schema: Any) -> None:
    """Raise InvalidOptionError for a path that the tool's schema has no place for."""
    tool, *steps = override.steps
    path = "".join(f"/{escape(step)}" for step in steps)
    try:
        check_path(path, override.settings, schema)
    except InvalidOptionError as error:
        why = str(error).removeprefix("fields: ")
        raise InvalidOptionError(f"fields: the tool {tool!r}: {why}") from error


def _declares(override: Override, schema: Any) -> bool:
    """Whether a tool's schema has a place for a path."""
    if schema is None:
        return True
    with suppress(InvalidOptionError):
        _check(override, schema)
        return True
    return False


def _unknown_argument(override: Override, schemas: Iterable[Any]) -> InvalidOptionError:
    path = "/".join(map(escape, override.steps[1:]))
    known = dict.fromkeys(name for schema in schemas for name in object_of(schema, "properties"))
    return InvalidOptionError(f"fields: no tool has {path!r}; {hint(path, [*known])}")


NO_RULES: Final = ArgumentRules()
"""Those of who sets none."""
