"""Judges through LlamaIndex: its LLM as the judge, its prompts, its batch runner."""

import asyncio
import json

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import PromptTemplate, Settings
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import ChatMessage, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.prompts import ChatPromptTemplate, RichPromptTemplate
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.frameworks.llama_index import LlamaIndexEvaluator, load_evaluator
from llmeval_integrations.judges import Classification, PassFail, Vote

QUESTION = "Is it short?"


class Says(CustomLLM):
    """An LLM of LlamaIndex's own kind that always says the same."""

    text: str

    @property
    def metadata(self):
        return LLMMetadata(model_name="says")

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=self.text)

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


def says(*args):
    return Says(text=json.dumps(judgement(*args)))


@pytest.fixture
def settings_llm():
    before = Settings._llm
    yield
    Settings._llm = before


def test_an_llm_of_llama_index_judges():
    evaluator = LlamaIndexEvaluator(PassFail(says("Fail", "Medium"), QUESTION))
    for result in (
        evaluator.evaluate("Write.", "A text."),
        asyncio.run(evaluator.aevaluate("Write.", "A text.")),
    ):
        assert (result.passing, result.score, result.feedback) == (False, 0.15, "because")
        assert result.label == "Fail"
        assert not result.invalid_result


def test_the_llm_of_the_settings_is_the_default(settings_llm):
    Settings.llm = says("Fail")
    assert load_evaluator("pass_fail", question=QUESTION).evaluate(response="a").passing is False
    other = load_evaluator("pass_fail", llm=says("Pass"), question=QUESTION)
    assert other.evaluate(response="a").passing is True


def test_one_judge_that_fails_does_not_lose_the_batch():
    def reply(request):
        down = "row 3" in request.messages[-1].text
        return ClientError("no reply", kind="connection") if down else judgement()

    runner = BatchEvalRunner({"short": LlamaIndexEvaluator(PassFail(Scripted(reply), QUESTION))})
    rows = [f"row {number}." for number in range(6)]
    results = runner.evaluate_response_strs(queries=rows, response_strs=rows)["short"]
    assert [result.passing for result in results] == [True, True, True, None, True, True]
    assert results[3].invalid_result
    assert "no reply" in results[3].invalid_reason


def test_the_prompt_is_visible_in_llama_indexs_form():
    evaluator = LlamaIndexEvaluator(PassFail(Scripted(judgement()), QUESTION))
    template = evaluator.get_prompts()["prompt"]
    assert isinstance(template, ChatPromptTemplate)
    roles = [message.role.value for message in template.message_templates]
    assert roles == ["system", "user"]
    assert "{{question}}" in template.message_templates[1].content


@pytest.mark.parametrize(
    "prompt",
    [
        PromptTemplate("Judge {output}. {question}"),
        RichPromptTemplate("Judge {{ output }}. {{ question }}"),
        ChatPromptTemplate([ChatMessage(role="user", content="Judge {output}. {question}")]),
        "Judge {output}. {question}",
    ],
    ids=lambda prompt: type(prompt).__name__,
)
def test_the_prompt_can_be_given_and_updated(prompt):
    client = Scripted(judgement())
    updated = LlamaIndexEvaluator(PassFail(client, QUESTION))
    updated.update_prompts({"prompt": prompt})
    loaded = load_evaluator("pass_fail", llm=client, question=QUESTION, prompt=prompt)
    for evaluator in (updated, loaded):
        assert evaluator.evaluate(response="a").passing is True
        mark = client.requests[-1].fence
        assert client.said.startswith(f"Judge <output {mark}>\na\n</output {mark}>. {QUESTION}\n")


def test_a_prompt_that_there_is_not_is_refused():
    evaluators = [
        PassFail(Scripted(judgement()), QUESTION),
        Vote(PassFail(Scripted(judgement()), QUESTION)),
        Classification("c", Scripted("a"), "{output}", ["a", "b"]),
    ]
    for evaluator in evaluators:
        with pytest.raises(InvalidOptionError, match="no prompt"):
            LlamaIndexEvaluator(evaluator)._update_prompts({"other": "x"})
