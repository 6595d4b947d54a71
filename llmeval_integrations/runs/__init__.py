"""Runs: samples × evaluators → rows, from Python and for the command line."""

from llmeval_integrations.runs.comparison.compare import Comparison, compare
from llmeval_integrations.runs.evaluate import evaluate
from llmeval_integrations.runs.options import RunOptions
from llmeval_integrations.runs.prefer import Preferences, prefer
from llmeval_integrations.runs.rows import Row, StoredRows
from llmeval_integrations.runs.run import Interrupted, Run
from llmeval_integrations.runs.stored import read_run
from llmeval_integrations.runs.tables import evaluate_batch

__all__ = [
    "Comparison",
    "Interrupted",
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
