"""Runs: samples × evaluators → rows, from Python and for the command line."""

from llmeval_integrations.runs.batch import evaluate_batch
from llmeval_integrations.runs.comparison.compare import compare
from llmeval_integrations.runs.comparison.comparison import Comparison
from llmeval_integrations.runs.interrupting import Interrupted
from llmeval_integrations.runs.rows import Row, StoredRows
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.running import evaluate
from llmeval_integrations.runs.stored import read_run

__all__ = [
    "Comparison",
    "Interrupted",
    "Row",
    "Run",
    "StoredRows",
    "compare",
    "evaluate",
    "evaluate_batch",
    "read_run",
]
