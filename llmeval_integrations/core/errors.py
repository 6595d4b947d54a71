"""Everything this package raises on purpose.

A bad *output* never raises: it gets a low score and a reason.
"""

from __future__ import annotations

from typing import Any


class EvalError(Exception):
    """Root of all errors that this package raises on purpose."""


class InvalidOptionError(EvalError, ValueError):
    """An option's value is outside what the evaluator accepts."""


class MissingFieldError(EvalError, ValueError):
    """A sample lacks a field that the evaluator needs."""


class InvalidReferenceError(EvalError, ValueError):
    """The reference cannot be used, which is the caller's fault and never the model's."""


class InvalidSchemaError(InvalidOptionError):
    """The schema is not a JSON Schema, or refers to something outside itself."""


class RegexTimeoutError(EvalError, ValueError):
    """A regular expression gave no answer within its limit: the output is not right nor wrong."""


class UnknownNameError(EvalError, LookupError, ValueError):
    """A name that stands for nothing; the message lists those that do."""


class InputError(EvalError, ValueError):
    """A data file, a row or a configuration cannot be read."""


class JudgeError(EvalError, RuntimeError):
    """A judge gave no answer that can be used: the result is unscored, never a score."""

    label = "judge_failed"
    """What the unscored result is labelled with."""


class ClientError(JudgeError):
    """The model was not reached, or the call was refused."""

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
        """What went wrong: in TRANSIENT, or else such as `authentication`, `not_found`,
        `context_overflow`, `bad_request` or `budget`. It labels the unscored result."""
        self.status = status
        """The HTTP status, where there was one."""
        self.retry_after = retry_after
        """The seconds that the server asked to wait, where it did."""
        self.parameter = parameter
        """The parameter that the server refused, where it named one."""

    TRANSIENT = frozenset(("rate_limited", "timeout", "connection", "server", "garbled"))
    """The kinds that may succeed when tried again."""

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in self.TRANSIENT


class CutReplyError(JudgeError):
    """The reply ends at its limit of tokens, or where an error at the server broke it off."""

    label = "cut"


class RefusedReplyError(JudgeError):
    """The model declined to answer, or a filter took the reply."""

    label = "refused"


class UnreadableJudgementError(JudgeError, ValueError):
    """The reply does not say one thing clearly, and a verdict is never guessed."""

    label = "unreadable"


class RejectedAnswerError(EvalError, RuntimeError):
    """A model was asked as often as a guard allows, and no answer passed."""

    def __init__(self, message: str, best: Any = None) -> None:
        super().__init__(message)
        self.best = best
        """The best answer, and what the evaluator says of each try."""


class MissingDependencyError(EvalError, ImportError):
    """An optional package is needed and not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingDependencyError:
        """Word the error the same way wherever a package is missing."""
        return cls(f"{package} is not installed; run: pip install 'llmeval-integrations[{extra}]'")
