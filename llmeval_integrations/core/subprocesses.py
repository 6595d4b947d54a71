"""Starting a program of ours in a process of its own."""

from __future__ import annotations

import sys


def program(module: str) -> list[str]:
    """Return the command that calls a module's `main`, which finds other modules where we do.

    An interpreter that is told nothing looks in the current folder first, where any `json.py`
    would stand in for the real one.
    """
    path = [folder for folder in sys.path if isinstance(folder, str)]
    code = f"import sys; sys.path[:] = {path!a}; from {module} import main; main()"
    return [sys.executable, "-c", code]
