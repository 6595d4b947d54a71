"""The rules that users set for arguments: by tool and path, and as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import hint
from llmeval_integrations.fields.paths import ANY, Override, Settings, check_path
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.document import object_of
from llmeval_integrations.tool_calls.node import ToolNode

_MOST_KEPT: Final = 1_000
"""The most tools without a schema whose nodes are kept; models may invent any number of names."""


class ArgumentRules:
    """How the arguments of each tool are compared."""

    def __init__(
        self, fields: Mapping[str, Any] | None = None, defaults: Mapping[str, Any] | None = None
    ) -> None:
        """`fields` are settings by `TOOL/path`."""
        fields = {f"/{key}": settings for key, settings in (fields or {}).items()}
        try:
            settings = Settings(fields, defaults or {})
        except InvalidOptionError as error:  # users write the path without its first slash
            raise type(error)(str(error).replace("'/", "'", 1)) from error
        self._overrides, self._defaults = settings.overrides, settings.defaults
        self.ignored = settings.ignored
        """The paths that the settings ignore."""
        self._nodes: dict[str, ToolNode] = {}

    def __getstate__(self) -> dict[str, Any]:
        # Pickled without the nodes of arguments, which may be nested too deeply for pickle.
        return {**self.__dict__, "_nodes": {}}

    def make_node(self, tool: str, schema: Any) -> ToolNode:
        """Return the node of a tool's arguments; `schema` may be None."""
        overrides = [
            Override(each.steps[1:], each.settings)
            for each in self._overrides
            if each.steps[0] == tool
            or (each.steps[0] == ANY and (schema is None or not _explain(each, schema)))
        ]
        return ToolNode.of_tool(tool, schema, overrides, self._defaults)

    def find_node(self, tool: str) -> ToolNode:
        """Return the node of a tool without a schema; it is created once."""
        node = self._nodes.get(tool)
        if node is None:
            if len(self._nodes) >= _MOST_KEPT:
                self._nodes.clear()
            node = self._nodes[tool] = self.make_node(tool, None)
        return node

    def check(self, schemas: Mapping[str, Any]) -> None:
        """Raise InvalidOptionError for a tool or an argument that does not exist."""
        for each in self._overrides:
            name, *steps = each.steps
            if name != ANY and name not in schemas:
                raise InvalidOptionError(
                    f"fields: there is no tool {name!r}; {hint(name, schemas)}"
                )
            if name != ANY and (problem := _explain(each, schemas[name])):
                raise InvalidOptionError(f"fields: the tool {name!r}: {problem}")
            if name == ANY and all(_explain(each, schema) for schema in schemas.values()):
                path = "/".join(map(escape, steps))
                known = [name for one in schemas.values() for name in object_of(one, "properties")]
                raise InvalidOptionError(f"fields: no tool has {path!r}; {hint(path, known)}")


def _explain(override: Override, schema: Any) -> str | None:
    """Return why a tool's schema does not have a path, or None if it does."""
    path = "".join(f"/{escape(step)}" for step in override.steps[1:])
    try:
        check_path(path, override.settings, schema)
    except InvalidOptionError as error:
        return str(error).removeprefix("fields: ")
    return None


NO_RULES: Final = ArgumentRules()
"""The rules of an evaluator that sets none."""
