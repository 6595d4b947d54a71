"""What a model's messages are to an evaluator: the same in a chain and in `evaluate_strings`."""

import asyncio
import json

import pytest
from framework_cases import Words
from scripted import Scripted, judgement

pytest.importorskip("langchain_core")

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage

from llmeval_integrations import (
    JsonFields,
    JsonMatch,
    ToolCalls,
    ToolCallSchema,
    WeightedSum,
    load_evaluator,
)
from llmeval_integrations.frameworks.langchain import LangChainEvaluator

CALL = {"name": "weather", "args": {"city": "Paris"}, "id": "1"}
EXPECTED = [{"name": "weather", "args": {"city": "Paris"}}]
TOOLS = [
    {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "integer"}}}}
]  # fmt: skip
USE = {"type": "tool_use", "name": "weather", "input": {"city": "Paris"}, "id": "1"}
PART = {"type": "tool_call_chunk", "name": "weather", "args": '{"city": "Paris"}', "id": "1", "index": 0}  # fmt: skip
CALLS = AIMessage("", tool_calls=[CALL])
QUESTION, TOLD = HumanMessage("What?"), ToolMessage("rain", tool_call_id="1")

# How a model's call may come, and its text.
CALLING = {
    "message": (CALLS, ""),
    "message with words": (AIMessage("I look.", tool_calls=[CALL]), "I look."),
    "blocks": (AIMessage([{"type": "text", "text": "I look."}, USE]), "I look."),
    "chunk": (AIMessageChunk("", tool_call_chunks=[PART]), ""),
    "list": ([QUESTION, CALLS], ""),
    "tuple": ((CALLS,), ""),
    "answered": ([QUESTION, CALLS, TOLD, AIMessage("It rains.")], "It rains."),
    "state": ({"messages": [QUESTION, CALLS], "remaining_steps": 5}, ""),
    "JSON in the text": (AIMessage(json.dumps(EXPECTED[0])), json.dumps(EXPECTED[0])),
    "tags in the text": (AIMessage(f"<tool_call>{json.dumps(EXPECTED[0])}</tool_call>"), ...),
}

# How a text may come.
SAYING = {
    "message": AIMessage('{"a": 1}'),
    "blocks": AIMessage([{"type": "text", "text": '{"a"'}, {"type": "thinking"}, ": 1}"]),
    "with a call": AIMessage('{"a": 1}', tool_calls=[CALL]),
    "chunk": AIMessageChunk('{"a": 1}'),
    "list": [QUESTION, AIMessage('{"a": 1}')],
    "state": {"messages": [QUESTION, AIMessage('{"a": 1}')]},
    "text": '{"a": 1}',
    "dict": {"a": 1},
}


def both(evaluator, prediction, **fields):
    """Evaluate directly and in a chain, each also awaited; they have to say the same."""
    ours = LangChainEvaluator(evaluator)
    chain = ours
    given = {"prediction": prediction, **fields}
    said = ours.evaluate_strings(**given)
    assert said == chain.invoke(given) == asyncio.run(chain.ainvoke(given))
    assert said == asyncio.run(ours.aevaluate_strings(**given))
    if not isinstance(prediction, dict) and not fields:
        assert said == chain.invoke(prediction)
    return said


@pytest.mark.parametrize("shape", CALLING)
def test_calls_are_read_wherever_they_are(shape):
    message, _ = CALLING[shape]
    assert both(ToolCalls(), message, reference=EXPECTED) == {"score": 1.0}
    said = both(ToolCallSchema(TOOLS), message)
    assert said["score"] == 0.0
    assert 'weather: "Paris" is not of type "integer"' in said["reasoning"]


def test_a_reference_may_be_messages():
    for reference in (CALLS, [QUESTION, CALLS], {"messages": [CALLS]}):
        assert both(ToolCalls(), CALLS, reference=reference) == {"score": 1.0}
    for reference in SAYING.values():
        assert both(JsonMatch(), '{"a": 1}', reference=reference) == {"score": 1.0}


@pytest.mark.parametrize("shape", SAYING)
def test_other_evaluators_see_the_text(shape):
    assert both(JsonMatch(), SAYING[shape], reference='{"a": 1}') == {"score": 1.0}
    words = Words()
    both(words, SAYING[shape])
    assert set(words.texts) == {'{"a":1}' if shape == "dict" else '{"a": 1}'}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("message", "words", "calls"),
    [
        (CALLS, False, True),
        ([QUESTION, CALLS], False, True),
        (AIMessage("I look.", tool_calls=[CALL]), True, False),
        (AIMessage("I look."), True, False),
        (AIMessage(""), False, False),
    ],
)
def test_a_judge_is_shown_the_text_and_where_there_is_none_the_calls(
    message, words, calls, weighted
):
    model = Scripted(judgement())
    judge = load_evaluator("pass_fail", model=model, question="Is it right?")
    both(WeightedSum([(judge, 1), (ToolCallSchema(TOOLS), 1)]) if weighted else judge, message)
    for request in model.requests:
        said = "".join(each.text for each in request.messages)
        assert ("I look." in said, "Paris" in said, "response_metadata" in said) == (words, calls, calls)  # fmt: skip


def test_langgraphs_state_is_what_a_chain_may_end_with():
    state = {"messages": [QUESTION, CALLS], "remaining_steps": 5}
    assert LangChainEvaluator(ToolCallSchema(TOOLS)).invoke(state)["score"] == 0.0
    beside = {"prediction": state, "reference": EXPECTED}
    assert LangChainEvaluator(ToolCalls()).invoke(beside) == {"score": 1.0}


def test_an_agents_structured_response_is_its_answer():
    city = pytest.importorskip("pydantic").create_model("City", city=(str, ...))
    told = ToolMessage("Returning structured response: city='Paris'", tool_call_id="1")
    state = {"messages": [QUESTION, CALLS, told], "structured_response": city(city="Paris")}
    beside = {"prediction": state, "reference": {"city": "Paris"}}
    for wrapped in (LangChainEvaluator(JsonFields()), LangChainEvaluator(JsonMatch())):
        assert wrapped.invoke(beside)["score"] == 1
        assert wrapped.evaluate_strings(prediction=state, reference={"city": "Paris"})["score"] == 1
    state = {"messages": [AIMessage("[1]")], "structured_response": None}
    beside = {"prediction": state, "reference": [1]}
    assert LangChainEvaluator(JsonMatch()).invoke(beside)["score"] == 1
