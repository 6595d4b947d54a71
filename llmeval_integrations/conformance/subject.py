"""Calling evaluators of any library, and reading their results."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from llmeval_integrations.conformance.case import Case, Says
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import one_line, quote
from llmeval_integrations.core.sample import Sample

_NAMES: Final = (("output", "reference"), ("outputs", "reference_outputs"))
"""The names of functions' arguments: ours, and openevals'."""


class Answer(NamedTuple):
    """One result, in plain values that can be sent between processes."""

    says: Says
    score: float | None = None
    text: str = ""

    def __str__(self) -> str:
        return f"{self.says}: {self.text}"

    def agrees_with(self, other: Answer) -> bool:
        """Return whether another call gave the same answer."""
        return (self.says, self.score) == (other.says, other.score)


@dataclass(frozen=True)
class Subject:
    """One evaluator: how it is called, and how its result is read.

    There is a second call if it has both a synchronous and an asynchronous method.
    """

    name: str
    calls: tuple[Callable[[Case], Any], ...]


def recognize(thing: Any, claim: str) -> Subject:
    """Recognize an evaluator of ours, LangChain or LlamaIndex, or a callable.

    Raises InvalidOptionError for anything else.
    """
    if inspect.isclass(thing):
        raise InvalidOptionError(f"{quote(thing)} is a class; check an instance of it")
    name = getattr(thing, "__name__", type(thing).__name__)
    if isinstance(thing, Evaluator):
        return Subject(thing.name, _methods(thing, "evaluate", _our_arguments))
    if callable(getattr(thing, "evaluate_strings", None)):
        arguments = partial(_langchain_arguments, thing)
        return Subject(name, _methods(thing, "evaluate_strings", arguments))
    evaluate = getattr(thing, "evaluate", None)
    if callable(evaluate) and "response" in inspect.signature(evaluate).parameters:
        return Subject(name, _methods(thing, "evaluate", _llama_index_arguments))
    if not callable(thing):
        raise InvalidOptionError(
            f"{quote(thing)} is not an evaluator: expected one of ours, an object with "
            "evaluate_strings or evaluate(response=...), or a callable"
        )
    return Subject(name, (_function(thing, claim),))


def _methods(
    thing: Any, name: str, arguments: Callable[[Case], dict[str, Any]]
) -> tuple[Callable[[Case], Any], ...]:
    """Return the call of a method, and of its asynchronous variant if there is one."""
    methods = getattr(thing, name), getattr(thing, f"a{name}", None)
    return tuple(
        lambda case, method=method: method(**arguments(case)) for method in methods if method
    )


def _our_arguments(case: Case) -> dict[str, Any]:
    return {"sample": Sample(case.output, case.reference)}


def _langchain_arguments(thing: Any, case: Case) -> dict[str, Any]:
    more = {"input": ""} if getattr(thing, "requires_input", False) else {}
    return {"prediction": case.output, "reference": case.plain_reference, **more}


def _llama_index_arguments(case: Case) -> dict[str, Any]:
    reference = case.plain_reference
    is_text = reference is None or isinstance(reference, str)
    return {"response": case.output, "reference": reference if is_text else json.dumps(reference)}


def _function(function: Any, claim: str) -> Callable[[Case], Any]:
    """Return the call of a function, by name if its arguments have names that we know."""
    signature = inspect.signature(function)
    names: tuple[str, ...]
    for names in _NAMES:
        if signature.parameters.keys() >= {*names}:
            return lambda case: function(**dict(zip(names, (case.output, case.plain_reference))))
    count = 1 if claim == "json_validity" else 2
    try:
        signature.bind(*range(count))
    except TypeError as error:
        raise InvalidOptionError(
            f"{quote(function)} has the signature {signature}; expected (output, reference), "
            "by position or by name, or (outputs=..., reference_outputs=...)"
        ) from error
    return lambda case: function(*(case.output, case.plain_reference)[:count])


def read_answer(result: Any) -> Answer:
    """Read a boolean, a number from 0 to 1, or a mapping or object with a score or a verdict.

    Only the score 1 counts as yes.
    """
    passed, score = None, result
    if isinstance(result, Mapping):
        passed, score = result.get("passed", result.get("passing")), result.get("score")
    elif hasattr(result, "score"):
        passed, score = getattr(result, "passed", getattr(result, "passing", None)), result.score
    text, number, truth = one_line(quote(result)), _read_number(score), _read_number(passed)
    if truth in (0, 1):
        return Answer("yes" if truth else "no", number, text)
    if score is None or getattr(result, "invalid_result", False):  # an attribute of LlamaIndex
        return Answer("nothing", None, text)
    if number is None or not 0 <= number <= 1:
        return Answer("unclear", None, text)
    return Answer("yes" if number == 1 else "no", number, text)


def _read_number(value: Any) -> float | None:
    """Return a finite number or boolean, also of another library, as a float; else None."""
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except Exception:  # noqa: BLE001 - another object may fail in any way
        return None
    return number if math.isfinite(number) else None
