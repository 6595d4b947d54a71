"""The errors of this package.

A bad *output* is not an error: it gets a low score and a reason.
"""

from __future__ import annotations

from typing import Any


class EvalError(Exception):
    """Base class of all errors that this package raises."""


class InvalidOptionError(EvalError, ValueError):
    """An option has a value that the evaluator does not accept."""


class MissingFieldError(EvalError, ValueError):
    """A sample lacks a field that the evaluator needs."""


class InvalidReferenceError(EvalError, ValueError):
    """The reference cannot be used. This is the caller's mistake, not the model's."""


class InvalidSchemaError(InvalidOptionError):
    """The schema is not a valid JSON Schema, or it refers to another document."""


class RegexTimeoutError(EvalError, ValueError):
    """A regular expression took too long, so the output is neither right nor wrong."""


class UnknownNameError(EvalError, LookupError, ValueError):
    """Nothing has this name. The message names the nearest, or lists all."""


class InputError(EvalError, ValueError):
    """An argument, a data file, a row or a configuration cannot be used."""


class JudgeError(EvalError, RuntimeError):
    """A judge gave no usable answer, so the result is unscored."""

    label = "judge_failed"
    """The label of the unscored result."""


class ClientError(JudgeError):
    """The model could not be reached, or the call was refused."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "failed",
        status: int | None = None,
        retry_after: float | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = self.label = kind
        """What went wrong: one of TRANSIENT, or another kind such as `authentication`,
        `not_found`, `context_overflow`, `bad_request` or `budget`. It is also the label."""
        self.status = status
        """The HTTP status, if there was one."""
        self.retry_after = retry_after
        """How many seconds to wait, if the server said so."""
        self.parameter = parameter
        """The parameter that the server refused, if it named one."""

    TRANSIENT = frozenset(("rate_limited", "timeout", "connection", "server", "garbled"))
    """The kinds of errors after which another try may succeed."""

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in self.TRANSIENT


class CutReplyError(JudgeError):
    """The reply was cut off by its limit of tokens, or by an error of the server."""

    label = "cut"


class RefusedReplyError(JudgeError):
    """The model refused to answer, or a filter blocked the reply."""

    label = "refused"


class UnreadableJudgementError(JudgeError, ValueError):
    """The reply has no clear verdict, and a verdict is never guessed."""

    label = "unreadable"


class RejectedAnswerError(EvalError, RuntimeError):
    """No answer of a model passed, and the guard allows no further try."""

    def __init__(self, message: str, best: Any = None) -> None:
        super().__init__(message)
        self.best = best
        """The best answer, with the evaluator's results of all tries."""


class MissingDependencyError(EvalError, ImportError):
    """An optional package is needed, but not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingDependencyError:
        """Return the error for a package, with the extra that installs it."""
        return cls(f"{package} is not installed; run: pip install 'llmeval-integrations[{extra}]'")
