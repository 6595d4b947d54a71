"""Rows in every form that a run accepts, and as a run has them."""

import pytest

from llmeval_integrations import Run, Sample
from llmeval_integrations.runs import Row


def of_samples(rows):
    return [Sample(**row) for row in rows]


def of_pandas(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


def of_polars(rows):
    return pytest.importorskip("polars").DataFrame(rows)


def of_pyarrow(rows):
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)


def row_of(id, score=None, passed=None, *, name="judge", fields=None, **given):
    """Make a row of a run, with the counts of fields in its metadata."""
    metadata = {} if fields is None else {"fields": fields}
    default = {"label": None, "reason": None, "unscored": False, "error": None}
    return Row(
        id=id,
        evaluator=name,
        score=score,
        passed=passed,
        **{"metadata": metadata, **default, **given},
    )


def run_of(rows):
    """Make a run in memory of rows."""
    names = dict.fromkeys(each.evaluator for each in rows)
    samples = len(rows) // max(len(names), 1)
    summary = {"samples": samples, "evaluators": {name: {} for name in names}}
    return Run(summary, rows, {})
