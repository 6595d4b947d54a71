"""The runs in a folder, the newest first, as a section of cells."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.reports.view import NOTHING, Cell, Column, Row, Section, View, share
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.numbers import write_count

_MINUTE: Final = len("2026-01-31T12:30")
_COLUMNS: Final = [
    Column("run", "run", kind="name"),
    Column("date (UTC)", "date", kind="word", rank=1),
    Column("data", "data", kind="name", rank=2),
    Column("samples", "samples"),
    Column("pass rates", "rates", kind="text"),
]


def index_view(folder: str | PathLike[str]) -> View:
    """Return date, data and pass rates of the runs in a folder and up to two levels below it.

    Raises InputError if the folder does not exist.
    """
    if not Path(folder).is_dir():
        raise InputError(f"there is no folder {folder}")
    patterns = (RESULTS, f"*/{RESULTS}", f"*/*/{RESULTS}")
    found = {file.parent for pattern in patterns for file in Path(folder).glob(pattern)}
    rows = sorted(map(_row, sorted(found)), key=lambda row: row["date"], reverse=True)
    verdict = write_count(len(rows), "run")
    if not rows:
        verdict += "; llmeval run DATA -e EVALUATOR --out DIR keeps one."
    section = Section.of("runs", "Runs", _COLUMNS, rows, noun="run", few=20, most=20)
    return View(str(folder), Cell(verdict), [section] if rows else [])


def _row(path: Path) -> Row:
    directory = RunDirectory(path)
    manifest: Mapping[str, Any] = {}
    summary: Mapping[str, Any] = {}
    with suppress(InputError):  # a damaged file is ignored
        manifest = directory.manifest()
    with suppress(InputError):
        summary = directory.summary() or {}
    rates = [
        f"{name} {share(each['pass_rate'])}" for name, each in summary.get("evaluators", {}).items()
    ]
    date = str(manifest.get("started", ""))[:_MINUTE].replace("T", " ")
    return {
        "run": str(path),
        "date": date or NOTHING,
        "data": Path(manifest.get("data", {}).get("path", "")).name or NOTHING,
        "samples": summary.get("samples"),
        "rates": "; ".join(rates) or "not finished",
    }
