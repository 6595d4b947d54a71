"""`guard` around the models and agents of LangChain and LlamaIndex."""

import asyncio

import pytest
from framework_cases import BAD, GOOD, SCHEMA, TOLD, bad_replies, llama_model

from llmeval_integrations import JsonSchema
from llmeval_integrations.guards import guard

CONFORMS = JsonSchema(SCHEMA)


def test_a_model_of_langchain():
    pytest.importorskip("langchain_core")
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage

    asked = []

    class Model(GenericFakeChatModel):
        def _generate(self, messages, *args, **kwargs):
            asked.append([(one.type, one.content) for one in messages])
            return super()._generate(messages, *args, **kwargs)

    def model():
        asked.clear()
        return Model(messages=iter([AIMessage(BAD), AIMessage(GOOD)]))

    for prompt in ([HumanMessage("?")], [("user", "?")]):
        assert guard(CONFORMS)(model().invoke)(prompt).output.content == GOOD
        assert asked[1] == [("human", "?"), ("ai", BAD), ("human", TOLD)]
    assert asyncio.run(guard(CONFORMS)(model().ainvoke)("?")).output.content == GOOD
    assert asked[1] == [("human", f"?\n\nYour answer was:\n{BAD}\n\n{TOLD}")]


def test_a_model_of_llama_index():
    pytest.importorskip("llama_index.core")
    from llama_index.core.llms import ChatMessage

    model, asked = llama_model(BAD, GOOD)
    assert guard(CONFORMS)(model.complete)("?").output.text == GOOD
    assert asked[1].endswith(TOLD)

    for kind in ("chat", "achat"):
        model, asked = llama_model(BAD, GOOD)
        done = guard(CONFORMS)(getattr(model, kind))([ChatMessage("?")])
        done = done if kind == "chat" else asyncio.run(wait(done))
        assert done.output.message.content == GOOD
        assert asked[1] == f"user: ?\nassistant: {BAD}\nuser: {TOLD}\nassistant: "


def test_a_structured_model_of_llama_index():
    pytest.importorskip("llama_index.core")
    import pydantic

    class Receipt(pydantic.BaseModel):
        total: float

    model, asked = llama_model(BAD, GOOD)
    done = guard(CONFORMS)(model.as_structured_llm(Receipt).complete)("?")
    assert done.output.raw == Receipt(total=3)
    assert TOLD.replace("-3", "-3.0") in asked[1]


@pytest.mark.filterwarnings("ignore:The `__fields")  # of LlamaIndex itself, for each run
def test_exactly_those_runs_of_an_agent_fail_whose_three_replies_were_bad():
    pytest.importorskip("llama_index.core")
    from llama_index.core.agent.workflow import ReActAgent

    async def run(bad, needed):
        replies = [f"Thought: x\nAnswer: {BAD if one else GOOD}" for one in bad]
        model, asked = llama_model(*replies)
        agent = ReActAgent(tools=[], llm=model, streaming=False)
        done = await guard(CONFORMS)(agent.run)(user_msg="?")
        assert (done.output.response.content == GOOD) is not all(bad)
        assert len(asked) == len(done.results) == needed
        assert all(TOLD in text for text in asked[1:])

    for bad, needed in zip(*bad_replies(1, 20)):
        asyncio.run(run(bad, needed))


async def wait(thing):
    return await thing
