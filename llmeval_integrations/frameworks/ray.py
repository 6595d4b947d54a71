"""Our evaluators on Ray: evaluate a file on a cluster.

    from llmeval_integrations import JsonEquality, evaluate
    from llmeval_integrations.frameworks.ray import RayEngine

    run = evaluate(data, [JsonEquality()], out=folder, engine=RayEngine)
    [row.score for row in run.rows]  # [1.0, 0.0]

The run directory is the same as on one machine. On the command line, use
`llmeval run --engine ray`. For a dataset of Ray Data, use
`dataset.map_batches(evaluate_batch, ...)`.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.runs.chunk import start_chunk
from llmeval_integrations.runs.data.source import Record
from llmeval_integrations.runs.engine import Answers, Job

with optional("ray", "ray", "ray"):
    import ray
    from ray import cloudpickle
    from ray.exceptions import RayError

_TRIES: Final = 3
"""How often a chunk is sent again after its process or its machine was lost."""


class RayEngine:
    """Evaluates the rows of a run on a Ray cluster; `evaluate(..., engine=RayEngine)`.

    It uses the connected cluster, or else the one of `RAY_ADDRESS` or of this machine. If there is
    none, it starts one on this machine until the run is done. Each chunk of rows is a task. Rows
    are sent with their task, so the other machines do not need the data. A run with a judge does
    not use the cluster, because it mostly waits for replies. Raises InputError for evaluators that
    cannot be sent.
    """

    def __init__(self, job: Job) -> None:
        try:
            pickled = cloudpickle.dumps(job)
        except Exception as error:
            raise InputError(f"the evaluators cannot be sent to Ray: {error}") from error
        self._owns_cluster = not ray.is_initialized()
        if self._owns_cluster:
            _connect()
        self.ahead = 3 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
        self._evaluate = ray.remote(_evaluate).options(max_retries=_TRIES).remote
        self._job = ray.put(pickled)

    def start(self, records: Sequence[Record]) -> Callable[[], Answers]:
        """Start to evaluate a chunk; the returned function raises InputError if Ray gives up."""
        asked = self._evaluate(self._job, records)

        def finish() -> Answers:
            try:
                answers: Answers = ray.get(asked)
            except RayError as error:
                last = (str(error).strip().splitlines() or [""])[-1]
                reason = f"{type(error).__name__}: {last}"
                raise InputError(
                    f"Ray gave up ({reason:.300}); written results are kept, and the run can be "
                    "resumed"
                ) from error
            return answers

        return finish

    def close(self) -> None:
        """Stop the cluster if it was started here."""
        if self._owns_cluster:
            ray.shutdown()


def _evaluate(job: bytes, records: Sequence[Record]) -> Answers:
    """Evaluate a chunk as a task."""
    return start_chunk(_read(job), records)()


@lru_cache(maxsize=1)  # evaluators are compiled once per process
def _read(job: bytes) -> Job:
    read: Job = pickle.loads(job)  # noqa: S301 - from the process that started us
    return read


def _connect() -> None:
    """Connect to a cluster, or start one that sends no usage report."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"Ray cannot be reached: {error}") from error
