"""A dataset of Ray Data in, a dataset of rows out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import ray

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.judging import JudgingOptions, judging
from llmeval_integrations.runs.options import JudgeOptions, judging_options, name_evaluators
from llmeval_integrations.runs.tables import Kernel

_AT_A_TIME: Final = 128
"""Samples that one actor judges at a time: what the SDKs cost fills its processor beyond that."""

_ROWS: Final = 2_000
"""Rows of a task: enough that Ray's own time is small beside theirs."""

_ROWS_JUDGED: Final = 128
"""Rows of an actor's batch, of which Ray has it do several at a time."""


def evaluate_dataset(
    dataset: Any,
    evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    metadata: bool = False,
    **options: Any,
) -> Any:
    """Evaluate every row of a dataset of Ray Data with every evaluator.

    Gives a dataset, lazy as the given one, with the columns of `evaluate_batch`, in no order; so
    the data need a column of ids.

    Evaluators that ask nobody are tasks. Where there is a judge, all are in actors, one for every
    128 samples that may be judged at a time; `concurrency` and a budget hold for all together. A
    cache is a file of the machine that this is called on. An actor that is lost is begun anew.

    The options are `concurrency`, `cache`, `frozen`, `max_cost` and `max_tokens` of judges, and
    arguments of `map_batches`, such as `num_cpus`, `memory` or `runtime_env`.

    Raises InputError for what is no dataset, InvalidOptionError for what is no evaluator.
    """
    from ray.data import ActorPoolStrategy, Dataset

    if not isinstance(dataset, Dataset):
        raise InputError(f"expected a dataset of Ray Data, got {quote(dataset)}")
    named = name_evaluators(evaluators)
    columns_by_evaluator(columns or {}, named)  # what is wrong with the call is said by the call
    judges = judging_options(options)
    remote = {key: each for key, each in options.items() if key not in JudgeOptions.__annotations__}
    arguments = {"batch_format": "pyarrow", **remote}
    if not any(isinstance(each, JudgedEvaluator) for each in named.values()):
        arguments = {"batch_size": _ROWS, "fn_args": (named, columns, metadata), **arguments}
        return dataset.map_batches(_evaluate_rows, **arguments)
    with judging(named, replace(judges, cache=None, frozen=judges.frozen and not judges.cache)):
        actors, judges = share_options(judges)
    pool = {"batch_size": _ROWS_JUDGED, "compute": ActorPoolStrategy(size=actors)}
    made = {"fn_constructor_args": (named, columns, judges, metadata), **place(judges)}
    return dataset.map_batches(_Rows, **{**pool, **made, **arguments})


def _evaluate_rows(
    table: Any,
    evaluators: Mapping[str, Evaluator],
    columns: Mapping[str, str | None] | None,
    metadata: bool,
) -> Any:
    """Evaluate a table with evaluators that ask nobody."""
    with _Named(evaluators, columns, JudgingOptions()) as kernel:
        return kernel.table(table, metadata=metadata)


class _Named(Kernel):
    """Looks at tables whose rows can be told apart once they are cut and mixed."""

    def table(self, table: Any, *, metadata: bool) -> Any:
        first = next(iter(self.job.columns.values()))
        column = first.column("id")
        times = table.column_names.count(column)
        ids = table[column].to_pylist() if times == 1 else []
        if not times or any(first.id({column: each}, None) is None for each in ids):
            raise InputError(
                f"rows without an id in column {column!r}, only {table.column_names!r:.300}; rows "
                'of a dataset come in no order: name the column with columns={"id": ...}'
            )
        return super().table(table, metadata=metadata)


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
        kernel = self._stack.enter_context(_Named(evaluators, columns, options))
        self._evaluate = partial(kernel.table, metadata=metadata)

    async def __call__(self, table: Any) -> AsyncIterator[Any]:
        yield await asyncio.to_thread(self._evaluate, table)

    def __del__(self) -> None:
        self._stack.close()


def share_options(options: JudgingOptions) -> tuple[int, JudgingOptions]:
    """Share what holds for all judges among actors; gives their number and each one's part."""
    is_bounded = options.max_cost is not None or options.max_tokens is not None
    actors = 1 if is_bounded else -(-options.concurrency // _AT_A_TIME)
    cache = None if options.cache is None else Path(options.cache).absolute()
    return actors, replace(options, concurrency=options.concurrency // actors, cache=cache)


def place(options: JudgingOptions) -> dict[str, Any]:
    """Return what has Ray put actors where their cache is; they wait more than they compute."""
    if options.cache is None:
        return {}
    here = ray.get_runtime_context().get_node_id()
    return {"num_cpus": 0, "label_selector": {"ray.io/node-id": here}}
