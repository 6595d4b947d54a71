"""Messages are to every evaluator the text or value in them, whoever hands them over."""

import pytest
from message_things import CALL, LIBRARIES, TEXT, refusals

from llmeval_integrations import (
    ExactMatch,
    JsonFields,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    NgramRepetitionPenalty,
    PythonType,
    ReasoningToolCallFormat,
    StringDistance,
    ToolCalls,
    ToolCallSchema,
    WeightedSum,
    evaluate,
)

REFERENCE = '{"total": 13, "currency": "EUR"}'
TOOLS = [{"name": "weather", "parameters": {"properties": {"city": {"type": "integer"}}}}]
EVALUATORS = [
    *(kind() for kind in (JsonValidity, JsonMatch, JsonFields, ExactMatch, StringDistance)),
    *(kind() for kind in (LengthPenalty, NgramRepetitionPenalty, ReasoningToolCallFormat)),
    JsonSchema({"required": ["currency"]}),
    PythonType("str"),
    WeightedSum({JsonMatch(): 1, ExactMatch(): 2}),
]


def in_python(evaluator, output, reference):
    return evaluator(output, reference)


def in_a_run(evaluator, output, reference):
    [row] = evaluate([{"id": 1, "output": output, "reference": reference}], [evaluator]).rows
    return row.score, row.passed, row.label, row.reason, row.error


def in_langchain(evaluator, output, reference):
    ours = pytest.importorskip("llmeval_integrations.frameworks.langchain")
    wrapped = ours.LangChainEvaluator(evaluator)
    said = wrapped.evaluate_strings(prediction=output, reference=reference)
    handed_on = {"prediction": output, "reference": reference}
    assert wrapped.invoke(handed_on) == said
    if not evaluator.needs:
        assert wrapped.invoke(output) == said
    return said


def in_llama_index(evaluator, output, reference):
    ours = pytest.importorskip("llmeval_integrations.frameworks.llama_index")
    said = ours.LlamaIndexEvaluator(evaluator).evaluate(response=output, reference=reference)
    return said.model_dump(exclude={"response"})


def in_langsmith(evaluator, output, reference):
    ours = pytest.importorskip("llmeval_integrations.frameworks.langsmith")
    given = {"outputs": {"answer": output}, "reference_outputs": {"expected": reference}}
    said = ours.LangSmithEvaluator(evaluator)(**given)
    if isinstance(output, dict) and "messages" in output:  # what a graph gives
        assert ours.LangSmithEvaluator(evaluator)(**{**given, "outputs": output}) == said
    return said


def in_phoenix(evaluator, output, reference):
    ours = pytest.importorskip("llmeval_integrations.frameworks.phoenix")
    given = {"output": output, "reference": reference}
    return [score.to_dict() for score in ours.PhoenixEvaluator(evaluator).evaluate(given)]


def in_pydantic_evals(evaluator, output, reference):
    ours = pytest.importorskip("llmeval_integrations.frameworks.pydantic_evals")
    from pydantic_evals import Case, Dataset

    cases = [Case(name="one", inputs="?", expected_output=reference)]
    dataset = Dataset(name="d", cases=cases, evaluators=[ours.PydanticEvaluator(evaluator)])
    [case] = dataset.evaluate_sync(lambda _: output, progress=False).cases
    found = [*case.scores.values(), *case.labels.values(), *case.assertions.values()]
    said = [(one.name, one.value, one.reason) for one in found]
    return said, [failure.error_message for failure in case.evaluator_failures]


WAYS = [
    *(in_python, in_a_run, in_langchain, in_llama_index, in_langsmith, in_phoenix),
    in_pydantic_evals,
]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@every_way
@pytest.mark.parametrize("library", LIBRARIES)
def test_messages_are_the_text_in_them(way, library):
    things = LIBRARIES[library]()
    for evaluator in EVALUATORS:
        expected = way(evaluator, TEXT, REFERENCE)
        for shape, thing in things.items():
            assert way(evaluator, thing, REFERENCE) == expected, (evaluator, shape)


@every_way
def test_messages_with_a_parsed_answer_are_the_answer(way):
    messages = pytest.importorskip("langchain_core.messages")
    chat = pytest.importorskip("openai.types.chat")
    answer = {"total": 12.5}
    message = messages.AIMessage("So:")
    parsed = chat.ParsedChatCompletionMessage(role="assistant", content="So:", parsed=answer)
    for evaluator in EVALUATORS:
        expected = way(evaluator, answer, REFERENCE)
        for thing in (
            {"raw": message, "parsed": answer, "parsing_error": None},
            {"messages": [message], "structured_response": answer},
            parsed,
        ):
            assert way(evaluator, thing, REFERENCE) == expected, (evaluator, thing)


@every_way
def test_nothing_is_the_empty_text_and_so_is_a_refusal(way):
    messages = pytest.importorskip("langchain_core.messages")
    llms = pytest.importorskip("llama_index.core.llms")
    nothing = [messages.AIMessage(""), messages.AIMessage([]), llms.ChatMessage(role="assistant")]
    for evaluator in EVALUATORS:
        expected = way(evaluator, "", REFERENCE)
        # To a type None is itself, and to LlamaIndex an argument that is not given.
        is_nothing = way is not in_llama_index and not isinstance(evaluator, PythonType)
        for thing in [*nothing, *[None] * is_nothing]:
            assert way(evaluator, thing, REFERENCE) == expected, evaluator
    for evaluator in (JsonMatch(), LengthPenalty()):
        said = {repr(way(evaluator, thing, REFERENCE)) for thing in refusals().values()}
        assert len(said) == 1
        assert "efused" in said.pop() or way is in_langchain


@every_way
def test_tool_calls_are_read_in_messages(way):
    messages = pytest.importorskip("langchain_core.messages")
    llms = pytest.importorskip("llama_index.core.llms")
    chat = pytest.importorskip("openai.types.chat")
    calling = messages.AIMessage("I look.", tool_calls=[CALL])
    function = {"name": "weather", "arguments": '{"city": "Paris"}'}
    call = {"id": "1", "type": "function", "function": function}
    openai = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
    things = [
        calling,
        [messages.HumanMessage("?"), calling],
        {"messages": [calling, messages.ToolMessage("rain", tool_call_id="1")], "step": 2},
        chat.ChatCompletionMessage.model_validate(openai),
        openai,
        llms.ChatMessage(role="assistant", content="I look.", additional_kwargs={"tool_calls": [call]}),
    ]  # fmt: skip
    for evaluator in (ToolCalls(), ToolCallSchema(TOOLS)):
        expected = way(evaluator, [CALL], [CALL])
        for thing in things:
            assert way(evaluator, thing, [CALL]) == expected, (evaluator, thing)
