"""A reply of each server, and what it is read as."""

import json

import pytest
from remote_model import question
from server import answer, chat
from vendors import BY_NAME, SCHEMA, anthropic_body, ask_client, google_body

from llmeval_integrations.core.errors import ClientError, UnreadableJudgementError
from llmeval_integrations.judges import PassFail, ask
from llmeval_integrations.llm.reply import Usage, strip_reasoning

pydantic = pytest.importorskip("pydantic")


def read(vendor, play, server, wanted):
    pytest.importorskip(BY_NAME[vendor].package)
    server.plays(play)
    return ask_client(BY_NAME[vendor].load(server.url), wanted)


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


def body_of(vendor, word=None, usage=None):
    """Play a reply that says "I" and ended with this word."""
    if vendor == "openai":
        return chat("I", finish=word, usage=usage)
    if vendor == "google":
        return google_body({"text": "I"}, finish=word, usage=usage)
    return anthropic_body({"type": "text", "text": "I"}, stop=word, usage=usage)


FINISHES = {
    "openai": "stop:stop None:stop tool_calls:stop length:length content_filter:refused "
    "error:failed abort:failed something_new:other",
    "anthropic": "end_turn:stop None:stop stop_sequence:stop max_tokens:length refusal:refused "
    "model_context_window_exceeded:length pause_turn:other",
    "google": "STOP:stop None:stop MAX_TOKENS:length SAFETY:refused RECITATION:refused "
    "BLOCKLIST:refused MALFORMED_FUNCTION_CALL:failed OTHER:other",
}


@pytest.mark.parametrize("vendor", FINISHES)
def test_why_a_reply_ended(vendor, server):
    for pair in FINISHES[vendor].split():
        word, finish = pair.split(":")
        reply = read(vendor, body_of(vendor, None if word == "None" else word), server, question())
        assert (reply.finish, reply.text) == (finish, "I"), word


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


@pytest.mark.parametrize(("vendor", "expected", "usage"), USAGES)
def test_tokens_are_counted_the_same_way_for_all(vendor, expected, usage, server):
    assert read(vendor, body_of(vendor, usage=usage), server, question()).usage == expected


CUSTOM = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
THOUGHT = {"type": "thinking", "thinking": "Fail?", "signature": "s"}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "Rome"}}
PARTS = [THOUGHT, {"type": "text", "text": "H"}, {"type": "text", "text": "i"}]


def said(message):
    return answer({"choices": [{"message": message}]})


@pytest.mark.parametrize(
    ("vendor", "play", "expected"),
    [
        ("anthropic", anthropic_body(SEARCH, *PARTS), "Hi"),
        ("google", google_body({"text": "?", "thought": True}, {"text": "H"}, {"text": "i"}), "Hi"),
        ("google", answer({"candidates": [{"finishReason": "SAFETY"}]}), "SAFETY"),
        ("google", answer({"promptFeedback": {"blockReason": "SPII"}}), "SPII"),
        ("openai", said({"content": PARTS}), "Hi"),
        ("openai", said({"tool_calls": [{"function": {"arguments": {"a": 1}}}]}), '{"a": 1}'),
        ("openai", chat(None, calls=['{"a'], finish="length"), '{"a'),
        ("openai", chat(None, calls=[CUSTOM, "{}"]), "{}"),
        ("openai", said({"content": None}), ""),
        ("openai", said({"content": {"x": 1}}), ("garbled", "cannot be read")),
        ("openai", answer({"error": "busy"}), ("garbled", "cannot be read")),
        # an error with the status of a success
        ("openai", answer({"error": {"code": 429, "message": "slow"}}), ("rate_limited", "slow")),
    ],
)
def test_a_text_is_read_surely_or_not_at_all(vendor, play, expected, server):
    if isinstance(expected, str):
        assert read(vendor, play, server, question()).text == expected
        return
    kind, message = expected
    with pytest.raises(ClientError, match=message) as caught:
        read(vendor, play, server, question())
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


PASS, FAIL, TAG = (
    json.dumps({"reasoning": reasoning, "verdict": verdict, "confidence": "High"})
    for reasoning, verdict in (("r", "Pass"), ("r", "Fail"), ("It ends with </think>.", "Pass"))
)


@pytest.mark.parametrize(
    ("calls", "label"),
    [((PASS,), "Pass"), ((PASS, PASS), "Pass"), ((PASS, FAIL), "unreadable"), ((TAG,), "Pass")],
)
def test_a_verdict_is_read_where_all_calls_agree(calls, label, case):
    if not case.vendor.calls_tools:
        # A schema or words never give a reply several function calls that have to agree.
        pytest.skip("this client asks for a form in other ways")
    case.server.plays(case.vendor.called(*calls))
    assert PassFail(case.client(output="tool"), "Is it right?", retries=0)("x").label == label


class Rating(pydantic.BaseModel):
    score: int


@pytest.mark.parametrize(
    ("text", "error"),
    [('{"score": 4}', None), ("Four", "not JSON .* begins 'Four'"), ("{}", "Rating: score: Field")],
)
def test_an_answer_is_of_its_type_or_an_error(text, error, case):
    case.server.plays(case.vendor.said(f"<think>Hm.</think>{text}"))
    if error is None:
        assert ask(case.client(), "Rate it.", Rating) == Rating(score=4)
        return
    with pytest.raises(UnreadableJudgementError, match=error):
        ask(case.client(), "Rate it.", Rating)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<think>Hm.</think> good", "good"),
        ("Hm.</think> good", "good"),
        ("first <think>Hm.</think> good", "first \n good"),
        ('{"reason": "a </think> b"}', '{"reason": "a </think> b"}'),
        ("Hm. `</think>` good", "Hm. `</think>` good"),
        ("<think>Hm.", ""),
        ("<think>a</think>b</think>good", "good"),
        ("<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>good", "good"),
    ],
)
def test_thinking_is_no_answer(reply, answer):
    assert strip_reasoning(reply) == answer
