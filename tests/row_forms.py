"""The same rows in every form that a run accepts."""

import pytest

from llmeval_integrations import Sample


def of_samples(rows):
    return [Sample(**row) for row in rows]


def of_pandas(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


def of_polars(rows):
    return pytest.importorskip("polars").DataFrame(rows)


def of_pyarrow(rows):
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)
