"""A run shown to a person or to another program: one file per format, found by its name.

A format that shows runs has `write(runs, out)`; one that holds a table has
`write_table(table, out)`. Each has the `SUFFIX` of its files.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Literal

from llmeval_integrations.core.errors import UnknownNameError

Ability = Literal["write", "write_table"]


def formats(ability: Ability) -> dict[str, ModuleType]:
    """Return the formats that can do what is asked, by name."""
    names = [found.name for found in iter_modules(__path__) if not found.ispkg]
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, ability)}


def load_format(name: str, ability: Ability = "write") -> ModuleType:
    """Return a format by its name; raises UnknownNameError for one that is not there."""
    known = formats(ability)
    if name not in known:
        raise UnknownNameError(f"no format is called {name!r}; there are {', '.join(known)}")
    return known[name]
