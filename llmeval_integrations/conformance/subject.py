"""How an evaluator is called, which its shape tells."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from llmeval_integrations.conformance.answer import Answer, read_score, read_verdict
from llmeval_integrations.conformance.case import Case
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import MISSING, Sample

_Form: TypeAlias = Callable[[Any, Any], tuple[tuple[Any, ...], dict[str, Any]]]

_ALONE: Final[tuple[_Form, ...]] = (
    lambda output, _: ((output,), {}),
    lambda output, _: ((), {"output": output}),
    lambda output, _: ((), {"outputs": output}),
)
_PAIR: Final[tuple[_Form, ...]] = (
    lambda output, reference: ((output, reference), {}),
    lambda output, reference: ((output,), {"reference": reference}),
    lambda output, reference: ((), {"output": output, "reference": reference}),
    lambda output, reference: ((), {"outputs": output, "reference_outputs": reference}),
)
"""The arguments of functions, by position and by name; openevals' last."""


@dataclass(frozen=True)
class Subject:
    """One evaluator: how it is asked, and how its result is read.

    It has a second call where it can be both called and awaited. By an exception of the type
    `refusal` it says that there is no answer.
    """

    name: str
    calls: tuple[Callable[[Case], Any], ...]
    read: Callable[[Any], Answer] = read_score
    refusal: type[Exception] | tuple[()] = ()


def recognize(thing: Any, claim: str) -> Subject:
    """Recognise an evaluator: ours, LangChain's, LlamaIndex's, or a callable.

    Raises InvalidOptionError for anything else.
    """
    if inspect.isclass(thing):
        raise InvalidOptionError(f"{quote(thing)} is a class; check an instance of it")
    name = getattr(thing, "__name__", type(thing).__name__)
    if claim == "verdict_reading":
        if isinstance(thing, Evaluator) or not callable(thing):
            raise InvalidOptionError(
                f"{quote(thing)} reads no verdicts: that takes a function of a judge's reply"
            )
        return Subject(name, _function(thing, _ALONE + _PAIR), read_verdict, ValueError)
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
            f"{quote(thing)} is not an evaluator: it is none of ours, has no evaluate_strings, no "
            "evaluate(response=...), and cannot be called"
        )
    return Subject(name, _function(thing, _ALONE + _PAIR if claim == "json_validity" else _PAIR))


def _methods(
    thing: Any, name: str, arguments: Callable[[Case], dict[str, Any]]
) -> tuple[Callable[[Case], Any], ...]:
    """Call a method, and the one that is awaited, where there is one."""
    methods = getattr(thing, name), getattr(thing, f"a{name}", None)
    return tuple(
        lambda case, method=method: method(**arguments(case)) for method in methods if method
    )


def _our_arguments(case: Case) -> dict[str, Any]:
    return {"sample": Sample(case.output, case.reference)}


def _langchain_arguments(thing: Any, case: Case) -> dict[str, Any]:
    arguments = {"prediction": case.output}
    if case.reference is not MISSING:
        arguments["reference"] = case.reference
    elif getattr(thing, "requires_reference", False):
        arguments["reference"] = None
    return {**arguments, "input": ""} if getattr(thing, "requires_input", False) else arguments


def _llama_index_arguments(case: Case) -> dict[str, Any]:
    if case.reference is MISSING:
        return {"response": case.output}
    is_text = isinstance(case.reference, str)
    reference = case.reference if is_text else json.dumps(case.reference)
    return {"response": case.output, "reference": reference}


def _function(function: Any, forms: tuple[_Form, ...]) -> tuple[Callable[[Case], Any]]:
    """Call a function by the first of these forms that its signature takes."""
    signature = inspect.signature(function)
    for form in forms:
        arguments, keywords = form("", None)
        try:
            signature.bind(*arguments, **keywords)
        except TypeError:
            continue

        def call(case: Case, form: _Form = form) -> Any:
            reference = None if case.reference is MISSING else case.reference
            arguments, keywords = form(case.output, reference)
            return function(*arguments, **keywords)

        return (call,)
    raise InvalidOptionError(
        f"{quote(function)} takes {signature}, and is asked for (output, reference), also by "
        "these names, or (outputs=..., reference_outputs=...)"
    )
