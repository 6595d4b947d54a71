"""A model is asked again with the reason while its answer fails, and never once more than that."""

import asyncio
import json

import pytest
from framework_cases import RESULTS, Fixed, bad_replies
from json_strategies import seconds
from server import ModelServer, answer, chat

from llmeval_integrations import (
    InvalidOptionError,
    JsonSchema,
    Result,
    Sample,
    ToolCallSchema,
)
from llmeval_integrations.core.errors import RejectedAnswerError
from llmeval_integrations.guards import guard

SCHEMA = {
    "properties": {"total": {"type": "number", "minimum": 0}, "currency": {"enum": ["EUR", "USD"]}},
    "required": ["total", "currency"],
}
CONFORMS = JsonSchema(SCHEMA)
GOOD = '{"total": 3, "currency": "EUR"}'
HALF = '{"total": -3, "currency": "EUR"}'
BAD = '{"total": -3, "currency": "GBP"}'
HALF_TOLD = "The answer was not accepted:\n- /total: -3 is less than the minimum of 0"


def model(*replies):
    """Make a function that gives these replies in turn, and keeps what it was asked."""
    left = list(replies)

    def ask(prompt):
        ask.prompts.append(prompt)
        return left.pop(0)

    ask.prompts = []
    return ask


@pytest.mark.parametrize(
    ("replies", "best"), [((BAD, HALF, BAD), 1), ((HALF, BAD, "prose"), 0), ((HALF, BAD, HALF), 2)]
)
def test_after_the_last_try_the_best_answer_is_given_or_an_error_raised(replies, best):
    done = guard(CONFORMS)(model(*replies))("?")
    assert (done.output, done.result) == (replies[best], done.results[best])
    assert len(done.results) == 3
    with pytest.raises(
        RejectedAnswerError, match=r"no answer passed in 3 tries: .*\n- /total"
    ) as e:
        guard(CONFORMS, raises=True)(model(*replies))("?")
    assert e.value.best == done
    assert len(guard(CONFORMS, tries=2)(model(*replies))("?").results) == 2


def test_the_next_prompt_has_the_answer_and_what_is_wrong_with_it():
    said = [{"role": "user", "content": "?"}]
    told = [*said, {"role": "assistant", "content": HALF}, {"role": "user", "content": HALF_TOLD}]
    text = f"?\n\nYour answer was:\n{HALF}\n\n{HALF_TOLD}"

    class App:
        @guard(CONFORMS)
        def ask(self, messages, temperature=0):
            return answers(messages)

        @guard(CONFORMS)
        def write(self, name, prompt):
            return answers((name, prompt))

        @guard(CONFORMS)
        def order(self, number, feedback=None):
            return answers((number, feedback))

    for give, prompts in (
        (lambda app: app.ask(said), [said, told]),
        (lambda app: app.ask(temperature=1, messages=said), [said, told]),
        (lambda app: app.write("m", "?"), [("m", "?"), ("m", text)]),
        (lambda app: app.order(7), [(7, None), (7, HALF_TOLD)]),
    ):
        answers = model(HALF, json.loads(GOOD))
        done = give(App())
        assert (done.output, done.edits) == (json.loads(GOOD), [])
        assert [result.passed for result in done.results] == [False, True]
        assert answers.prompts == prompts


def test_what_makes_no_sense_is_refused_before_a_model_is_asked():
    with pytest.raises(InvalidOptionError, match="finds no prompt"):
        guard(CONFORMS)(lambda: pytest.fail("called"))()
    for options in ({"evaluator": "json"}, {"evaluator": CONFORMS, "tries": 0}):
        with pytest.raises(InvalidOptionError, match=r"'json'|got 0"):
            guard(**options)
    with pytest.raises(TypeError, match="refrence"):
        guard(CONFORMS, refrence="{}")


@pytest.mark.parametrize(
    "result",
    [RESULTS["unscored"], Result(0.4), Result(None, label="B", answered=True)],
    ids=["unscored", "no verdict", "label"],
)
def test_what_a_judge_does_not_fail_is_accepted_at_once(result):
    ask, judge = model("a"), Fixed(result)
    done = guard(judge, contexts=["c"], raises=True)(ask)("why?")
    assert (done.output, done.result, len(ask.prompts)) == ("a", result, 1)
    assert judge.samples == [Sample("a", input="why?", contexts=["c"])]


def test_a_repair_comes_before_another_try():
    ask = model("{'total': 3, 'currency': 'EUR'}")
    done = guard(CONFORMS, repair=True)(ask)("?")
    assert (json.loads(done.output), len(done.results)) == (json.loads(GOOD), 1)
    assert [edit.defect for edit in done.edits] == ["single_quotes"] * 3
    assert len(ask.prompts) == 1

    done = guard(CONFORMS, repair=True, tries=2)(model("{'total': -3}", "{total: 3"))("?")
    assert (done.output, done.result.passed, done.edits) == ("{total: 3", False, [])


def test_a_guard_costs_less_than_fifty_microseconds_a_call():
    ask = guard(CONFORMS)(lambda prompt: GOOD)

    def times(function, argument):
        for _ in range(1_000):
            function(argument)

    assert seconds(times, ask, "?") - seconds(times, CONFORMS, GOOD) < 0.05


# The SDKs, against a server that breaks the schema in 30 % of its replies.

