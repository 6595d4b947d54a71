"""What is tried, behind one face, recognised by its shape."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from llmeval_integrations.conformance.answer import Answer, read_answer, read_verdict
from llmeval_integrations.conformance.case import Case
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import MISSING, Sample

VERDICT_READING = "verdict_reading"
"""The claim whose answers are verdicts."""


@dataclass(frozen=True)
class Subject:
    """How to ask an evaluator, and how to read what it says."""

    name: str
    """What it is called."""

    call: Callable[[Case], Any] | None
    """Asks it; None where it can only be awaited."""

    acall: Callable[[Case], Any] | None
    """Asks it for something to be awaited; None where it cannot."""

    read: Callable[[Any], Answer]
    """Reads its result."""

    refusal: type[Exception] | tuple[()] = ()
    """The exceptions by which it says that there is no answer."""


def recognize(thing: Any, claim: str) -> Subject:
    """Recognise an evaluator: ours, LangChain's, LlamaIndex's, or a callable.

    Raises InvalidOptionError for anything else.
    """
    if inspect.isclass(thing):
        raise InvalidOptionError(f"{quote(thing)} is a class; check an instance of it")
    if claim == VERDICT_READING:
        return _recognize_reader(thing)
    if isinstance(thing, Evaluator):
        return _by_methods(thing.name, thing.evaluate, thing.aevaluate, _as_sample)
    name = type(thing).__name__
    if callable(getattr(thing, "evaluate_strings", None)):
        awaited = getattr(thing, "aevaluate_strings", None)
        return _by_methods(name, thing.evaluate_strings, awaited, partial(_for_langchain, thing))
    method = getattr(thing, "evaluate", None)
    if callable(method) and "response" in (_parameters(method) or {}):
        return _by_methods(name, method, getattr(thing, "aevaluate", None), _for_llama_index)
    if not callable(thing):
        raise InvalidOptionError(
            f"{quote(thing)} is not an evaluator: it is none of ours, has no evaluate_strings, no "
            "evaluate(response=...), and cannot be called"
        )
    return _recognize_function(thing, 1 if claim == "json_validity" else 2, read_answer)


def _by_methods(
    name: str,
    call: Callable[..., Any],
    acall: Callable[..., Any] | None,
    arguments: Callable[[Case], dict[str, Any]],
) -> Subject:
    """Ask by a method, and by another one that is awaited, where there is one."""
    return Subject(
        name,
        lambda case: call(**arguments(case)),
        acall and (lambda case: acall(**arguments(case))),
        read_answer,
    )


def _as_sample(case: Case) -> dict[str, Any]:
    return {"sample": Sample(case.output, case.reference)}


def _for_langchain(thing: Any, case: Case) -> dict[str, Any]:
    reference = None if case.reference is MISSING else case.reference
    arguments = {"prediction": case.output}
    if reference is not None or getattr(thing, "requires_reference", False):
        arguments["reference"] = reference
    if getattr(thing, "requires_input", False):
        arguments["input"] = ""
    return arguments


def _for_llama_index(case: Case) -> dict[str, Any]:
    if case.reference is MISSING:
        return {"response": case.output}
    is_text = isinstance(case.reference, str)
    reference = case.reference if is_text else json.dumps(case.reference)
    return {"response": case.output, "reference": reference}


def _recognize_reader(thing: Any) -> Subject:
    if isinstance(thing, Evaluator) or not callable(thing):
        raise InvalidOptionError(
            f"{quote(thing)} reads no verdicts: that takes a function of a judge's reply"
        )
    return _recognize_function(thing, 1, read_verdict, ValueError)


def _recognize_function(
    function: Any,
    fewest: int,
    read: Callable[[Any], Answer],
    refusal: type[Exception] | tuple[()] = (),
) -> Subject:
    """Ask a function of the output alone, or of output and reference, awaited or not."""
    way = _way(function, (*_ALONE, *_BOTH) if fewest == 1 else _BOTH)

    def call(case: Case) -> Any:
        given, named = way(case.output, None if case.reference is MISSING else case.reference)
        return function(*given, **named)

    name = getattr(function, "__name__", type(function).__name__)
    if _is_awaited(function):
        return Subject(name, None, call, read, refusal)
    return Subject(name, call, None, read, refusal)


_Way: TypeAlias = Callable[[Any, Any], tuple[tuple[Any, ...], dict[str, Any]]]
"""Gives the arguments for an output and a reference, by position and by name."""

_ALONE: Final[tuple[_Way, ...]] = (
    lambda output, _: ((output,), {}),
    lambda output, _: ((), {"output": output}),
    lambda output, _: ((), {"outputs": output}),
)
_BOTH: Final[tuple[_Way, ...]] = (
    lambda output, reference: ((output, reference), {}),
    lambda output, reference: ((output,), {"reference": reference}),
    lambda output, reference: ((), {"output": output, "reference": reference}),
    lambda output, reference: ((), {"outputs": output, "reference_outputs": reference}),
)
"""How functions are called, openevals' last."""


def _way(function: Any, ways: tuple[_Way, ...]) -> _Way:
    """Choose by the function's signature; raise InvalidOptionError where it takes none of these."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return ways[0]
    for way in ways:
        given, named = way("", None)
        try:
            signature.bind(*given, **named)
        except TypeError:
            continue
        return way
    raise InvalidOptionError(
        f"{quote(function)} takes {signature}, and is asked for (output, reference), also by these "
        "names, or (outputs=..., reference_outputs=...)"
    )


def _is_awaited(function: Any) -> bool:
    method = getattr(type(function), "__call__", None)  # noqa: B004 - an object's own, awaited too
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)


def _parameters(function: Any) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # some builtins have none
        return None
