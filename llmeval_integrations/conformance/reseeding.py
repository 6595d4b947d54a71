"""The same cases in a process whose hashes have another seed, which is asked beside all else.

It reads a pickled evaluator with its claim and cases from standard input, and writes an answer for
each case as it comes.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Any, Final

from llmeval_integrations.conformance.answer import Answer
from llmeval_integrations.conformance.case import Case
from llmeval_integrations.conformance.subject import subject_of
from llmeval_integrations.conformance.trying import Trial
from llmeval_integrations.conformance.worker import be_silent
from llmeval_integrations.core.subprocesses import program

_SEEDS: Final = ("1", "2")


class Reseeded:
    """An evaluator in a process with another seed, or nothing where it cannot be sent there."""

    def __init__(self, evaluator: Any, claim: str, cases: Sequence[Case]) -> None:
        """Begin; what cannot be pickled, or is defined in a script or notebook, says nothing."""
        self._process = None
        self._answers = TemporaryFile()  # noqa: SIM115 - closed by `close`
        plain = [(case.output, case.reference) for case in cases]
        try:
            job = pickle.dumps((evaluator, claim, plain))
        except Exception:  # noqa: BLE001 - an evaluator's own pickling may raise anything
            return
        seed = next(seed for seed in _SEEDS if seed != os.environ.get("PYTHONHASHSEED"))
        with TemporaryFile() as asked:
            asked.write(job)
            asked.seek(0)
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                program(__name__),
                stdin=asked,
                stdout=self._answers,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONHASHSEED": seed},
            )

    def answers(self, seconds: float) -> list[Answer]:
        """Return the answers to the cases, in their order; as many as there are by then."""
        if self._process is None:
            return []
        found: list[Answer] = []
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(seconds, 0))
        self._answers.seek(0)
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                found.append(pickle.load(self._answers))  # noqa: S301 - from our own process
        return found

    def close(self) -> None:
        """Give it up, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._answers.close()


def main() -> None:
    """Answer every case."""
    answers = os.fdopen(os.dup(1), "wb")
    be_silent()
    evaluator, claim, cases = pickle.load(sys.stdin.buffer)  # noqa: S301 - from who started us
    trial = Trial(subject_of(evaluator, claim))
    for output, reference in cases:
        seen = trial.observe(Case("", "either", output, reference), once=True)
        pickle.dump(seen.first, answers)
        answers.flush()
    trial.close()
