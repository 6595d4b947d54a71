"""`guard` around the models and agents of LangChain and LlamaIndex."""

import asyncio

import pytest

from llmeval_integrations import JsonSchema, ToolCallSchema
from llmeval_integrations.guards import guard

SCHEMA = {"properties": {"total": {"minimum": 0}}, "required": ["total"]}
CONFORMS = JsonSchema(SCHEMA)
GOOD, BAD = '{"total": 3}', '{"total": -3}'
TOLD = "The answer was not accepted:\n- /total: -3 is less than the minimum of 0"


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


def test_each_tool_call_of_langchain_is_told_by_its_id():
    pytest.importorskip("langchain_core")
    from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages

    tools = [{"name": "pay", "parameters": SCHEMA}]
    asked = []

    def invoke(messages):
        asked.append(convert_to_messages(messages))
        total = -3 if len(asked) == 1 else 3
        calls = [{"name": "pay", "args": {"total": one}, "id": f"c{one}"} for one in (total, 1)]
        return AIMessage("", tool_calls=calls)

    assert guard(ToolCallSchema(tools))(invoke)([HumanMessage("?")]).result.passed
    said = [(one.tool_call_id, one.content.partition("\n- ")[2]) for one in asked[1][2:]]
    assert said == [("c-3", "pay: /total: -3 is less than the minimum of 0"), ("c1", "")]


def llama_model(*replies):
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

    left = list(replies)
    asked = []

    class Model(CustomLLM):
        @property
        def metadata(self):
            return LLMMetadata()

        def complete(self, prompt, formatted=False, **kwargs):
            asked.append(prompt)
            return CompletionResponse(text=left.pop(0))

        def stream_complete(self, prompt, formatted=False, **kwargs):
            yield self.complete(prompt)

    return Model(), asked


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


def test_a_structured_model_and_an_agent_of_llama_index():
    pytest.importorskip("llama_index.core")
    import pydantic
    from llama_index.core.agent.workflow import ReActAgent

    class Receipt(pydantic.BaseModel):
        total: float

    model, asked = llama_model(BAD, GOOD)
    done = guard(CONFORMS)(model.as_structured_llm(Receipt).complete)("?")
    assert done.output.raw == Receipt(total=3)
    assert TOLD.replace("-3", "-3.0") in asked[1]

    model, asked = llama_model(f"Thought: x\nAnswer: {BAD}", f"Thought: x\nAnswer: {GOOD}")
    agent = ReActAgent(tools=[], llm=model, streaming=False)

    async def run():
        return await guard(CONFORMS)(agent.run)(user_msg="?")

    done = asyncio.run(run())
    assert done.output.response.content == GOOD
    assert len(asked) == 2
    assert TOLD in asked[1]


async def wait(thing):
    return await thing
