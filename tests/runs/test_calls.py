"""The figures of ToolCalls over a run: of all calls, of each tool, and of each argument."""

import pytest

from llmeval_integrations import ToolCalls, evaluate


def weather(**arguments):
    return {"name": "weather", "arguments": arguments}


NOW = {"name": "now", "arguments": {}}
ROWS = [
    ([weather(city="Rome", days=2)], [weather(city="Rome", days=3)]),
    ([weather(city="Rome"), NOW], [weather(city="Rome")]),
    ([], [weather(city="Oslo", days=1)]),
    ('{"name": "weather", "argum', [weather(city="Rome", days=1)]),
]


def test_a_run_adds_up_calls_tools_and_arguments_and_averages_samples():
    samples = [{"output": output, "reference": reference} for output, reference in ROWS]
    figures = evaluate(samples, [ToolCalls()]).summary["evaluators"]["tool_calls"]
    # Of 3 calls made and 4 expected one is right.
    assert figures["micro"] == pytest.approx({"precision": 1 / 3, "recall": 1 / 4, "f1": 2 / 7})
    assert figures["macro"]["f1"] == pytest.approx((0 + 2 / 3 + 0 + 0) / 4)
    now, weather = figures["tools"]["now"], figures["tools"]["weather"]
    assert (now["called"], now["expected"], now["precision"], now["recall"]) == (1, 0, 0, None)
    assert (weather["called"], weather["expected"], weather["right"]) == (2, 4, 1)
    assert weather["f1"] == pytest.approx(2 / 6)
    city, days = figures["fields"]["/weather/city"], figures["fields"]["/weather/days"]
    assert (city["match"], city["missing"], city["f1"]) == (2, 2, pytest.approx(4 / 6))
    assert (days["mismatch"], days["missing"], days["recall"]) == (1, 2, 0)
    assert days["wrong_values"] == [{"output": "2", "reference": "3", "count": 1}]
