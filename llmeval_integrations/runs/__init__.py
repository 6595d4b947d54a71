"""Runs: samples × evaluators → rows, from Python and for the command line."""

from llmeval_integrations.runs.rows import Row, StoredRows
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.running import evaluate

__all__ = ["Row", "Run", "StoredRows", "evaluate"]
