"""The runs in a folder, the newest first, as a section of cells."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.reports.view import NOTHING, Cell, Column, Section, View
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.numbers import counted, figure, percent

_PATTERNS: Final = (RESULTS, f"*/{RESULTS}", f"*/*/{RESULTS}")
"""Where runs are looked for: in the folder, and up to two levels below it."""

_MINUTE: Final = len("2026-01-31T12:30")
_FEW: Final = 20


class _Entry(NamedTuple):
    started: str
    path: Path
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any] | None


def index_view(folder: str | PathLike[str]) -> View:
    """Return date, data and pass rates of the runs in a folder.

    Raises InputError where there is no such folder.
    """
    if not Path(folder).is_dir():
        raise InputError(f"there is no folder {folder}")
    found = {file.parent for pattern in _PATTERNS for file in Path(folder).glob(pattern)}
    entries = sorted(map(_entry, sorted(found)), key=lambda entry: entry.started, reverse=True)
    columns = [
        Column("run", "name"),
        Column("date (UTC)", "word", rank=1),
        Column("data", "name", rank=2),
        Column("samples"),
        Column("pass rates", "text"),
    ]
    rows = [_row(entry) for entry in entries]
    section = Section("runs", "Runs", columns, rows, noun="run", few=_FEW, most=_FEW)
    verdict = counted(len(rows), "run")
    if not rows:
        verdict += "; llmeval run DATA -e EVALUATOR --out DIR keeps one."
    return View(str(folder), Cell(verdict), [section] if rows else [])


def _entry(path: Path) -> _Entry:
    directory = RunDirectory(path)
    try:
        manifest = directory.manifest()
    except InputError:
        manifest = {}
    try:
        summary = directory.summary()
    except InputError:
        summary = None
    return _Entry(str(manifest.get("started", "")), path, manifest, summary)


def _row(entry: _Entry) -> list[Cell]:
    data = Path(entry.manifest.get("data", {}).get("path", "")).name
    date = entry.started[:_MINUTE].replace("T", " ")
    if entry.summary is None:
        samples, rates = Cell(NOTHING, "quiet"), Cell("not finished", "warn")
    else:
        samples = Cell(figure(entry.summary["samples"]))
        evaluators = entry.summary["evaluators"].items()
        rates = Cell("; ".join(_rate(name, figures) for name, figures in evaluators))
    return [Cell(str(entry.path)), Cell(date or NOTHING), Cell(data or NOTHING), samples, rates]


def _rate(name: str, figures: Mapping[str, Any]) -> str:
    rate = figures["pass_rate"]
    return f"{name} {NOTHING if rate is None else percent(rate)}"
