"""A dataset of Ray Data in, a dataset of rows out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.frameworks.ray.actors import place, shared
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.batch import Batches
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.judging import JudgingOptions, judging
from llmeval_integrations.runs.naming import name_evaluators

_ROWS: Final = 2_000
"""Rows of a task: enough that Ray's own time is small beside theirs."""

_ROWS_JUDGED: Final = 128
"""Rows of an actor's batch, of which Ray has it do several at a time."""


def evaluate_dataset(
    dataset: Any,
    evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    concurrency: int = 32,
    cache: str | PathLike[str] | None = None,
    frozen: bool = False,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    metadata: bool = False,
    **remote: Any,
) -> Any:
    """Evaluate every row of a dataset of Ray Data with every evaluator.

    Gives a dataset, lazy as the given one, with the columns of `evaluate_batch`: id, evaluator,
    score, passed, label, reason, unscored, error, and on request metadata. It is in no order, and
    without an id nobody could tell which row belongs to which sample; so the data need a column of
    ids.

    evaluators, columns and what concerns judges are those of `evaluate`. Evaluators that ask nobody
    are tasks. Where there is a judge, all evaluators are in actors, one for every 128 samples that
    may be judged at a time; `concurrency` holds for all of them together. A budget is kept by one
    actor. A cache is a file of the machine that this is called on, and the actors are there, too.
    An actor that is lost is begun anew: what it was asking is asked again unless it is cached, and
    its budget begins anew.

    remote: further arguments of `map_batches`, such as `num_cpus`, `memory` or `runtime_env`.

    Raises InputError for what is not a dataset of Ray Data, InvalidOptionError for what is not
    an evaluator; the rest is raised when the dataset is read.
    """
    from ray.data import ActorPoolStrategy, Dataset

    if not isinstance(dataset, Dataset):
        raise InputError(f"expected a dataset of Ray Data, got {quote(dataset)}")
    named = name_evaluators(evaluators)
    columns_by_evaluator(columns or {}, named)  # what is wrong with the call is said by the call
    options = JudgingOptions(
        concurrency, cache, frozen=frozen, max_cost=max_cost, max_tokens=max_tokens
    )
    arguments = {"batch_format": "pyarrow", **remote}
    if not any(isinstance(each, JudgedEvaluator) for each in named.values()):
        arguments = {"batch_size": _ROWS, "fn_args": (named, columns, metadata), **arguments}
        return dataset.map_batches(_evaluate_rows, **arguments)
    with judging(named, replace(options, cache=None, frozen=frozen and cache is None)):
        actors, options = shared(options)
    return dataset.map_batches(
        _Rows,
        **{
            "batch_size": _ROWS_JUDGED,
            "compute": ActorPoolStrategy(size=actors),
            "fn_constructor_args": (named, columns, options, metadata),
            **place(options),
            **arguments,
        },
    )


def _evaluate_rows(
    table: Any,
    evaluators: Mapping[str, Evaluator],
    columns: Mapping[str, str | None] | None,
    metadata: bool,
) -> Any:
    """Evaluate a table with evaluators that ask nobody."""
    with _Named(evaluators, columns, JudgingOptions(), metadata=metadata) as batches:
        return batches(table)


class _Named(Batches):
    """Looks at tables whose rows can be told apart once they are cut and mixed."""

    def __call__(self, table: Any) -> Any:
        if sum(self.has_ids(table)) < table.num_rows:
            column = next(iter(self.columns.values())).id_column
            raise InputError(
                f"rows without an id in column {column!r}, only {table.column_names!r:.300}; rows "
                'of a dataset come in no order: name the column with columns={"id": ...}'
            )
        return super().__call__(table)


class _Rows:
    """An actor that evaluates tables, several at a time so that its judges are never idle."""

    def __init__(
        self,
        evaluators: Mapping[str, Evaluator],
        columns: Mapping[str, str | None] | None,
        options: JudgingOptions,
        metadata: bool,
    ) -> None:
        self._stack = ExitStack()
        self._batches = self._stack.enter_context(
            _Named(evaluators, columns, options, metadata=metadata)
        )

    async def __call__(self, table: Any) -> AsyncIterator[Any]:
        yield await asyncio.to_thread(self._batches, table)

    def __del__(self) -> None:
        self._stack.close()
