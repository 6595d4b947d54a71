"""Texts written by a model, as data: batches over temperatures, variations over prompts."""

import pytest
from scripted import Scripted

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges import StudentRunner
from llmeval_integrations.llm.reply import Reply

TASK = "Write a product description for a 65-inch TV."


@pytest.mark.parametrize(
    ("count", "bounds", "temperatures"),
    [
        (5, (0.5, 0.9), [0.5, 0.6, 0.7, 0.8, 0.9]),
        (1, (0.5, 0.9), [0.5]),
        (3, (0.7, 0.7), [0.7, 0.7, 0.7]),
        (2, (0, 2), [0.0, 2.0]),
    ],
)
def test_a_batch_spreads_the_temperatures_evenly(count, bounds, temperatures):
    client = Scripted(lambda request: f"at {request.temperature}")
    responses = StudentRunner(client).generate_batch(TASK, count, bounds)
    assert [response.temperature for response in responses] == temperatures
    assert [response.text for response in responses] == [f"at {t}" for t in temperatures]
    assert {request.draw for request in client.requests} == {(number,) for number in range(count)}


def test_each_variation_is_a_prompt_and_the_task():
    client = Scripted(lambda request: request.messages[-1].text.upper())
    prompts = ["Write technically.", "Write for marketing.", "Explain the features."]
    responses = StudentRunner(client, temperature=0.3).generate_variations(TASK, prompts)
    assert [response.prompt for response in responses] == [f"{p}\n\n{TASK}" for p in prompts]
    assert all(response.text == response.prompt.upper() for response in responses)
    assert {request.temperature for request in client.requests} == {0.3}


def test_role_and_longest_text_reach_the_model():
    client = Scripted("A TV.")
    StudentRunner(client, role="You write.", max_tokens=200).generate_batch(TASK, 1)
    assert client.requests[0].messages[0].text == "You write."
    assert client.requests[0].max_tokens == 200


def test_a_text_that_was_cut_says_so():
    runner = StudentRunner(Scripted(Reply("A TV w", "length")))
    assert runner.generate_batch(TASK, 1)[0].finish == "length"


@pytest.mark.parametrize(
    "failure",
    [
        ClientError("too many", kind="rate_limited"),
        "",
        Reply("No.", "refused"),
        Reply("A T", "failed"),
    ],
)
def test_fewer_than_asked_for_is_an_error_that_says_what_came(failure):
    with pytest.raises(ClientError, match="3 texts were asked for, and 2 came"):
        StudentRunner(Scripted("A TV.", failure, "A TV.")).generate_batch(TASK, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda runner: runner.generate_batch("", 3),
        lambda runner: runner.generate_batch(TASK, 0),
        lambda runner: runner.generate_batch(TASK, 2, (0.9, 0.5)),
        lambda runner: runner.generate_batch(TASK, 2, (0.9,)),
        lambda runner: runner.generate_batch(TASK, 2, "ab"),
        lambda runner: runner.generate_variations(TASK, []),
        lambda runner: runner.generate_variations(TASK, "one prompt"),
        lambda runner: runner.generate_variations(TASK, [""]),
        lambda runner: StudentRunner(runner.model, max_tokens=0),
        lambda runner: StudentRunner(runner.model, role=""),
    ],
)
def test_a_wrong_argument_is_refused(call):
    with pytest.raises(InvalidOptionError):
        call(StudentRunner(Scripted("A TV.")))
