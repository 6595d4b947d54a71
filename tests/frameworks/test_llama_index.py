"""LlamaIndex: one response, what its engines and streams give, and its batch runner."""

import asyncio
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import (
    InputError,
    JsonEquality,
    JsonMatch,
    JsonSchema,
    Result,
)

pytest.importorskip("llama_index.core")

from framework_cases import Fixed
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode
from pace import at_most
from scripted import Scripted, judgement

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.frameworks.llama_index import LlamaIndexEvaluator
from llmeval_integrations.judges import PassFail

SURROGATES = st.characters(categories=["Cs"])


@given(st.text(st.characters() | SURROGATES) | st.none() | st.booleans() | st.integers())
def test_any_response_gives_a_result_awaited_or_not(response):
    wrapped = LlamaIndexEvaluator(JsonEquality())
    answer = wrapped.evaluate(response=response, reference="[]")
    assert answer == asyncio.run(wrapped.aevaluate(response=response, reference="[]"))
    assert answer.invalid_result == (response is None)
    assert answer.score == (None if response is None else JsonEquality()(response, []).score)


@pytest.mark.parametrize(
    ("evaluator", "arguments", "reason"),
    [
        (JsonMatch(), {"response": "{}"}, "json_match needs a reference"),
        (JsonMatch(), {"response": "{}", "reference": "{a"}, "'{a' is not JSON"),
        (JsonMatch(), {"response": None, "reference": "{}"}, "json_match needs a response"),
        (JsonSchema(), {"response": "{}"}, "json_schema needs a schema"),
        (JsonSchema(), {"response": "{}", "reference": {"type": "objekt"}}, "objekt"),
        (Fixed(Result.unscored("cannot tell")), {"response": "{}"}, "cannot tell"),
    ],
)
def test_what_has_no_score_is_invalid_and_says_why(evaluator, arguments, reason):
    wrapped = LlamaIndexEvaluator(evaluator)
    for answer in (wrapped.evaluate(**arguments), asyncio.run(wrapped.aevaluate(**arguments))):
        assert answer.invalid_result
        assert reason in answer.invalid_reason
        assert (answer.score, answer.passing) == (None, None)


class Total(BaseModel):
    total: float


async def in_pieces(text):
    for character in text:
        yield character


NODES = [NodeWithScore(node=TextNode(text="net 10"), score=1.0)]


RESPONSES = {
    "plain": lambda: Response('{"total": 12.5}', NODES),
    "pydantic": lambda: PydanticResponse(Total(total=12.5), NODES),
    "streaming": lambda: StreamingResponse(iter(['{"total"', ": 12.5}"]), NODES),
    "async streaming": lambda: AsyncStreamingResponse(in_pieces('{"total": 12.5}'), NODES),
}


@pytest.mark.parametrize("make", RESPONSES.values(), ids=RESPONSES)
def test_every_kind_of_response_is_read_and_its_contexts_kept(make):
    wrapped = LlamaIndexEvaluator(JsonMatch())

    fields = {"query": "how much?", "reference": {"total": 12.5}}

    blocking = wrapped.evaluate_response(response=make(), **fields)
    awaited = asyncio.run(wrapped.aevaluate_response(response=make(), **fields))
    if isinstance(make(), AsyncStreamingResponse):
        assert blocking.invalid_reason.endswith("call aevaluate")
        blocking = awaited
    for answer in (blocking, awaited):
        assert answer.passing
        assert (answer.query, answer.contexts) == ("how much?", ["net 10"])
        assert json.loads(answer.response) == {"total": 12.5}


def test_a_stream_that_was_read_is_invalid():
    wrapped = LlamaIndexEvaluator(JsonMatch())
    half = AsyncStreamingResponse(in_pieces("[1]"))

    async def read_and_evaluate():
        await half.response_gen.__anext__()
        return await wrapped.aevaluate_response(response=half, reference="[]")

    assert "has been read" in asyncio.run(read_and_evaluate()).invalid_reason
    for parts in (1, 2):
        stream = StreamingResponse(part for part in ('{"total"', ": 12.5}"))
        for _ in range(parts):
            next(stream.response_gen)
        for evaluate in (wrapped.evaluate_response, wrapped.evaluate):
            answer = evaluate(response=stream, reference="[]")
            assert (answer.score, answer.invalid_result, answer.response) == (None, True, None)
            assert "has been read" in answer.invalid_reason


def test_a_chat_is_evaluated_once_its_stream_has_been_read_and_other_objects_are_refused():
    wrapped = LlamaIndexEvaluator(JsonEquality())
    engine = SimpleChatEngine.from_defaults(llm=MockLLM())
    assert wrapped.evaluate_response("q", engine.chat("[1]"), reference="[]").score == 0.0
    stream = engine.stream_chat("[1]")
    list(stream.response_gen)
    assert wrapped.evaluate_response("q", stream, reference="[]").response == str(stream)
    for response in (None, Response(None), PydanticResponse(None)):
        assert wrapped.evaluate_response("q", response, reference="[]").invalid_result
    for wrong, message in (
        (StreamingAgentChatResponse(), "has not been read"),
        ("{}", r"evaluate\(response=text\)"),
    ):
        with pytest.raises(InputError, match=message):
            wrapped.evaluate_response("q", wrong)


def test_a_batch_loses_nothing_by_a_bad_call_or_a_judge_that_fails():
    def reply(request):
        down = "row 1" in request.messages[-1].text
        return ClientError("no reply", kind="connection") if down else judgement()

    runner = BatchEvalRunner(
        {"match": LlamaIndexEvaluator(JsonMatch()), "schema": LlamaIndexEvaluator(JsonSchema()), "short": PassFail(Scripted(reply), "Is it short?")}
    )  # fmt: skip
    with at_most(3, time.monotonic):  # the runner would try again with what raises
        answers = runner.evaluate_responses(
            queries=["row 0", "row 1", "row 2", "row 3"],
            responses=[Response("[1]"), Response("[1]"), Response("[]"), None],
            match={"reference": ["[1", None, "[1]", "[1]"]},
            schema={"schema": [{"type": "array", "minItems": 1}] * 4},
        )
    scores = {name: [answer.score for answer in each] for name, each in answers.items()}
    assert scores["match"] == [None, None, 0.0, None]
    assert scores["schema"] == [1.0, 1.0, 0.0, None]
    assert [answer.invalid_result for answer in answers["match"]] == [True, True, False, True]
    assert scores["short"] == [1.0, None, 1.0, None]
    assert "no reply" in answers["short"][1].invalid_reason
