"""Where replies are kept unless somebody says otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def default_cache() -> Path:
    """Return the file in the user's folder for caches, as the operating system has it.

    `$XDG_CACHE_HOME` or `~/.cache` on Linux, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on
    Windows; in it `llmeval/replies.sqlite`.
    """
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Caches"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return folder / "llmeval" / "replies.sqlite"
