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
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.runs.chunk import start_chunk
from llmeval_integrations.runs.data.source import Record
from llmeval_integrations.runs.engine import Answers, Job
from llmeval_integrations.runs.judges import Judging, open_judges

with optional("ray", "ray", "ray"):
    import ray
    from ray import cloudpickle
    from ray.exceptions import RayError

_TRIES: Final = 3
"""How often a chunk is sent again after its process or its machine was lost."""


class RayEngine:
    """Evaluates the rows of a run on a Ray cluster; `evaluate(..., engine=RayEngine)`.

    It uses the connected cluster, or else the one of `RAY_ADDRESS` or of this machine. If there is
    none, it starts one on this machine until the run is done. Rows are sent with their task, so the
    other machines do not need the data. Without a judge, chunks are tasks. With a judge, one actor
    evaluates them, because all share `concurrency` and the budget. The cache is a file on this
    machine, and only a cache keeps paid replies if a run breaks off. Raises InputError for
    evaluators that cannot be sent.
    """

    def __init__(self, job: Job, options: Mapping[str, Any], judges: Judging | None) -> None:
        try:
            self._job = cloudpickle.dumps(job)
        except Exception as error:
            raise InputError(f"the evaluators cannot be sent to Ray: {error}") from error
        self._stack = ExitStack()
        if not ray.is_initialized():
            _connect()
            self._stack.callback(ray.shutdown)
        if judges is None:
            self.ahead = 3 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
            evaluate = ray.remote(_evaluate).options(max_retries=_TRIES).remote
            self._ask: Callable[[Any], Any] = partial(evaluate, ray.put(self._job))
        else:
            self.ahead = 3  # a chunk has as many samples as are judged at a time
            self._ask = self._start_actor(judges.left(options)).evaluate.remote

    def start(self, records: Sequence[Record]) -> Callable[[], Answers]:
        """Start to evaluate a chunk; the returned function raises InputError if Ray gives up."""
        asked = self._ask(records)

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
        """Stop the actor, and the cluster if it was started here."""
        self._stack.close()

    def _start_actor(self, options: dict[str, Any]) -> Any:
        """Start the actor that asks the judges, on this machine if there is a cache."""
        place: dict[str, Any] = {}
        if options.get("cache") is not None:
            options = {**options, "cache": Path(options["cache"]).absolute()}
            here = ray.get_runtime_context().get_node_id()
            # It mostly waits.
            place = {"num_cpus": 0, "label_selector": {"ray.io/node-id": here}}
        begun = ray.remote(_Judges).options(
            max_concurrency=self.ahead + 1,  # one is for closing
            max_restarts=_TRIES,
            max_task_retries=_TRIES,
            **place,
        )
        actor = begun.remote(self._job, options)
        self._stack.callback(_end, actor)
        return actor


class _Judges:
    """An actor that evaluates chunks."""

    def __init__(self, job: bytes, options: Mapping[str, Any]) -> None:
        self._job = _read(job)
        self._stack = ExitStack()
        self._judges = self._stack.enter_context(open_judges(self._job.evaluators, options))

    def evaluate(self, records: Sequence[Record]) -> Answers:
        return start_chunk(self._job, records, self._judges)()

    def close(self) -> None:
        self._stack.close()


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


def _end(actor: Any) -> None:
    """Close the judges of the actor, so that a cache is one file again, and stop it."""
    ray.wait([actor.close.remote()], timeout=10)
    ray.kill(actor)
