"""What a model's messages are to an evaluator: the same in a chain and in `evaluate_strings`."""

import asyncio
import json
import pickle

import pytest
from framework_cases import Words
from scripted import Scripted, judgement

pytest.importorskip("langchain_core")

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage

from llmeval_integrations import (
    JsonFields,
    JsonMatch,
    JsonValidity,
    ReasoningFormat,
    ToolCalls,
    ToolCallSchema,
    WeightedSum,
    load_evaluator,
)
from llmeval_integrations.frameworks.langchain import LangChainEvaluator
from llmeval_integrations.frameworks.trl import TrlReward

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
    chain = ours.as_runnable()
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


def test_a_message_as_a_dict_is_read_too():
    for message in (CALLS.model_dump(), {"role": "assistant", "content": "", "tool_calls": [CALL]}):
        assert both(ToolCalls(), message, reference=EXPECTED) == {"score": 1.0}


def test_no_call_and_a_broken_one_are_told_apart():
    broken = {"name": "weather", "args": "{", "id": "1", "error": "bad"}
    said = both(ToolCalls(), AIMessage("", invalid_tool_calls=[broken]), reference=EXPECTED)
    assert "the arguments are not JSON" in said["reasoning"]
    assert both(ToolCalls(), AIMessage("No."), reference=EXPECTED)["reasoning"] == "weather missing"
    assert both(ToolCallSchema(TOOLS), AIMessage("No.")) == {"score": 1.0}


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


def test_a_block_whose_text_is_null_says_nothing():
    message = AIMessage([{"type": "text", "text": None}, {"type": "text", "text": "{}"}])
    assert both(JsonValidity(), message)["score"] == 1


def test_no_text_is_no_json():
    said = both(JsonValidity(), CALLS)
    assert said == {"score": 0, "reasoning": "Expecting value: line 1 column 1 (char 0)"}


@pytest.mark.parametrize("ready", ["text", "calls", "both"])
def test_each_part_of_a_sum_sees_what_it_reads(ready):
    words, calls = Words(), ToolCalls()
    parts = {"text": [words], "calls": [calls], "both": [words, WeightedSum([(calls, 1)])]}[ready]
    message = AIMessage([{"type": "text", "text": "I look."}, USE])
    said = both(WeightedSum([(part, 1) for part in parts]), message, reference=EXPECTED)
    assert said == {"score": len(parts)}
    assert set(words.texts) <= {"I look."}


def test_a_sum_goes_to_other_processes():
    ours = LangChainEvaluator(WeightedSum([(ToolCalls(), 1), (ReasoningFormat(), 1)]))
    assert ours.evaluate_strings(prediction=CALLS, reference=EXPECTED)["score"] == 1.0
    again = pickle.loads(pickle.dumps(ours))  # noqa: S301 - our own
    assert repr(again) == repr(ours)
    assert again.evaluate_strings(prediction=CALLS, reference=EXPECTED)["score"] == 1.0


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
    judge = load_evaluator("pass_fail", client=model, question="Is it right?")
    both(WeightedSum([(judge, 1), (ToolCallSchema(TOOLS), 1)]) if weighted else judge, message)
    for request in model.requests:
        said = "".join(each.text for each in request.messages)
        assert ("I look." in said, "Paris" in said, "response_metadata" in said) == (words, calls, calls)  # fmt: skip


def test_langgraphs_state_is_what_a_chain_may_end_with():
    state = {"messages": [QUESTION, CALLS], "remaining_steps": 5}
    assert LangChainEvaluator(ToolCallSchema(TOOLS)).as_runnable().invoke(state)["score"] == 0.0
    beside = {"prediction": state, "reference": EXPECTED}
    assert LangChainEvaluator(ToolCalls()).as_runnable().invoke(beside) == {"score": 1.0}


def test_an_agents_structured_response_is_its_answer():
    city = pytest.importorskip("pydantic").create_model("City", city=(str, ...))
    told = ToolMessage("Returning structured response: city='Paris'", tool_call_id="1")
    state = {"messages": [QUESTION, CALLS, told], "structured_response": city(city="Paris")}
    beside = {"prediction": state, "reference": {"city": "Paris"}}
    for wrapped in (LangChainEvaluator(JsonFields()), LangChainEvaluator(JsonMatch())):
        assert wrapped.as_runnable().invoke(beside)["score"] == 1
        assert wrapped.evaluate_strings(prediction=state, reference={"city": "Paris"})["score"] == 1
    state = {"messages": [AIMessage("[1]")], "structured_response": None}
    beside = {"prediction": state, "reference": [1]}
    assert LangChainEvaluator(JsonMatch()).as_runnable().invoke(beside)["score"] == 1


@pytest.mark.parametrize(
    ("text", "score"),
    [('{"answer": 42}', 1.0), ('{"tool": "f"}', 0.0), ("[1] see docs", 1.0), ("True", 1.0), ('{"name": "f", "arguments": {', 0.0),
     ("<tool_call>", 0.0), ("It is 42.", 1.0)],
)  # fmt: skip
def test_an_answer_and_a_broken_call_are_the_same_to_everybody(text, score):
    for evaluator in (ToolCalls(), ToolCallSchema(TOOLS)):
        fields = {"reference": []} if isinstance(evaluator, ToolCalls) else {}
        assert both(evaluator, AIMessage(text), **fields)["score"] == score
        assert both(evaluator, text, **fields)["score"] == score
        reward = TrlReward(evaluator)
        completion = [[{"role": "assistant", "content": text}]]
        assert reward(["?"], completion, reference=["[]"]) == [score]
        assert evaluator(AIMessage(text), **fields).score == score


@pytest.mark.parametrize("artifact", [object(), b"\xff", float("nan"), {1: 2}])
def test_what_a_tool_keeps_by_itself_spoils_no_conversation(artifact):
    told = ToolMessage("rain", tool_call_id="1", artifact=artifact)
    said = both(ToolCalls(), [QUESTION, CALLS, told, AIMessage("It rains.")], reference=EXPECTED)
    assert said == {"score": 1.0}
