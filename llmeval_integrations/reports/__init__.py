"""A run shown to a person or to another program.

A report is a file of this package that has `write(runs, out)` and the `SUFFIX` of its files;
`tables` writes rows and fields for other programs.
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
