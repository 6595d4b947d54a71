"""Reports of runs, for people and for other programs.

A format is a module of this package with `write(runs, out)` and the `SUFFIX` of its files. The
module `tables` writes rows and fields for other programs.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def formats() -> dict[str, ModuleType]:
    """Return the formats of reports, by name."""
    modules = {
        each.name: import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)
    }
    return {name: module for name, module in modules.items() if hasattr(module, "write")}
