"""Functions of the caller's that a configuration names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote


def load_function(name: str, where: str) -> Callable[[Any, Any], Any]:
    """Import the function that `module:function` names; raise InvalidOptionError for no such."""
    module, colon, path = name.partition(":")
    given = f"{where}: compare={quote(name)}"
    if not (module and colon and path):
        raise InvalidOptionError(f"{given} is not the name of a function such as 'module:function'")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # importing runs the module
        raise InvalidOptionError(
            f"{given} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise InvalidOptionError(f"{given} is not a function")
    return found  # type: ignore[no-any-return]