TOOLS = [{"name": "pay", "parameters": SCHEMA}]
ASKED = [{"role": "user", "content": "Read the receipt."}]


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


def response(*output):
    return answer({"id": "r", "object": "response", "created_at": 1, "model": "m", "tools": [],
                   "tool_choice": "auto", "parallel_tool_calls": True, "output": [*output]})  # fmt: skip


def response_text(text):
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "i", "role": "assistant", "status": "completed"}
    return response({**item, "content": [part]})


def message(*blocks):
    return answer({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [*blocks],
                   "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}})  # fmt: skip


SDKS = {
    "chat": ("openai", "OpenAI", lambda sdk: sdk.chat.completions.create, "messages", chat),
    "response": ("openai", "OpenAI", lambda sdk: sdk.responses.create, "input", response_text),
    "message": ("anthropic", "Anthropic", lambda sdk: sdk.messages.create, "messages",
                lambda text: message({"type": "text", "text": text})),
}  # fmt: skip


def sdk(package, name, server):
    kind = getattr(pytest.importorskip(package), name)
    path = "/v1" if package == "openai" else ""
    return kind(base_url=server.url + path, api_key="sk-1", max_retries=0)


def options(name, prompt, number):
    asked = [{"role": "user", "content": f"{number}: read the receipt."}]
    return {"model": "m", prompt: asked, **({"max_tokens": 9} if name == "message" else {})}


@pytest.mark.parametrize("name", SDKS)
@pytest.mark.parametrize("kind", ["", "Async"])
def test_exactly_those_end_invalid_whose_three_replies_were_bad(server, name, kind):
    package, client, create, prompt, play = SDKS[name]
    replies, needed = bad_replies(name + kind, 60)

    def reply(request):
        said = request.body[prompt]
        number = int(said[0]["content"].partition(":")[0])
        return play(HALF if replies[number][(len(said) - 1) // 2] else GOOD)

    server.plays(reply)
    ask = guard(CONFORMS)(create(sdk(package, kind + client, server)))
    done = [ask(**options(name, prompt, number)) for number in range(60)]
    done = asyncio.run(wait(done)) if kind else done
    assert [one.result.passed for one in done] == [not all(bad) for bad in replies]
    assert [len(one.results) for one in done] == needed
    assert len(server.requests) == sum(needed)
    again = [one.body[prompt] for one in server.requests if len(one.body[prompt]) > 1]
    assert len(again) == sum(needed) - 60
    for said in again:
        assert said[-1] == {"role": "user", "content": HALF_TOLD}
        assert HALF in str(said[-2])


async def wait(awaitables):
    return [await each for each in awaitables]


BAD_CALL, GOOD_CALL = {"total": -3, "currency": "EUR"}, {"total": 3, "currency": "EUR"}
CALL_TOLD = "The answer was not accepted:\n- pay: /total: -3 is less than the minimum of 0"
CALLS_OK = "This call is valid. It was not run because another call was not accepted."


def chat_calls(*arguments):
    functions = enumerate({"name": "pay", "arguments": json.dumps(one)} for one in arguments)
    return chat(None, calls=[{"id": f"c{n}", "type": "function", "function": f} for n, f in functions])  # fmt: skip


def response_calls(*arguments):
    return response(*(
        {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "name": "pay",
         "arguments": json.dumps(one), "status": "completed"}
        for number, one in enumerate(arguments)
    ))  # fmt: skip


def message_calls(*arguments):
    calls = ({"type": "tool_use", "id": f"c{number}", "name": "pay", "input": one}
             for number, one in enumerate(arguments))  # fmt: skip
    return message({"type": "text", "text": ""}, *calls)


@pytest.mark.parametrize(
    ("name", "play", "told"),
    [
        ("chat", chat_calls, [{"role": "tool", "tool_call_id": "c0", "content": CALL_TOLD},
                              {"role": "tool", "tool_call_id": "c1", "content": CALLS_OK}]),
        ("response", response_calls,
         [{"type": "function_call_output", "call_id": "c0", "output": CALL_TOLD},
          {"type": "function_call_output", "call_id": "c1", "output": CALLS_OK}]),
        ("message", message_calls,
         [{"role": "user", "content": [
             {"type": "tool_result", "tool_use_id": "c0", "content": CALL_TOLD, "is_error": True},
             {"type": "tool_result", "tool_use_id": "c1", "content": CALLS_OK, "is_error": True}]}]),
    ],
)  # fmt: skip
def test_each_tool_call_is_told_by_its_id(server, name, play, told):
    package, client, create, prompt, _ = SDKS[name]
    server.plays(play(BAD_CALL, GOOD_CALL), play(GOOD_CALL, GOOD_CALL))
    ask = guard(ToolCallSchema(TOOLS))(create(sdk(package, client, server)))
    done = ask(**options(name, prompt, 0))
    assert [result.passed for result in done.results] == [False, True]
    said = server.last.body[prompt]
    assert said[-len(told) :] == told
    assert "c0" in str(said[1])


def test_a_text_prompt_of_the_responses_api_becomes_messages(server):
    server.plays(response_text(HALF), response_text(GOOD))
    guard(CONFORMS)(sdk("openai", "OpenAI", server).responses.create)(model="m", input="Read it.")
    said = server.last.body["input"]
    assert (said[0], said[-1]) == (
        {"role": "user", "content": "Read it."},
        {"role": "user", "content": HALF_TOLD},
    )
