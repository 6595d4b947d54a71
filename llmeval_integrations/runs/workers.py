"""Further processes that evaluate a file of JSON Lines.

Each reads its own parts of the file, for texts that are sent to a process cost as much as most
evaluators. They are started as programs of their own, so that no script is imported again and no
lock is copied that another thread holds.
"""

from __future__ import annotations

import logging
import pickle
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Final

import msgspec

from llmeval_integrations.errors import InputError
from llmeval_integrations.runs.source import Source
from llmeval_integrations.runs.worker import LENGTH, READY, Answer, Job, Part, main
from llmeval_integrations.subprocesses import program

_log = logging.getLogger(__name__)

_PARTS: Final = 8
"""The parts that each process has at least, where they are not shorter than a few lines."""

_SHORTEST: Final = 1 << 12
_LONGEST: Final = 1 << 19
"""The fewest and the most bytes of a part, to which comes the rest of its last line."""

_PIPE: Final = 1 << 20
"""Bytes that a process may write before somebody reads: as many as Linux allows everybody."""

_AHEAD: Final = 3
"""Parts that each process has before its answers are read."""

_LARGE: Final = 1 << 26
"""Bytes of which the cheapest evaluator takes longer than the processes take to start."""

_TRIAL: Final = 0.05
"""Seconds after which the time that is left is told from that of what is done."""

_PAYS: Final = 1.0
"""Seconds that have to be left: the processes take a quarter of a second to start."""

_decode = msgspec.msgpack.Decoder(Answer).decode


class Workers:
    """So many processes, once it pays to have them."""

    def __init__(self, count: int, job: Job, *, at_once: bool = True) -> None:
        """Name the job; with `at_once` the processes of a large file are started now."""
        self._count = count
        self._job = job
        self._refused = False
        self._began = 0.0
        self._at_first: float | None = None
        self._starting: Thread | None = None
        self._processes: list[subprocess.Popen[bytes]] = []
        if at_once and Path(job.path).stat().st_size > _LARGE:
            self._begin()

    def _begin(self) -> None:
        self._starting = Thread(target=self._start)
        self._starting.start()

    def close(self) -> None:
        """End the processes."""
        if self._starting is not None:
            self._starting.join()
        for process in self._processes:
            process.kill()
            process.communicate()

    def ready(self, source: Source) -> bool:
        """Whether the processes are there.

        They are started once the rest of the data takes so long that they save time, and come to
        nothing where the evaluators cannot be handed to them, being made of what is defined in a
        script or a notebook.
        """
        if self._starting is not None:
            return bool(self._processes) and not self._starting.is_alive()
        share = source.share
        if self._at_first is None or share is None:
            self._began, self._at_first = perf_counter(), share
            return False
        taken, done = perf_counter() - self._began, share - self._at_first
        if not self._refused and taken > _TRIAL and done > 0:
            self._refused = taken / done * (1 - share) <= _PAYS
            if not self._refused:
                self._begin()
        return False

    def _start(self) -> None:
        try:
            job = pickle.dumps(self._job)
        except Exception as error:  # noqa: BLE001 - an evaluator's own code may raise anything
            _log.info("evaluated in this process alone: %s", error)
            return
        processes: list[subprocess.Popen[bytes]] = []
        reason = "a process could not read them"
        try:
            for _ in range(self._count):
                processes.append(_started())
                _send(processes[-1], job)
            if all(_receive(process, len(READY)) == READY for process in processes):
                self._processes = processes
                _log.info("%d processes are ready", self._count)
                return
        except OSError as error:
            reason = str(error)
        _log.info("evaluated in this process alone: %s", reason)
        for process in processes:
            process.kill()
            process.communicate()

    def answers(self, offset: int, number: int) -> Iterator[tuple[Answer, int]]:
        """Evaluate the lines from an offset on; gives answers in order, each with where it ends.

        Raises InputError where a process dies.
        """
        left = Path(self._job.path).stat().st_size - offset
        length = min(max(left // (_PARTS * self._count), _SHORTEST), _LONGEST)
        return self._ask(self._processes, parts_of(self._job.path, offset, number, length))

    def _ask(
        self, processes: list[subprocess.Popen[bytes]], parts: Iterator[tuple[Part, bytes]]
    ) -> Iterator[tuple[Answer, int]]:
        """Hand out parts in turns, and read the answers in the same order."""
        asked: deque[tuple[subprocess.Popen[bytes], Part]] = deque()
        for process, (part, _) in zip(cycle(processes), parts):
            _send(process, b"%d %d %d\n" % part)
            asked.append((process, part))
            if len(asked) > _AHEAD * len(processes):
                yield _answer(*asked.popleft())
        while asked:
            yield _answer(*asked.popleft())


def parts_of(path: str, offset: int, number: int, length: int) -> Iterator[tuple[Part, bytes]]:
    """Cut a file from an offset on into parts of about this many bytes; gives their texts, too."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        while text := file.read(length):
            text += file.readline()
            yield Part(offset, len(text), number), text
            offset += len(text)
            number += text.count(b"\n")


def _answer(process: subprocess.Popen[bytes], part: Part) -> tuple[Answer, int]:
    length = int.from_bytes(_receive(process, LENGTH), "big")
    text = _receive(process, length)
    if len(text) < length or not length:
        raise InputError(
            f"a process that evaluated lines from {part.number} on has ended"
            f" (exit code {process.wait(10)}); what is written stands, and the run can be resumed"
        )
    return _decode(text), part.offset + part.length


def _started() -> subprocess.Popen[bytes]:
    """Start a process, which may write much before somebody reads where the system allows that."""
    process = subprocess.Popen(  # noqa: S603 - our own module
        program(main.__module__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        assert process.stdout is not None  # noqa: S101 - for the type checker: it is a pipe
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, _PIPE)
    return process


def _send(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Send a text; a process that has ended is noticed where its answer is read."""
    assert process.stdin is not None  # noqa: S101 - for the type checker: it is a pipe
    try:
        process.stdin.write(text)
        process.stdin.flush()
    except BrokenPipeError:
        return


def _receive(process: subprocess.Popen[bytes], length: int) -> bytes:
    assert process.stdout is not None  # noqa: S101 - as above
    return process.stdout.read(length)
