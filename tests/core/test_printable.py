"""Texts that are made to be printed, wherever that is."""

import pytest
from rich import console, jupyter

from llmeval_integrations import JsonMatch, JsonValidity, Sample, compare, evaluate
from llmeval_integrations.conformance import check_evaluator
from llmeval_integrations.pytest_plugin.message import long_message

RUN = evaluate([{"output": "{", "reference": "{}"}], [JsonValidity()])


def always_passes(output):
    return True


def message():
    sample = Sample("[1]", "[2]")
    return long_message(sample, {"json_match": JsonMatch().evaluate(sample)})


@pytest.mark.parametrize(
    "make",
    [
        lambda: str(RUN),
        lambda: str(compare(RUN, RUN)),
        lambda: str(check_evaluator(always_passes, claims="json_validity")),
        message,
    ],
    ids=["run", "comparison", "findings", "failing test"],
)
def test_a_text_that_is_made_in_a_notebook_shows_nothing_by_itself(make, monkeypatch):
    plain = make()
    shown = []
    monkeypatch.setattr(console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(jupyter, "display", lambda *given: shown.append(given))
    assert make().splitlines()[1:] == plain.splitlines()[1:]  # the first says how long it took
    assert not shown
