"""Runs evaluate samples with evaluators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.runs.evaluate import evaluate
from llmeval_integrations.runs.options import JudgeOptions, RunOptions
from llmeval_integrations.runs.rows import Row, StoredRows
from llmeval_integrations.runs.run import Interrupted, Run
from llmeval_integrations.runs.tables import evaluate_batch

if TYPE_CHECKING:
    from llmeval_integrations.runs.comparison.compare import Comparison, compare
    from llmeval_integrations.runs.comparison.prefer import Preferences, prefer
    from llmeval_integrations.runs.load import read_run

__all__ = [
    "Comparison",
    "Interrupted",
    "JudgeOptions",
    "Preferences",
    "Row",
    "Run",
    "RunOptions",
    "StoredRows",
    "compare",
    "evaluate",
    "evaluate_batch",
    "prefer",
    "read_run",
]

_LATER: Final = {
    "Comparison": "comparison.compare",
    "compare": "comparison.compare",
    "Preferences": "comparison.prefer",
    "prefer": "comparison.prefer",
    "read_run": "load",
}
"""The files of names that no run needs. They are imported on demand."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"llmeval_integrations.runs.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
