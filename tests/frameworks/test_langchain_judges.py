"""Judges through LangChain: a chat model as the judge, its callbacks and tags, its result dicts."""

import asyncio
import json

import pytest

pytest.importorskip("langchain_core")

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from scripted import judgement

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.frameworks.langchain import (
    LangChainEvaluator,
    load_evaluator,
    load_evaluators,
)
from llmeval_integrations.judges import PassFail, Vote

QUESTION = "Is it short?"


def model(*replies):
    texts = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    return FakeListChatModel(responses=texts)


class Heard(BaseCallbackHandler):
    """Keeps what the chat model was told when it started."""

    def __init__(self):
        self.starts = []

    def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **kwargs):
        self.starts.append((tags, metadata, messages[0][-1].content))


def test_a_chat_model_judges_by_the_name_of_the_judge():
    evaluator = load_evaluator("pass_fail", llm=model(judgement("Fail", "Low")), question=QUESTION)
    result = evaluator.evaluate_strings(prediction="A text.", input="Write.")
    assert result == {"reasoning": "because", "value": "Fail", "score": 0.4}
    assert isinstance(evaluator, LangChainEvaluator)


def test_ready_made_criteria_need_what_they_need():
    evaluator = load_evaluator("correctness", llm=model(judgement()))
    assert evaluator.requires_reference
    with pytest.raises(ValueError, match="requires a reference"):
        evaluator.evaluate_strings(prediction="a")
    assert evaluator.evaluate_strings(prediction="a", reference="a")["score"] == 1.0


def test_a_reply_is_what_the_model_wrote():
    result = PassFail(model("Neither."), QUESTION)("A text.")
    assert (result.is_unscored, result.metadata["judge"]["reply"]) == (True, "Neither.")


def test_several_judges_share_a_model():
    judges = load_evaluators(["safety", "tone"], llm=model(judgement()))
    for judge in judges:
        assert judge.evaluate_strings(prediction="a")["score"] == 1.0


def test_a_judge_without_a_model_is_a_bad_call():
    with pytest.raises(InvalidOptionError, match="client"):
        load_evaluator("pass_fail", question=QUESTION)


def test_an_unscored_result_is_none_and_never_0():
    result = LangChainEvaluator(PassFail(model("Pass/Fail"), QUESTION)).evaluate_strings(
        prediction="a"
    )
    assert result["score"] is None
    assert result["value"] == "unreadable"
    assert "Pass/Fail" in result["reasoning"]


@pytest.mark.parametrize("wrap", [lambda judge: judge, lambda judge: Vote(judge, 2)])
def test_callbacks_tags_and_metadata_reach_the_chat_model(wrap):
    heard = Heard()
    evaluator = LangChainEvaluator(wrap(PassFail(model(judgement()), QUESTION)))
    told = {"callbacks": [heard], "tags": ["nightly"], "metadata": {"run": 7}}
    evaluator.evaluate_strings(prediction="The text.", **told)
    asyncio.run(evaluator.aevaluate_strings(prediction="The text.", **told))
    assert len(heard.starts) in (2, 4)
    for tags, metadata, said in heard.starts:
        assert tags == ["nightly"]
        assert metadata["run"] == 7
        assert "The text." in said


def test_in_a_chain_the_callbacks_of_the_chain_reach_it():
    heard = Heard()
    judge = LangChainEvaluator(PassFail(model(judgement("Fail")), QUESTION))
    chain = RunnableLambda(lambda text: text.upper()) | judge.as_runnable()
    config = {"callbacks": [heard], "tags": ["nightly"]}
    assert chain.invoke("a text", config)["value"] == "Fail"
    assert asyncio.run(chain.ainvoke("a text", config))["value"] == "Fail"
    assert ["nightly" in tags for tags, _, _ in heard.starts] == [True, True]


class OnlyAwaited(BaseChatModel):
    """A chat model that can be awaited and nothing else."""

    seen: list[int] = []

    @property
    def _llm_type(self):
        return "only-awaited"

    def _generate(self, *args, **kwargs):
        raise AssertionError("the blocking call was used")

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        self.seen.append(1)
        waiting = len(self.seen)
        await asyncio.sleep(0.05)
        assert len(self.seen) > waiting or len(self.seen) == 8  # others came in meanwhile
        message = AIMessage(json.dumps(judgement()))
        return ChatResult(generations=[ChatGeneration(message=message)])


def test_awaiting_a_judge_blocks_nobody():
    evaluator = LangChainEvaluator(PassFail(OnlyAwaited(), QUESTION))

    async def all_of_them():
        calls = (evaluator.aevaluate_strings(prediction=str(number)) for number in range(8))
        return await asyncio.gather(*calls)

    assert [result["score"] for result in asyncio.run(all_of_them())] == [1.0] * 8


class Broken(AsyncCallbackHandler):
    raise_error = True

    async def on_chat_model_start(self, *args, **kwargs):
        raise RuntimeError("the callback is broken")


def test_what_a_judge_fails_of_is_unscored_here_too():
    evaluator = LangChainEvaluator(PassFail(model(judgement()), QUESTION))
    call = evaluator.aevaluate_strings(prediction="a", callbacks=[Broken()])
    result = asyncio.run(call)
    assert result["score"] is None
    assert "the callback is broken" in result["reasoning"]
