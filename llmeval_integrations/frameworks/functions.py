"""Our evaluators as functions for other packages.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.functions import as_function

    reward = as_function(JsonEquality(), "verl")
    reward("mine", "[1]", "[1.0]")["score"]  # 1.0

In verl it is the `custom_reward_function`, in OpenRLHF the `reward_func` of the file that
`remote_rm_url` names, in Braintrust one of the `scores` of `Eval`, in Langfuse one of the
`evaluators` of `run_experiment`. For autoevals it is called like a scorer. For Ragas, pass it to
`numeric_metric(name=...)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial, wraps
from importlib import import_module
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import hint
from llmeval_integrations.core.result import Result
from llmeval_integrations.frameworks._base import Wrapper, make_sample, optional

_END: Final = re.compile(r"(?:<\|[^<>|]*\|>|</s>|<eos>|<end_of_turn>)+\s*$")
"""Special tokens at the end of a text, which OpenRLHF does not remove."""


def as_function(
    evaluator: Evaluator,
    host: str,
    *,
    name: str | None = None,
    value: str = "score",
    unscored: float | None = None,
) -> Callable[..., Any]:
    """Make a function for a host to call; it raises our errors for a bad call.

    The host's metadata, or verl's `extra_info`, become variables of a judge's prompt. Their
    `contexts` and `schema` also become fields of the sample. If the host awaits functions, the
    function of a judge is a coroutine function.

    Args:
        host: One of verl, openrlhf, braintrust, autoevals, langfuse, ragas.
        name: The name of the figure, by default the evaluator's name.
        value: "score" or "passed".
        unscored: The number for a result without a score. With None, there is no score in
            Braintrust, autoevals and Ragas, and no evaluation in Langfuse. verl and OpenRLHF need a
            number, so UnscoredError is raised.

    Raises:
        InvalidOptionError: The host is unknown.
        MissingDependencyError: The host's package is needed for the answer and not installed.
    """
    if host not in _HOSTS:
        raise InvalidOptionError(f"{host!r} is not a known host; {hint(host, [*_HOSTS])}")
    if host not in ("verl", "openrlhf"):  # these accept plain values
        with optional(host, host, host):
            import_module(host)
    ours = _Function(evaluator, name=name, value=value)
    ours.unscored = unscored
    return ours.build(*_HOSTS[host])


class _Function(Wrapper):
    """One of our evaluators, and the number for an unscored result."""

    unscored: float | None = None

    def build(self, read: Any, write: Any, is_awaited: bool) -> Callable[..., Any]:
        """Return the function for a host that calls or awaits it."""
        evaluator = self.evaluator

        @wraps(read)
        def function(*args: Any, **kwargs: Any) -> Any:
            fields = read(*args, **kwargs)
            if isinstance(fields, list):
                samples = [make_sample(evaluator, **each) for each in fields]
                return write(self, evaluator.evaluate_many(samples))
            return write(self, evaluator.evaluate(make_sample(evaluator, **fields)))

        @wraps(read)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            sample = make_sample(evaluator, **read(*args, **kwargs))
            return write(self, await evaluator.aevaluate(sample))

        found = coroutine if is_awaited and evaluator.is_judge else function
        found.__name__ = self.name
        return found

    def number(self, result: Result) -> float | None:
        """Return the figure as a number, or the one for an unscored result."""
        figure = self.figure(result)
        return self.unscored if figure is None else float(figure)

    def require_number(self, result: Result) -> float:
        """Return the number; raise UnscoredError if there is none."""
        number = self.number(result)
        return self.require_figure(result) if number is None else number


# For each host, a function that returns the fields of one or more samples, and one that returns
# the answer.


def _read_verl(
    data_source: Any,  # noqa: ARG001 - verl passes it by name
    solution_str: Any,
    ground_truth: Any,
    extra_info: Any = None,
    **_: Any,
) -> Any:
    return {"output": solution_str, "reference": ground_truth, "metadata": extra_info}


def _write_verl(ours: _Function, result: Result) -> Any:
    passed = None if result.passed is None else bool(result.passed)
    return {"score": ours.require_number(result), "passed": passed, "reason": result.reason}


def _read_openrlhf(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Any:
    return [
        {"output": _END.sub("", query.removeprefix(prompt)), "reference": label, "input": prompt}
        for query, prompt, label in zip(queries, prompts, labels)
    ]


def _write_openrlhf(ours: _Function, results: list[Result]) -> Any:
    rewards: Any = [ours.require_number(result) for result in results]
    rewards = rewards[0] if len(rewards) == 1 else rewards  # OpenRLHF makes a tensor of it
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}


def _read_item(
    input: Any,
    output: Any,
    expected: Any = None,
    metadata: Any = None,
    expected_output: Any = None,
    **_: Any,
) -> Any:
    reference = expected if expected_output is None else expected_output
    return {"output": output, "reference": reference, "input": input, "metadata": metadata}


def _read_autoevals(output: Any, expected: Any = None, input: Any = None, **metadata: Any) -> Any:
    return _read_item(input, output, expected, metadata)


def _write_score(package: str, ours: _Function, result: Result) -> Any:
    details = {"passed": result.passed, "label": result.label, "reason": result.reason}
    score = import_module(f"{package}.score").Score
    return score(ours.name, ours.number(result), {**result.metadata, **details})


def _write_langfuse(ours: _Function, result: Result) -> Any:
    from langfuse import Evaluation

    number = ours.number(result)
    details = {**result.metadata, "passed": result.passed, "label": result.label}
    fields = {"name": ours.name, "comment": result.reason, "metadata": details}
    return [] if number is None else Evaluation(value=number, **fields)


def _read_ragas(
    response: Any, reference: Any = None, user_input: Any = None, retrieved_contexts: Any = None
) -> Any:
    return {**_read_item(user_input, response, reference), "contexts": retrieved_contexts}


def _write_ragas(ours: _Function, result: Result) -> Any:
    from ragas.metrics import MetricResult

    return MetricResult(ours.number(result), result.reason)


_HOSTS: Final[dict[str, tuple[Callable[..., Any], Callable[..., Any], bool]]] = {
    "verl": (_read_verl, _write_verl, False),
    "openrlhf": (_read_openrlhf, _write_openrlhf, False),
    "braintrust": (_read_item, partial(_write_score, "braintrust"), True),
    "autoevals": (_read_autoevals, partial(_write_score, "autoevals"), False),
    "langfuse": (_read_item, _write_langfuse, True),
    "ragas": (_read_ragas, _write_ragas, True),
}
"""A reader, a writer, and whether the host awaits functions."""
