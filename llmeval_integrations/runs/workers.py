"""Further processes that evaluate a file of JSON Lines.

Each reads its own parts of the file, for texts that are sent to a process cost as much as most
evaluators; this process does the parts for which no other has time. The others are started as
programs of their own, so that no script is imported again and no lock is copied that another thread
holds.
"""

from __future__ import annotations

import logging
import pickle
import re
import select
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from operator import attrgetter
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.subprocesses import program
from llmeval_integrations.runs.reading.source import RowNumber, Source, on_line, place_of
from llmeval_integrations.runs.worker import LENGTH, READY, Answer, Job, Part, evaluate_part, main

_log = logging.getLogger(__name__)

_PARTS: Final = 8
"""The parts that each process has at least, where they are not shorter than a few lines."""

_SHORTEST: Final = 1 << 12
_LONGEST: Final = 1 << 19
"""The fewest and the most bytes of a part, to which comes the rest of its last line."""

_SPACE_BEGINS_A_LINE: Final = re.compile(rb"\n\s")

_PIPE: Final = 1 << 20
"""Bytes that a process may write before somebody reads: as many as Linux allows everybody."""

_AHEAD: Final = 3
"""Parts that each process is asked for before it has answered the first."""

_LARGE: Final = 1 << 26
"""Bytes of which the cheapest evaluator takes longer than the processes take to start."""

_TRIAL: Final = 0.05
"""Seconds after which the time that is left is told from that of what is done."""

_PAYS: Final = 1.0
"""Seconds that have to be left: the processes take a quarter of a second to start."""


class Workers:
    """So many processes, this one included, once it pays to have them."""

    def __init__(self, count: int, job: Job, *, at_once: bool = True) -> None:
        """Name the job; with `at_once` the processes of a large file are started now."""
        self._count = count
        self._job = job
        self._refused = False
        self._began = 0.0
        self._at_first: float | None = None
        self._starting: Thread | None = None
        self._processes: list[_Process] = []
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
            process.close()

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
        processes: list[_Process] = []
        reason = "a process could not read them"
        try:
            while len(processes) < self._count - 1:  # and this process
                processes.append(_Process(job))
            if all(process.is_ready() for process in processes):
                self._processes = processes
                _log.info("%d further processes are ready", len(processes))
                return
        except OSError as error:
            reason = str(error)
        _log.info("evaluated in this process alone: %s", reason)
        for process in processes:
            process.close()

    def answers(self, offset: int, number: RowNumber) -> Iterator[tuple[Answer, int]]:
        """Evaluate the lines from an offset on; gives answers in order, each with where it ends.

        `number` is that of the first row. Raises InputError where a process dies.
        """
        left = Path(self._job.path).stat().st_size - offset
        length = min(max(left // (_PARTS * self._count), _SHORTEST), _LONGEST)
        asked: deque[tuple[_Process | Answer, Part]] = deque()
        for part, text in parts_of(self._job.path, offset, number, length):
            while asked and (len(asked) > _AHEAD * self._count or _is_there(asked[0][0])):
                yield _taken(*asked.popleft())
            idlest = min(self._processes, key=attrgetter("waiting"))
            if idlest.waiting < _AHEAD:
                idlest.ask(part)
                asked.append((idlest, part))
            else:  # all have enough to do
                asked.append((evaluate_part(self._job, text, part.number), part))
        while asked:
            yield _taken(*asked.popleft())


def _is_there(answer: _Process | Answer) -> bool:
    return isinstance(answer, Answer) or answer.has_answered()


def _taken(answer: _Process | Answer, part: Part) -> tuple[Answer, int]:
    if not isinstance(answer, Answer):
        answer = answer.answer(part)
    return answer, part.offset + part.length


class _Process:
    """A further process."""

    def __init__(self, job: bytes) -> None:
        """Start it with a pickled job; raises OSError where the system does not allow it."""
        self._process = _started()
        # Without a buffer, in which an answer would be that has_answered does not see.
        self._answers: FileIO = self._process.stdout.raw  # type: ignore[union-attr]
        self.waiting = 0
        """The parts that were asked for and not taken."""
        self._send(job)

    def is_ready(self) -> bool:
        """Wait until it has read the job; False where it could not."""
        return self._receive(len(READY)) == READY

    def ask(self, part: Part) -> None:
        """Have it evaluate a part, after those that it was asked before."""
        self._send(b"%d %d %d %d\n" % (part.offset, part.length, *place_of(part.number)))
        self.waiting += 1

    def has_answered(self) -> bool:
        """Whether an answer is there, or its beginning; no where the system cannot tell."""
        try:
            return bool(select.select([self._answers], [], [], 0)[0])
        except (OSError, ValueError):  # under Windows; of one of very many open files
            return False

    def answer(self, part: Part) -> Answer:
        """Wait for the answer to the first part that is not taken yet, which is this one."""
        length = int.from_bytes(self._receive(LENGTH), "big")
        text = self._receive(length)
        if len(text) < length or not length:
            raise InputError(
                f"a process that evaluated lines from {place_of(part.number)[1]} on has ended "
                f"(exit code {self._process.wait(10)}); what is written stands, and the run can be "
                "resumed"
            )
        self.waiting -= 1
        return Answer.unpacked(text)

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.communicate()

    def _send(self, text: bytes) -> None:
        """Send a text; that it has ended is noticed where its answer is read."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker: it is a pipe
        with suppress(BrokenPipeError):
            self._process.stdin.write(text)
            self._process.stdin.flush()

    def _receive(self, length: int) -> bytearray:
        """Read so many bytes, fewer where it has ended, and none that come after them."""
        text = bytearray(length)
        there = 0
        while there < length:
            more = self._answers.readinto(memoryview(text)[there:])
            if not more:
                break
            there += more
        del text[there:]  # which, unlike a slice, copies nothing
        return text


def parts_of(
    path: str, offset: int, number: RowNumber, length: int
) -> Iterator[tuple[Part, bytes]]:
    """Cut a file from an offset on into parts of about this many bytes; gives their texts, too."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        while text := file.read(length):
            text += file.readline()
            yield Part(offset, len(text), number), text
            offset += len(text)
            lines = text.count(b"\n")
            rows = lines - _empty_lines(text)
            first, line = place_of(number)
            number = on_line(first + rows, line + lines)


def _empty_lines(text: bytes) -> int:
    """Count the lines that are not rows; at once where there is none."""
    if not text[:1].isspace() and _SPACE_BEGINS_A_LINE.search(text) is None:
        return 0
    return sum(not line or line.isspace() for line in text.split(b"\n")[:-1])


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
