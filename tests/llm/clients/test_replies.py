"""A reply of each server, and what it is read as."""

import pytest
from remote_model import question
from server import answer, chat
from vendors import BY_NAME, SCHEMA, VENDORS, anthropic_body, ask_client, google_body

from llmeval_integrations.core.errors import ClientError, UnreadableJudgementError
from llmeval_integrations.judges import ask
from llmeval_integrations.llm.reply import Usage

pydantic = pytest.importorskip("pydantic")


def test_a_question_arrives_and_its_answer_comes_back(case):
    reply = ask_client(case.client(), question())
    assert (reply.text, reply.finish, reply.model) == ("Paris", "stop", "answering-model")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    assert (reply.output, reply.cached) == ("text", False)


@pytest.mark.parametrize(("how", "finish"), [("cut", "length"), ("refused", "refused")])
@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["text", "form"])
def test_a_reply_that_did_not_end_by_itself_says_so(how, finish, schema, case):
    case.server.plays(case.vendor.said("I ma", **{how: True}))
    reply = ask_client(case.client(), question(schema=schema))
    assert (reply.finish, reply.usage) == (finish, Usage(11, 7))


def ended(vendor, word=None, usage=None):
    """Play a reply that says "I" and ended with this word."""
    if vendor == "openai":
        return chat("I", finish=word, usage=usage)
    if vendor == "google":
        return google_body({"text": "I"}, finish=word, usage=usage)
    return anthropic_body({"type": "text", "text": "I"}, stop=word, usage=usage)


CUSTOM = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
THOUGHT = {"type": "thinking", "thinking": "Fail?", "signature": "s"}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "Rome"}}
PARTS = [THOUGHT, {"type": "text", "text": "H"}, {"type": "text", "text": "i"}]


def said(message):
    return answer({"choices": [{"message": message}]})


FINISHES = {
    "openai": "stop:stop None:stop tool_calls:stop length:length content_filter:refused "
    "error:failed abort:failed something_new:other",
    "anthropic": "end_turn:stop None:stop stop_sequence:stop max_tokens:length refusal:refused "
    "model_context_window_exceeded:length pause_turn:other",
    "google": "STOP:stop None:stop MAX_TOKENS:length SAFETY:refused RECITATION:refused "
    "BLOCKLIST:refused MALFORMED_FUNCTION_CALL:failed OTHER:other",
}
READ, WRITTEN = "cache_read_input_tokens", "cache_creation_input_tokens"
USAGES = [
    ("openai", Usage(50, 30, 40), {
        "prompt_tokens": 50, "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }),
    ("openai", Usage(5, 0), {"prompt_tokens": 5, "completion_tokens": None}),
    ("anthropic", Usage(115, 7, 4, 100), {
        "input_tokens": 11, "output_tokens": 7, READ: 4, WRITTEN: 100,
    }),
    ("google", Usage(11, 9, 4), {
        "promptTokenCount": 11, "candidatesTokenCount": 7, "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 4, "totalTokenCount": 20,
    }),
]  # fmt: skip
CALLING = [vendor for vendor in VENDORS if vendor.calls_tools]
REPLIES = [
    # a server, its response, and the text, the end or the tokens of the reply
    *(
        (vendor, ended(vendor, None if word == "None" else word), finish)
        for vendor, pairs in FINISHES.items()
        for word, finish in (pair.split(":") for pair in pairs.split())
    ),
    *((vendor, ended(vendor, usage=usage), expected) for vendor, expected, usage in USAGES),
    ("anthropic", anthropic_body(SEARCH, *PARTS), "Hi"),
    ("google", google_body({"text": "?", "thought": True}, {"text": "H"}, {"text": "i"}), "Hi"),
    ("google", answer({"candidates": [{"finishReason": "SAFETY"}]}), "SAFETY"),
    ("google", answer({"promptFeedback": {"blockReason": "SPII"}}), "SPII"),
    ("openai", said({"content": PARTS}), "Hi"),
    ("openai", said({"tool_calls": [{"function": {"arguments": {"a": 1}}}]}), '{"a": 1}'),
    ("openai", chat(None, calls=['{"a'], finish="length"), '{"a'),
    ("openai", chat(None, calls=[CUSTOM, "{}"]), "{}"),
    ("openai", said({"content": None}), ""),
    *((each.name, each.called('{"a": 1}', '{"a": 1}'), '{"a": 1}') for each in CALLING),
    *((each.name, each.called('{"a": 1}', "{}"), '{"a": 1}\n\n{}') for each in CALLING),
]


@pytest.mark.parametrize(("vendor", "play", "expected"), REPLIES)
def test_what_a_reply_says_how_it_ended_and_what_it_took(vendor, play, expected, server):
    pytest.importorskip(BY_NAME[vendor].package)
    server.plays(play)
    reply = ask_client(BY_NAME[vendor].load(server.url), question())
    assert expected in (reply.text, reply.finish, reply.usage)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({"choices": [{"message": {"content": {"x": 1}}}]}, "garbled", "cannot be read"),
        ({"error": "busy"}, "garbled", "cannot be read"),
        # an error with the status of a success
        ({"error": {"code": 429, "message": "slow"}}, "rate_limited", "slow"),
    ],
)
def test_what_is_no_reply_is_an_error(body, kind, message, server):
    pytest.importorskip("openai")
    server.plays(answer(body))
    with pytest.raises(ClientError, match=message) as caught:
        ask_client(BY_NAME["openai"].load(server.url), question())
    assert caught.value.kind == kind


def test_a_reply_that_is_none_is_paid_all_the_same(sdk):
    usage = {
        "prompt_tokens": 900, "completion_tokens": 100,
        "input_tokens": 900, "output_tokens": 100,
    }  # fmt: skip
    google = {"promptTokenCount": 900, "candidatesTokenCount": 100}
    sdk.server.plays(answer({"choices": [], "usage": usage, "usageMetadata": google}))
    reply = ask_client(sdk.client(), question(schema=SCHEMA))
    assert (reply.text, reply.finish, reply.usage) == ("", "failed", Usage(900, 100))


class Rating(pydantic.BaseModel):
    score: int


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('<think>Hm.</think>{"score": 4}', None),
        ('Hm.</think> {"score": 4}', None),
        ('<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>{"score": 4}', None),
        ('<think>a</think>b</think>{"score": 4}', None),
        ('Well: {"score": 4}.', None),
        ("Four", "Unreadable Rating, it has no object with 'score': 'Four'"),
        ('{"score": "high"}', "score: Input should be a valid integer"),
    ],
)
def test_an_answer_is_of_its_type_or_an_error(text, error, case):
    case.server.plays(case.vendor.said(text))
    if error is None:
        assert ask(case.client(), "Rate it.", Rating) == Rating(score=4)
        return
    with pytest.raises(UnreadableJudgementError, match=error):
        ask(case.client(), "Rate it.", Rating)
