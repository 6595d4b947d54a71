"""Response objects, batches and a query engine: what LlamaIndex hands to an evaluator."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from llmeval_integrations import (
    InputError,
    JsonEquality,
    JsonMatch,
    JsonSchema,
    JsonValidity,
)
from llmeval_integrations.demo import OUTPUTS

pytest.importorskip("llama_index.core")

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
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
from llama_index.core.llms import (
    CompletionResponse,
    CustomLLM,
    LLMMetadata,
    MockLLM,
)
from llama_index.core.schema import NodeWithScore, TextNode
from pace import at_most

from llmeval_integrations.frameworks.llama_index import LlamaIndexEvaluator

ROWS = [json.loads(line) for line in OUTPUTS.read_text(encoding="utf-8").splitlines()]


# --- response objects --------------------------------------------------------------------------


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

    async def both_in_a_loop():
        plain = wrapped.evaluate_response("how much?", make(), reference={"total": 12.5})
        awaited = await wrapped.aevaluate_response("how much?", make(), reference={"total": 12.5})
        return plain, awaited

    outside = wrapped.evaluate_response("how much?", make(), reference={"total": 12.5})
    for answer in (outside, *asyncio.run(both_in_a_loop())):
        assert answer.passing
        assert (answer.query, answer.contexts) == ("how much?", ["net 10"])
        assert json.loads(answer.response) == {"total": 12.5}


@pytest.mark.parametrize("response", [None, Response(None), PydanticResponse(None)])
def test_a_response_that_is_not_there_is_invalid(response):
    answer = LlamaIndexEvaluator(JsonValidity()).evaluate_response("why?", response)
    assert answer.invalid_result
    assert answer.score is None


def test_what_is_no_response_is_refused_with_advice():
    with pytest.raises(InputError, match=r"evaluate\(response=text\)"):
        LlamaIndexEvaluator(JsonValidity()).evaluate_response("why?", "{}")


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


def test_a_chat_is_evaluated_once_its_stream_has_been_read():
    wrapped = LlamaIndexEvaluator(JsonEquality())
    engine = SimpleChatEngine.from_defaults(llm=MockLLM())
    assert wrapped.evaluate_response("q", engine.chat("[1]"), reference="[]").score == 0.0
    with pytest.raises(InputError, match="has not been read"):
        wrapped.evaluate_response("q", StreamingAgentChatResponse(), reference="[]")
    stream = engine.stream_chat("[1]")
    list(stream.response_gen)
    assert wrapped.evaluate_response("q", stream, reference="[]").response == str(stream)


# --- batches -----------------------------------------------------------------------------------


def run(evaluators, method, *arguments, **lists):
    runner = BatchEvalRunner(evaluators, workers=4)
    return asyncio.run(getattr(runner, method)(*arguments, **lists))


def test_a_batch_hands_each_evaluator_its_own_references():
    schema = {"type": "array"}
    answers = run(
        {"match": LlamaIndexEvaluator(JsonMatch()), "schema": LlamaIndexEvaluator(JsonSchema())},
        "aevaluate_response_strs",
        response_strs=["[1]", "{}"],
        match={"reference": ["[1]", "{}"]},
        schema={"reference": [schema, schema]},
    )
    assert [answer.score for answer in answers["match"]] == [1.0, 1.0]
    assert [answer.score for answer in answers["schema"]] == [1.0, 0.0]


def test_a_bad_call_costs_neither_the_batch_nor_the_time_of_a_retry():
    with at_most(3, time.monotonic):
        answers = run(
            {"match": LlamaIndexEvaluator(JsonMatch())},
            "aevaluate_responses",
            queries=["a", "b", "c", "d"],
            responses=[Response("[1]"), Response("[1]"), Response("[1]"), None],
            reference=["[1", None, "[1]", "[1]"],
        )["match"]
    assert [answer.invalid_result for answer in answers] == [True, True, False, True]
    assert [answer.score for answer in answers] == [None, None, 1.0, None]


class ScriptedLLM(CustomLLM):
    """Answers a question about an invoice with the recorded output."""

    outputs: dict[str, str]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
        question = prompt.rsplit("Query:", 1)[1]
        return CompletionResponse(
            text=next(text for number, text in self.outputs.items() if number in question)
        )

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> Any:
        return iter([self.complete(prompt)])


def test_a_query_engine_is_evaluated_from_question_to_result():
    # A query engine turns an empty completion into the words "Empty Response".
    rows = [row for row in ROWS if row["output"]][:40]
    numbers = [row["reference"]["invoice_number"] for row in rows]
    index = VectorStoreIndex.from_documents(
        [Document(text=row["input"]) for row in rows], embed_model=MockEmbedding(embed_dim=4)
    )
    llm = ScriptedLLM(outputs={number: row["output"] for number, row in zip(numbers, rows)})
    answers = run(
        {"match": LlamaIndexEvaluator(JsonMatch()), "valid": LlamaIndexEvaluator(JsonValidity())},
        "aevaluate_queries",
        index.as_query_engine(llm=llm),
        queries=[f"What does invoice {number} say?" for number in numbers],
        reference=[row["reference"] for row in rows],
    )
    for name, evaluator in ("match", JsonMatch()), ("valid", JsonValidity()):
        alone = [evaluator(row["output"], row["reference"]) for row in rows]
        assert [answer.score for answer in answers[name]] == [result.score for result in alone]
        assert {answer.score for answer in answers[name]} == {0.0, 1.0}
        assert [answer.label for answer in answers[name]] == [result.label for result in alone]
    inputs = {row["input"] for row in rows}
    assert all(inputs.issuperset(answer.contexts) for answer in answers["match"])
    assert all(len(answer.contexts) == 2 for answer in answers["match"])
