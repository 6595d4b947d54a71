"""A file of JSON Lines, evaluated part by part on a cluster."""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import lru_cache, partial
from itertools import cycle
from typing import Any, Final, TypeAlias

import ray
from ray import cloudpickle
from ray.exceptions import RayError

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.frameworks.ray.actors import place, shared
from llmeval_integrations.runs.judging import Judging, JudgingOptions, judging
from llmeval_integrations.runs.parts import Answer, Job, Part, evaluate_part, in_order, parts_of

_LONGEST: Final = 1 << 21
_LONGEST_JUDGED: Final = 1 << 15
"""The most bytes of a file's part."""

_AHEAD: Final = 3
"""How many times more parts are handed out than are evaluated at a time."""

_TRIES: Final = 3
"""How often a part is handed out again after its process or its machine was lost."""

_Ask: TypeAlias = Callable[[Part], Any]
"""Has a part evaluated; gives what will hold the answer."""


class RayEngine:
    """Evaluates a file of JSON Lines on a Ray cluster; `evaluate(..., engine=RayEngine)`.

    Uses the cluster that is connected to, else the one that `RAY_ADDRESS` or this machine has, else
    begins one on this machine until the run is done. The text of a part goes with its task, so that
    no machine but this one needs the file. Evaluators that ask nobody are tasks; where there is a
    judge, all are in actors, as `evaluate_dataset` has them, and only a cache keeps what was paid
    for when a run breaks off. Raises InputError for evaluators that cannot be sent.
    """

    def __init__(self, job: Job, options: JudgingOptions, judges: Judging | None) -> None:
        try:
            self._job = cloudpickle.dumps(job)  # now: a judge that has been asked holds more
        except Exception as error:
            raise InputError(f"the evaluators cannot be sent to Ray: {error}") from error
        self._path = job.path
        self._options = options
        self._judges = judges
        self._stack = ExitStack()

    def close(self) -> None:
        """End what was begun here."""
        self._stack.close()

    def answers(self, done: int) -> Iterator[Answer]:
        """Evaluate the rows behind the first `done`; give answers in order.

        Raises InputError where Ray cannot be reached or gives a part up.
        """
        if not ray.is_initialized():
            _connect()
            self._stack.callback(ray.shutdown)
        if self._judges is None:
            places, longest = max(int(ray.cluster_resources().get("CPU", 1)), 1), _LONGEST
            evaluate = ray.remote(_evaluate_part).options(max_retries=_TRIES).remote
            ask: _Ask = partial(evaluate, ray.put(self._job))
        else:
            actors, options = shared(self._judges.left(self._options))
            places, longest = actors * options.concurrency, _LONGEST_JUDGED
            ask = self._actors(actors, options)
        parts = parts_of(self._path, done, places, longest)
        return in_order(ask, parts, _AHEAD * places, _wait, ray.cancel)

    def _actors(self, count: int, options: JudgingOptions) -> _Ask:
        """Begin actors; gives what asks them in turns.

        A part has at least one sample, so each does as many parts at a time as samples are judged.
        """
        begun = ray.remote(_Parts).options(
            max_concurrency=options.concurrency + 1,  # one is for closing
            max_restarts=_TRIES,
            max_task_retries=_TRIES,
            **place(options),
        )
        actors = [begun.remote(self._job, options) for _ in range(count)]
        self._stack.callback(_end, actors)
        turns = cycle(actors)

        def ask(part: Part) -> Any:
            return next(turns).evaluate.remote(part)

        return ask


class _Parts:
    """An actor that evaluates parts of a file."""

    def __init__(self, job: bytes, options: JudgingOptions) -> None:
        self._job = _read(job)
        self._stack = ExitStack()
        self._judges = self._stack.enter_context(judging(self._job.evaluators, options))

    def evaluate(self, part: Part) -> Answer:
        return evaluate_part(self._job, part, self._judges)

    def close(self) -> None:
        self._stack.close()


def _evaluate_part(job: bytes, part: Part) -> Answer:
    """Evaluate a part as a task."""
    return evaluate_part(_read(job), part)


@lru_cache(maxsize=1)  # a process has many parts of one job, and evaluators keep what they compile
def _read(job: bytes) -> Job:
    read: Job = pickle.loads(job)  # noqa: S301 - from whoever started us
    return read


def _wait(reference: Any, part: Part) -> Answer:
    try:
        answer: Answer = ray.get(reference)
    except RayError as error:
        raise InputError(
            f"Ray gave up rows from {part.number:,} on ({_worded(error)}); "
            "what is written stands, and the run can be resumed"
        ) from error
    return answer


def _worded(error: RayError) -> str:
    """Return the line of Ray's report that says what it was."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1].strip()}"[:300] if lines else type(error).__name__


def _connect() -> None:
    """Connect to the cluster that there is, or begin one; a new one reports to nobody."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"Ray cannot be reached: {error}") from error


def _end(actors: list[Any]) -> None:
    """Have actors close what they hold, so that a cache is one file again, and end them."""
    ray.wait([actor.close.remote() for actor in actors], num_returns=len(actors), timeout=10)
    for actor in actors:
        ray.kill(actor)
