"""Comparing tool calls beside the peers: verdicts on small cases, and microseconds a message.

    .venv/bin/python benchmarks/tool_calls.py

Every peer gets the calls in the form that its documentation has, and its best options: any order,
arguments exact. openevals is in the group `bench`; agentevals and deepeval take part where they can
be imported. None of the peers takes the tools' schemas.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import statistics
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from measure import compare

from llmeval_integrations import ToolCalls

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
os.environ.setdefault("OPENAI_API_KEY", "none")  # deepeval makes a client, which is never used

NAMES = ("weather", "hotels", "flights")
TOOLS = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "default": 1},
                "share": {"type": "number"},
            },
            "required": ["city"],
        },
    }
    for name in NAMES
]
Call = dict[str, Any]
Verdict = Callable[[list[Call], list[Call]], bool]


def call(name: str = "weather", **arguments: Any) -> Call:
    return {"name": name, "arguments": arguments}


PARIS, ROME = call(city="Paris", days=2), call(city="Rome", days=3)
CASES = {
    "the same": ([PARIS, ROME], [PARIS, ROME], True),
    "in another order": ([ROME, PARIS], [PARIS, ROME], True),
    "3.0 for 3": ([call(city="Rome", days=3.0)], [ROME], True),
    "the default said": ([call(city="Rome", days=1)], [call(city="Rome")], True),
    "the default left out": ([call(city="Rome")], [call(city="Rome", days=1)], True),
    "a wrong value": ([call(city="Rom", days=3)], [ROME], False),
    "a wrong number": ([call(city="Rome", days=4)], [ROME], False),
    "text for a number": ([call(city="Rome", days="3")], [ROME], False),
    "true for 1": ([call(city="Rome", share=True)], [call(city="Rome", share=1)], False),
    "an argument missing": ([call(days=3)], [ROME], False),
    "an argument too many": ([call(city="Rome", days=3, made_up=1)], [ROME], False),
    "another tool": ([call("hotels", city="Rome", days=3)], [ROME], False),
    "a call missing": ([PARIS], [PARIS, ROME], False),
    "a call too many": ([PARIS, ROME, ROME], [PARIS, ROME], False),
    "one of two twice": ([PARIS, PARIS], [PARIS, ROME], False),
    "values swapped": (
        [call(city="Paris", days=3), call(city="Rome", days=2)],
        [PARIS, ROME],
        False,
    ),
}  # fmt: skip
"""The calls made, those expected, and whether they are right."""


def ours() -> Verdict:
    evaluator = ToolCalls(TOOLS)
    return lambda made, expected: bool(evaluator(message(made), message(expected)).passed)


def message(calls: list[Call]) -> list[dict[str, Any]]:
    """Write calls as OpenAI's API has them."""
    functions = [{**one, "arguments": json.dumps(one["arguments"])} for one in calls]
    written = [
        {"type": "function", "id": f"c{n}", "function": function}
        for n, function in enumerate(functions)
    ]
    return [{"role": "assistant", "content": "", "tool_calls": written}]


def trajectory(package: str) -> Verdict:
    make = import_module(f"{package}.trajectory.match").create_trajectory_match_evaluator
    evaluator = make(trajectory_match_mode="unordered", tool_args_match_mode="exact")
    return lambda made, expected: bool(
        evaluator(outputs=message(made), reference_outputs=message(expected))["score"]
    )


def deepeval() -> Verdict:
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    params = [ToolCallParams.INPUT_PARAMETERS]
    metric = ToolCorrectnessMetric(threshold=1, evaluation_params=params, include_reason=False)

    def verdict(made: list[Call], expected: list[Call]) -> bool:
        calls = [
            [ToolCall(name=one["name"], input_parameters=one["arguments"]) for one in side]
            for side in (made, expected)
        ]
        case = LLMTestCase(
            input="x", actual_output="x", tools_called=calls[0], expected_tools=calls[1]
        )
        quiet = {"_show_indicator": False, "_in_component": True}
        metric.measure(case, **quiet)
        return bool(metric.success)

    return verdict


def peers() -> Iterator[tuple[str, Verdict]]:
    for package, make in {
        "openevals": lambda: trajectory("openevals"),
        "agentevals": lambda: trajectory("agentevals"),
        "deepeval": deepeval,
    }.items():
        with contextlib.suppress(ImportError, PackageNotFoundError):
            yield f"{package} {version(package)}", make()


def rows(count: int) -> list[tuple[list[Call], list[Call]]]:
    """Make up messages of one to four calls, half of which differ in one argument."""
    choose = random.Random(7)
    made = []
    for _ in range(count):
        calls = [
            call(choose.choice(NAMES), city=f"city {choose.randrange(99)}", days=n, share=n / 4)
            for n in range(choose.randint(1, 4))
        ]
        other = [{**one, "arguments": dict(one["arguments"])} for one in calls]
        if choose.random() < 0.5:
            choose.choice(other)["arguments"]["days"] += 10
        made.append((choose.sample(other, len(other)), calls))
    return made


def main() -> None:
    sides = {"llmeval-integrations": ours(), **dict(peers())}
    print("| verdict on | right is | " + " | ".join(sides) + " |")
    print("| --- | --- |" + " --- |" * len(sides))
    for name, (made, expected, right) in CASES.items():
        said = ["ok" if verdict(made, expected) is right else "wrong" for verdict in sides.values()]
        print(f"| {name} | {'pass' if right else 'fail'} | {' | '.join(said)} |")
    data = rows(200)
    print("\n| messages of 1 to 4 calls | ours, µs | peer, µs | ratio |\n| --- | --- | --- | --- |")
    first, *others = sides.items()
    for name, verdict in others:
        timing = compare(passes(first[1], data), passes(verdict, data), len(data), rounds=5)
        here, there = statistics.median(timing.ours), statistics.median(timing.theirs)
        print(f"| {name} | {here * 1e6:.1f} | {there * 1e6:.1f} | {timing.ratio:.1f} |")


def passes(verdict: Verdict, data: list[tuple[list[Call], list[Call]]]) -> Callable[[], object]:
    return lambda: [verdict(made, expected) for made, expected in data]


if __name__ == "__main__":
    main()
