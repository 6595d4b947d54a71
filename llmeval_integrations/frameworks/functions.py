"""Our evaluators as the functions that other packages take.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.functions import as_function

    reward = as_function(JsonEquality(), "verl")
    reward("mine", "[1]", "[1.0]")["score"]  # 1.0

verl takes it as `custom_reward_function`, OpenRLHF as the `reward_func` of the file that
`remote_rm_url` names, Braintrust among the `scores` of `Eval`, Langfuse among the `evaluators` of
`run_experiment`. It is called like a scorer of autoevals, and Ragas calls
`numeric_metric(name=...)` with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import hint
from llmeval_integrations.core.result import Result
from llmeval_integrations.frameworks._base import Wrapper, make_sample, optional

_END: Final = re.compile(r"(?:<\|[^<>|]*\|>|</s>|<eos>|<end_of_turn>)+\s*$")
"""Special tokens at the end of a text, which OpenRLHF decodes, too."""


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
    if host not in _READERS:
        raise InvalidOptionError(f"{host!r} is not a known host; {hint(host, [*_READERS])}")
    if host not in ("verl", "openrlhf"):  # these take plain values
        with optional(host, host, host):
            import_module(host)
    ours = _Function(evaluator, name=name, value=value)
    ours.unscored = unscored
    function = _build(evaluator, host, getattr(ours, host))
    function.__name__ = ours.name
    return function


def _build(evaluator: Evaluator, host: str, write: Any) -> Callable[..., Any]:
    read = _READERS[host]

    @wraps(read)
    def function(*args: Any, **kwargs: Any) -> Any:
        fields = read(*args, **kwargs)
        if isinstance(fields, list):
            return write(evaluator.evaluate_many(make_sample(evaluator, **each) for each in fields))
        return write(evaluator.evaluate(make_sample(evaluator, **fields)))

    @wraps(read)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        fields = read(*args, **kwargs)
        return write(await evaluator.aevaluate(make_sample(evaluator, **fields)))

    awaits = host in ("braintrust", "langfuse", "ragas") and evaluator.is_judge
    return coroutine if awaits else function


class _Function(Wrapper):
    """One of our evaluators, with what each host makes of its results."""

    unscored: float | None = None

    def number(self, result: Result) -> float | None:
        figure = self.figure(result)
        return self.unscored if figure is None else float(figure)

    def verl(self, result: Result) -> dict[str, Any]:
        number = self.number(result)
        score = self.require_figure(result) if number is None else number
        passed = None if result.passed is None else bool(result.passed)
        return {"score": score, "passed": passed, "reason": result.reason}

    def openrlhf(self, results: list[Result]) -> dict[str, Any]:
        rewards: Any = [self.verl(result)["score"] for result in results]
        rewards = rewards[0] if len(rewards) == 1 else rewards  # OpenRLHF puts it into a tensor
        return {"rewards": rewards, "scores": rewards, "extra_logs": {}}

    def braintrust(self, result: Result, package: str = "braintrust") -> Any:
        details = {"passed": result.passed, "label": result.label, "reason": result.reason}
        score = import_module(f"{package}.score").Score
        return score(self.name, self.number(result), {**result.metadata, **details})

    def autoevals(self, result: Result) -> Any:
        return self.braintrust(result, "autoevals")

    def langfuse(self, result: Result) -> Any:
        from langfuse import Evaluation

        number = self.number(result)
        details = {**result.metadata, "passed": result.passed, "label": result.label}
        fields = {"name": self.name, "comment": result.reason, "metadata": details}
        return [] if number is None else Evaluation(value=number, **fields)

    def ragas(self, result: Result) -> Any:
        from ragas.metrics import MetricResult

        return MetricResult(self.number(result), result.reason)


# Each takes the arguments of a host, and returns the fields of a sample, or a list of them.


def _verl(
    data_source: Any,  # noqa: ARG001 - verl gives it by name
    solution_str: Any,
    ground_truth: Any,
    extra_info: Any = None,
    **_: Any,
) -> Any:
    return {"output": solution_str, "reference": ground_truth, "metadata": extra_info}


def _openrlhf(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Any:
    return [
        {"output": _END.sub("", query.removeprefix(prompt)), "reference": label, "input": prompt}
        for query, prompt, label in zip(queries, prompts, labels)
    ]


def _braintrust(
    input: Any, output: Any, expected: Any = None, metadata: Any = None, **_: Any
) -> Any:
    return {"output": output, "reference": expected, "input": input, "metadata": metadata}


def _autoevals(output: Any, expected: Any = None, input: Any = None, **metadata: Any) -> Any:
    return _braintrust(input, output, expected, metadata)


def _langfuse(
    *, input: Any, output: Any, expected_output: Any = None, metadata: Any = None, **_: Any
) -> Any:
    return _braintrust(input, output, expected_output, metadata)


def _ragas(
    response: Any, reference: Any = None, user_input: Any = None, retrieved_contexts: Any = None
) -> Any:
    return {**_braintrust(user_input, response, reference), "contexts": retrieved_contexts}


_READERS: Final[dict[str, Callable[..., Any]]] = {
    "verl": _verl,
    "openrlhf": _openrlhf,
    "braintrust": _braintrust,
    "autoevals": _autoevals,
    "langfuse": _langfuse,
    "ragas": _ragas,
}
