"""Everything this package raises on purpose.

EvalError
├── InvalidOptionError      (ValueError)   an evaluator was built with an option that makes no sense
│   └── InvalidSchemaError                 the schema is no JSON Schema, or reaches outside itself
├── MissingFieldError       (ValueError)   a sample lacks a field that the evaluator needs
├── InvalidReferenceError   (ValueError)   the reference is not what the evaluator compares with
├── RunawayPatternError     (ValueError)   a regular expression would run for ever on this text
├── UnknownNameError        (LookupError,  no evaluator, framework or report has that name
│                            ValueError)
├── InputError              (ValueError)   a data file, a column or a configuration cannot be read
└── MissingDependencyError  (ImportError)  an optional package is not installed

A bad *output* never raises: it gets a low score and a reason.
"""

from __future__ import annotations


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


class RunawayPatternError(EvalError, ValueError):
    """A regular expression gave no answer within its limit: the output is not right nor wrong."""


class UnknownNameError(EvalError, LookupError, ValueError):
    """A name that stands for nothing; the message lists those that do."""


class InputError(EvalError, ValueError):
    """A data file, a row or a configuration cannot be read."""


class MissingDependencyError(EvalError, ImportError):
    """An optional package is needed and not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingDependencyError:
        """Word the error the same way wherever a package is missing."""
        return cls(f"{package} is not installed; run: pip install 'llmeval-integrations[{extra}]'")
