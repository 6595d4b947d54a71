"""Our evaluators as the functions that other packages take.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.functions import as_function

    reward = as_function(JsonEquality(), "verl")
    reward("mine", "[1]", "[1.0]")["score"]  # 1.0

verl: `custom_reward_function`. OpenRLHF: `reward_func` of the file that `remote_rm_url` names.
Braintrust: among the `scores` of `Eval`. autoevals: called like one of its scorers. Langfuse: among
the `evaluators` of `run_experiment`. Ragas: what `numeric_metric(name=...)` is called with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.frameworks._base import Wrapper, make_sample, optional

_END: Final = re.compile(r"(?:<\|[^<>|]*\|>|</s>|<eos>|<end_of_turn>)+\s*$")
"""Special tokens at the end of a text, which OpenRLHF decodes, too."""


class _Function(Wrapper):
    """One of our evaluators, and what stands for a figure where there is none."""

    unscored: float | None = None

    def number(self, result: Result) -> float | None:
        """Return the score or the verdict as a number; `unscored` where there is none."""
        figure = self.figure(result)
        return self.unscored if figure is None else float(figure)

    def reward(self, result: Result) -> float:
        """Return the same; raise UnscoredError where `unscored` is None."""
        number = self.number(result)
        return self.require_figure(result) if number is None else number


def as_function(
    evaluator: Evaluator,
    host: str,
    *,
    name: str | None = None,
    value: str = "score",
    unscored: float | None = None,
) -> Callable[..., Any]:
    """Make the function that a host calls; it raises our errors for a bad call.

    A host's metadata, or verl's `extra_info`, are variables of a judge's prompt; their `contexts`
    and `schema` are those of the sample. Where the host awaits functions a judge's is awaited.
    Raises InvalidOptionError for a host that is not known, MissingDependencyError for one whose
    package has the type of the answer and is not installed.

    Args:
        host: One of verl, openrlhf, braintrust, autoevals, langfuse, ragas.
        name: What the figure is called, the evaluator's own name unless given.
        value: "score" or "passed".
        unscored: The number that stands for a result without one. None is the host's own word: no
            score in Braintrust, autoevals and Ragas, no evaluation in Langfuse; verl and OpenRLHF
            have none, and UnscoredError is raised.
    """
    if host not in _SHAPES:
        raise InvalidOptionError(f"{host!r} is not a known host; {hint(host, [*_SHAPES])}")
    ours = _Function(evaluator, name=name, value=value)
    ours.unscored = unscored
    shape = _SHAPES[host]
    write = shape.write(ours)

    @wraps(shape.read)
    def function(*args: Any, **kwargs: Any) -> Any:
        fields = shape.read(*args, **kwargs)
        if isinstance(fields, list):
            return write(evaluator.evaluate_many(_sample(evaluator, **each) for each in fields))
        return write(evaluator.evaluate(_sample(evaluator, **fields)))

    @wraps(shape.read)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return write(await evaluator.aevaluate(_sample(evaluator, **shape.read(*args, **kwargs))))

    chosen = awaited if shape.awaits and evaluator.is_judge else function
    chosen.__name__ = ours.name
    return chosen


def _sample(evaluator: Evaluator, metadata: Any = None, **fields: Any) -> Sample:
    """Make a sample of a host's arguments and what it calls metadata."""
    if isinstance(metadata, Mapping):
        further = {field: metadata.get(field) for field in ("contexts", "schema")}
        fields = {"variables": dict(metadata), **further, **fields}
    return make_sample(evaluator, **fields)


@dataclass(frozen=True)
class _Shape:
    """How a host calls a function, and what it wants of it."""

    read: Callable[..., Any]
    """Takes the host's arguments; returns the fields of a sample, or a list of them."""

    write: Callable[[_Function], Callable[[Any], Any]]
    """Makes what turns a result, or a list of them, into the host's answer."""

    awaits: bool = False


def _read_verl(
    data_source: Any,  # noqa: ARG001 - verl gives it by name
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    **_: Any,
) -> dict[str, Any]:
    return {"output": solution_str, "reference": ground_truth, "metadata": extra_info}


def _write_verl(ours: _Function) -> Callable[[Result], Any]:
    def write(result: Result) -> dict[str, Any]:
        passed = None if result.passed is None else bool(result.passed)
        return {"score": ours.reward(result), "passed": passed, "reason": result.reason}

    return write


def _read_openrlhf(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> list[dict[str, Any]]:
    return [
        {"output": _END.sub("", query.removeprefix(prompt)), "reference": label, "input": prompt}
        for query, prompt, label in zip(queries, prompts, labels)
    ]


def _write_openrlhf(ours: _Function) -> Callable[[list[Result]], Any]:
    def write(results: list[Result]) -> dict[str, Any]:
        rewards: Any = [ours.reward(result) for result in results]
        rewards = rewards[0] if len(rewards) == 1 else rewards  # OpenRLHF puts it into a tensor
        return {"rewards": rewards, "scores": rewards, "extra_logs": {}}

    return write


def _read_braintrust(
    input: Any, output: Any, expected: Any = None, metadata: Any = None, **_: Any
) -> dict[str, Any]:
    return {"output": output, "reference": expected, "input": input, "metadata": metadata}


def _read_autoevals(
    output: Any, expected: Any = None, input: Any = None, **further: Any
) -> dict[str, Any]:
    return {"output": output, "reference": expected, "input": input, "metadata": further}


def _write_score(package: str) -> Callable[[_Function], Callable[[Result], Any]]:
    def make(ours: _Function) -> Callable[[Result], Any]:
        with optional(package, package, package):
            from importlib import import_module

            score = import_module(f"{package}.score").Score

        def write(result: Result) -> Any:
            details = {"passed": result.passed, "label": result.label, "reason": result.reason}
            return score(ours.name, ours.number(result), {**result.metadata, **details})

        return write

    return make


def _read_langfuse(
    *, input: Any, output: Any, expected_output: Any = None, metadata: Any = None, **_: Any
) -> dict[str, Any]:
    return {"output": output, "reference": expected_output, "input": input, "metadata": metadata}


def _write_langfuse(ours: _Function) -> Callable[[Result], Any]:
    with optional("langfuse", "langfuse", "langfuse"):
        from langfuse import Evaluation

    def write(result: Result) -> Any:
        number = ours.number(result)
        details = {**result.metadata, "passed": result.passed, "label": result.label}
        if number is None:
            return []
        return Evaluation(name=ours.name, value=number, comment=result.reason, metadata=details)

    return write


def _read_ragas(
    response: Any,
    reference: Any = None,
    user_input: Any = None,
    retrieved_contexts: Any = None,
) -> dict[str, Any]:
    return {
        "output": response,
        "reference": reference,
        "input": user_input,
        "contexts": retrieved_contexts,
    }


def _write_ragas(ours: _Function) -> Callable[[Result], Any]:
    with optional("ragas", "ragas", "ragas"):
        from ragas.metrics import MetricResult

    return lambda result: MetricResult(ours.number(result), result.reason)


_SHAPES: Final = {
    "verl": _Shape(_read_verl, _write_verl),
    "openrlhf": _Shape(_read_openrlhf, _write_openrlhf),
    "braintrust": _Shape(_read_braintrust, _write_score("braintrust"), awaits=True),
    "autoevals": _Shape(_read_autoevals, _write_score("autoevals")),
    "langfuse": _Shape(_read_langfuse, _write_langfuse, awaits=True),
    "ragas": _Shape(_read_ragas, _write_ragas, awaits=True),
}
