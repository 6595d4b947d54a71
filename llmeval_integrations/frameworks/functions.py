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
from functools import partial, update_wrapper
from importlib import import_module
from math import nan
from typing import Any, Final

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.frameworks._base import Wrapper, make_sample

_SPECIAL: Final = re.compile(r"(?:<\|[^<>|]*\|>|</s>|<eos>|<end_of_turn>)+\s*")
"""Special tokens in a row. OpenRLHF does not remove those at the end of a text."""

_REWARDS: Final = ("verl", "openrlhf")
"""The hosts that need a number for each result. Their packages are not imported."""

_AWAITING: Final = ("braintrust", "langfuse", "ragas")
"""The hosts that await functions."""


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
        ModuleNotFoundError: The host's package is needed for the answer and not installed.
    """
    if host not in _READERS:
        raise InvalidOptionError(f"{host!r} is not a known host; {hint(host, [*_READERS])}")
    if host not in _REWARDS:
        import_module(host)
    ours = Wrapper(evaluator, name=name, value=value)
    call = _acall if host in _AWAITING and evaluator.is_judge else _call
    # A partial of a function of this file can be pickled, for a pool of processes.
    function = update_wrapper(partial(call, ours, host, unscored), _READERS[host])
    function.__name__ = ours.name
    return function


def _call(ours: Wrapper, host: str, unscored: float | None, /, *args: Any, **kwargs: Any) -> Any:
    """Evaluate what a host passes."""
    fields = _READERS[host](*args, **kwargs)
    rows = fields if isinstance(fields, list) else [fields]
    results = ours.evaluate_many([make_sample(ours.evaluator, **row) for row in rows])
    written = [_write(ours, host, unscored, result) for result in results]
    if host != "openrlhf":
        return written[0]
    rewards = written[0] if len(written) == 1 else written  # OpenRLHF makes a tensor
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}


async def _acall(
    ours: Wrapper, host: str, unscored: float | None, /, *args: Any, **kwargs: Any
) -> Any:
    fields = _READERS[host](*args, **kwargs)
    result = await ours.evaluator.aevaluate(make_sample(ours.evaluator, **fields))
    return _write(ours, host, unscored, result)


# For each host, a function that returns the fields of a sample, or of several.


def _read_verl(
    data_source: Any,  # noqa: ARG001 - verl passes it by name
    solution_str: Any,
    ground_truth: Any,
    extra_info: Any = None,
    **_: Any,
) -> Any:
    return {"output": solution_str, "reference": ground_truth, "metadata": extra_info}


def _read_openrlhf(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Any:
    rows = []
    for query, prompt, label in zip(queries, prompts, labels):
        if prompt not in query:
            raise InputError(f"query {quote(query)} does not contain its prompt {quote(prompt)}")
        answer = query[query.index(prompt) + len(prompt) :]
        # A pattern with `$` would search from each token of a row in the middle of the text.
        answer = _SPECIAL.sub(lambda row: row[0] if row.end() < len(row.string) else "", answer)
        rows.append({"output": answer, "reference": label, "input": prompt})
    return rows


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


def _read_ragas(
    response: Any, reference: Any = None, user_input: Any = None, retrieved_contexts: Any = None
) -> Any:
    return {**_read_item(user_input, response, reference), "contexts": retrieved_contexts}


_READERS: Final[dict[str, Callable[..., Any]]] = {
    "verl": _read_verl,
    "openrlhf": _read_openrlhf,
    "braintrust": _read_item,
    "autoevals": _read_autoevals,
    "langfuse": _read_item,
    "ragas": _read_ragas,
}


def _write(ours: Wrapper, host: str, unscored: float | None, result: Result) -> Any:
    """Return a result as the host's."""
    needs_number = unscored is None and host in _REWARDS
    number = ours.require_figure(result) if needs_number else ours.number(result, unscored)
    if host == "openrlhf":
        return number
    passed = None if result.passed is None else bool(result.passed)
    details = {**result.metadata, "passed": passed, "label": result.label}
    if host == "verl":  # in a validation, it adds up all values but texts
        verdict = nan if passed is None else passed
        return {"score": number, "passed": verdict, "reason": result.reason or ""}
    if host == "ragas":
        return import_module("ragas.metrics").MetricResult(number, result.reason)
    if host == "langfuse":
        fields = {"name": ours.name, "value": number, "comment": result.reason, "metadata": details}
        return [] if number is None else import_module("langfuse").Evaluation(**fields)
    score = import_module(f"{host}.score").Score
    return score(ours.name, number, {**details, "reason": result.reason})
