"""A text that is being written is called lost as soon as that is sure, and its stream ends."""

import asyncio
import json
import random
from pathlib import Path

import pytest
import sdk_replies
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import broken_texts, clashing, clashing_schemas, json_texts, law, seconds
from sdk_replies import pieces
from server import ModelServer

from llmeval_integrations import InvalidOptionError, JsonMatch, JsonSchema, ToolCallSchema
from llmeval_integrations.core.errors import InputError, InvalidSchemaError
from llmeval_integrations.guards import Doomed, stop_early, watch


async def write():
    for piece in pieces(WRONG):
        yield piece


class Stream:
    """An asynchronous stream, here one that cannot be closed."""

    def __aiter__(self):
        return write()


MASKBENCH = Path(__file__).parents[3] / "shared/data/maskbench/sample.jsonl"

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "age": {"type": "integer", "minimum": 18},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        "pair": {"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        "kin": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
DISC = {"properties": {"kind": {"const": "disc"}, "radius": {"type": "number"}}}
BOX = {"properties": {"kind": {"const": "box"}, "side": {"type": "number"}}}
SHAPES = {"oneOf": [DISC, BOX]}
OPEN = {
    "properties": {"n": {"if": {"type": "object"}, "then": {"required": ["x"]}}, "m": {"not": {}}},
    "if": {"required": ["a"]},
    "then": {"required": ["b"]},
}

REFERS = {
    "definitions": {"d": {"type": "integer"}},
    "properties": {"a": {"$ref": "s.json#/definitions/d"}},
}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"

# What is written up to the bar is lost, and what is before its last character is not.
WRONG_CHARACTER = "unexpected_character"
SCHEMAS = [
    (PERSON, '{"age": 17,| "name": "Bo"}', "/age", "minimum"),
    (PERSON, '{"age": [|', "/age", "type"),
    (PERSON, '{"size"|: 3}', "/size", "additionalProperties"),
    (PERSON, '{"name": "Barbara"|', "/name", "maxLength"),
    (PERSON, '{"tags": ["a", "c"|]}', "/tags/1", "enum"),
    (PERSON, '{"tags": ["a", "b", "a"]|}', "/tags", "maxItems"),
    (PERSON, '{"pair": [1, "x", nul,|', "/pair/2", WRONG_CHARACTER),
    (PERSON, '{"kin": [{"age": 20}|]}', "/kin/0", "required"),
    (PERSON, '{"kin": [{"name": "Bo", "kin": [{"age": 1.5,|', "/kin/0/kin/0/age", "type"),
    (SHAPES, '{"radius": "wide", "kind": "disc"}|', "", "oneOf"),
    (OPEN, '{"n": {}|}', "/n", "required"),
    (OPEN, '{"m": 1,|', "/m", "not"),
    ({"oneOf": [{"type": "object"}, {"$ref": "#"}]}, "{}|", "", "oneOf"),
    (OPEN, '{"a": 1, "n": {"x": 1}}|', "", "required"),
    # defects of the text
    (PERSON, "S|orry, I cannot", "", WRONG_CHARACTER),
    (PERSON, "{'|name", "", WRONG_CHARACTER),
    (PERSON, '{"age": 20,}|', "", WRONG_CHARACTER),
    (PERSON, '{"age": 020,|', "/age", WRONG_CHARACTER),
    (PERSON, '{"name": "a\n|', "/name", WRONG_CHARACTER),
    (PERSON, '{"name": "\\ud800"|', "/name", WRONG_CHARACTER),
    (True, "[1e400,|", "/0", WRONG_CHARACTER),
    (True, '{} {|"a": 1}', "", WRONG_CHARACTER),
    (True, "[" * 201 + "|", "/0" * 200, "too_deep"),
    # in white space or a fence
    (PERSON, '  {"name": "Barbara"|', "/name", "maxLength"),
    (PERSON, '```json\n{"name": "Barbara"|}\n```', "/name", "maxLength"),
    # references lead from the address that a schema has
    ({"$id": "http://x.org/a/s.json", **REFERS}, '{"a": "x"|', "/a", "type"),
    ({"id": "http://x.org/a/s.json#", "$schema": DRAFT_4, **REFERS}, '{"a": "x"|', "/a", "type"),
]
STRICT = JsonSchema(PERSON, parsing="strict")
CASES = [
    *((JsonSchema(schema), *rest) for schema, *rest in SCHEMAS),
    (STRICT, "`|``", "", WRONG_CHARACTER),
    (STRICT, '{"age": 20, "age"|: 20', "", "duplicate_key"),
]
UNWATCHED = [
    (lambda: watch(JsonSchema()), "schema"),
    (lambda: watch(ToolCallSchema()), "tools"),
    (lambda: watch(JsonSchema(PERSON, parsing="lenient")), "with lenient parsing"),
    (lambda: watch(JsonMatch()), "a JsonSchema or a ToolCallSchema"),
    (lambda: stop_early([], PAYS), r"the watcher that watch\(evaluator\) returns, got JsonSchema"),
]
TOOLS = [
    {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}},
    {"name": "clock", "parameters": {"properties": {"zone": {"enum": ["UTC"]}}}},
]
_DRAFTS = st.sampled_from(["4", "6", "7", "2019-09", "2020-12"])
_LATE = ["```JSON```", "``` json JSON\n```", "`JSON`"]
_DRESSES = st.sampled_from([*["JSON "] * 3, "```json\nJSON\n```", *_LATE])
PAYMENT = {"properties": {"total": {"minimum": 0}, "note": {"type": "string"}}}
PAYS = JsonSchema(PAYMENT)
WRONG = json.dumps({"total": -5, "note": "a long remark that nobody needs any more " * 5})
RIGHT = WRONG.replace("-5", "5")
READ = 14  # '{"total": -5, "' in pieces of seven: the comma is in the second
MESSAGES = [{"role": "user", "content": "?"}]
ASKED = {
    "chat": {"messages": MESSAGES},
    "response": {"input": "?"},
    "message": {"messages": MESSAGES, "max_tokens": 9},
}


@pytest.mark.parametrize(("evaluator", "text", "pointer", "keyword"), CASES)
def test_a_text_is_lost_where_no_end_of_it_conforms(evaluator, text, pointer, keyword):
    lost, _, rest = text.partition("|")
    whole = watch(evaluator).feed(lost + rest)
    watcher = watch(evaluator)
    assert [watcher.feed(char) for char in lost[:-1]] == [None] * (len(lost) - 1)
    doomed = watcher.feed(lost[-1])
    assert doomed == whole == watcher.feed(rest) == watcher.doomed
    assert (doomed.offset, doomed.pointer, doomed.keyword) == (len(lost), pointer, keyword)
    assert doomed.reason


@pytest.mark.parametrize(("call", "words"), UNWATCHED)
def test_what_cannot_be_watched_is_refused(call, words):
    with pytest.raises(InvalidOptionError, match=words):
        call()


def test_the_arguments_of_calls_are_watched_each_by_its_tool():
    watcher = watch(ToolCallSchema(TOOLS))
    assert watcher.feed("", "weather") is None
    assert watcher.feed('{"city": ') is None
    assert watcher.feed('{"zone": "', "clock", 1) is None
    assert watcher.feed('"Oslo"}') is None
    doomed = watcher.feed('CET"}', index=1)
    assert doomed == Doomed(14, "/zone", "enum", 'clock: "CET" is not one of "UTC"')
    assert watcher.feed("}", "weather", 2) == doomed
    unknown = "there is no tool 'wether': did you mean 'weather'? there are weather, clock"
    assert watch(ToolCallSchema(TOOLS)).feed("", "wether").reason == unknown
    assert watch(ToolCallSchema(TOOLS)).feed('{"town"', "weather")[:2] == (7, "/town")
    assert watch(ToolCallSchema(TOOLS, allow_undeclared=True)).feed('{"town"', "weather") is None
    for evaluator, arguments, message in (
        (ToolCallSchema(TOOLS), ("{",), "call 0 needs the tool's name"),
        (PAYS, ("{", None, 1), "reads one text, so there is no call 1"),
        (PAYS, (b"{",), "the next part of a text, got b'{'"),
    ):
        with pytest.raises(InputError, match=message):
            watch(evaluator).feed(*arguments)
    assert watch(PAYS).feed(None) is None  # as SDKs give, if a chunk has no text
    with pytest.raises(InputError, match="and chunks of SDKs, got"):
        list(stop_early([{"text": "{"}], watch(PAYS)))


@law
@given(clashing_schemas, clashing_schemas, _DRAFTS, clashing, _DRESSES)
def test_what_conforms_is_never_called_lost_and_what_does_not_always(
    schema, definition, draft, value, dress
):
    if isinstance(schema, dict):
        schema = {**schema, "definitions": {"d": definition}}
    try:
        evaluator = JsonSchema(schema, draft=draft)
    except InvalidSchemaError:
        return
    text = dress.replace("JSON", json.dumps(value))
    doomed = watch(evaluator).feed(text)
    # On the line of a fence only the end tells what is JSON.
    assert (doomed is None) == evaluator(text).passed or (doomed is None and dress in _LATE)


@law
@given(json_texts | broken_texts | st.text('{}[]":,`~ \n\\atrue1.-', max_size=20), st.data())
def test_chunks_do_not_count_and_what_is_json_is_never_called_lost(text, data):
    evaluator = JsonSchema(True)
    doomed = watch(evaluator).feed(text)
    watcher, rest = watch(evaluator), text
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        watcher.feed(rest[:size])
        rest = rest[size:]
    assert watcher.doomed == doomed
    if doomed is not None:
        assert not evaluator(text).passed
        assert watch(evaluator).feed(text[: doomed.offset]) == doomed
        assert watch(evaluator).feed(text[: doomed.offset - 1]) is None


def test_a_text_of_any_length_takes_linear_time():
    row = {"name": "Bo", "age": 18, "tags": ["a", "b"]}
    evaluator = JsonSchema({"type": "array", "items": PERSON})

    def read(size):
        watcher = watch(evaluator)
        for char in json.dumps([row] * size)[:-1] + ', "' + "x" * 40 * size:
            watcher.feed(char)
        assert watcher.doomed is None

    read(10)
    assert seconds(read, 2000) < 30 * seconds(read, 200)


@pytest.mark.skipif(not MASKBENCH.exists(), reason="MaskBench's schemas are not in the repository")
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(1, 10))]
)
def test_real_schemas_stop_most_of_what_does_not_conform_and_nothing_else(seed):
    chance, early, saved, written = random.Random(seed), [], 0, 0
    shuffle = lambda members: dict(chance.sample(members, len(members)))  # noqa: E731
    rows = [json.loads(line) for line in MASKBENCH.read_text().split("\n")[:-1]]
    for evaluator, value in (
        (JsonSchema(row["schema"], check_formats=True), test["data"])
        for row in rows
        for test in row["tests"]
    ):
        text = json.dumps(json.loads(json.dumps(value), object_pairs_hook=shuffle))
        doomed = watch(evaluator).feed(text)
        assert (doomed is None) == evaluator(text).passed
        if doomed is not None:
            early.append(doomed.offset < len(text))
            saved += len(text) - doomed.offset
            written += len(text)
    assert len(early) > 1_000
    assert sum(early) / len(early) >= 0.8
    assert saved / written >= 0.45


@pytest.mark.parametrize("api", ASKED)
def test_a_lost_stream_is_closed_and_a_good_one_is_passed_on(api):
    def ask(client):
        _, _, create = sdk_replies.FUNCTIONS[api]
        return create(client)(model="m", **ASKED[api], stream=True)

    async def read():
        async with sdk_replies.make_client(api, server, "Async") as client:
            stream = await ask(client)
            lost = stop_early(stream, watch(PAYS))
            assert len([chunk async for chunk in lost]) < 5
            assert stream.response.is_closed
            return lost

    text, call = (getattr(sdk_replies, f"{api}_{kind}_stream") for kind in ("text", "call"))
    with ModelServer() as server:
        client = sdk_replies.make_client(api, server)
        for body, evaluator in (
            (text, PAYS),
            (call, ToolCallSchema([{"name": "pay", "parameters": PAYMENT}])),
        ):
            server.plays(body(WRONG), body(RIGHT))
            lost = stop_early(ask(client), watch(evaluator), length=len(WRONG))
            chunks = list(lost)
            assert lost.doomed[:3] == (13, "/total", "minimum")
            assert (lost.characters, lost.saved) == (READ, len(WRONG) - READ)
            good = stop_early(ask(client), watch(evaluator))
            assert len(list(good)) > len(chunks)
            assert (good.doomed, good.saved, good.characters) == (None, None, len(RIGHT))
        server.plays(text(WRONG))
        lost = asyncio.run(read())
        assert (lost.doomed.offset, lost.characters) == (13, READ)


def test_the_events_of_openais_stream_helper_are_watched():
    with ModelServer() as server:
        server.plays(sdk_replies.chat_text_stream(WRONG))
        chat = sdk_replies.make_client("chat", server).chat.completions
        with chat.stream(model="m", messages=MESSAGES) as stream:
            lost = stop_early(stream, watch(PAYS))
            assert "total" in str(list(lost))
        assert (lost.doomed.offset, lost.characters) == (13, READ)


def test_chunks_of_other_servers_are_watched():
    types = pytest.importorskip("openai.types")
    construct = pytest.importorskip("openai._models").construct_type
    watched = (PAYS, ToolCallSchema([{"name": "pay", "parameters": PAYMENT}]))
    call = {"index": 0, "function": {"name": "pay", "arguments": RIGHT}}
    for choices, number, kind in (
        ([{"delta": {"content": RIGHT}}, {}], 0, types.chat.ChatCompletionChunk),  # Azure's filter
        ([{"text": RIGHT}, {"text": ""}], 0, types.Completion),
        # Google gives all calls the same index.
        ([{"delta": {"tool_calls": [{**call, "id": id_}]}} for id_ in "ab"], 1, types.chat.ChatCompletionChunk),
    ):  # fmt: skip
        chunks = [
            construct(type_=kind, value={"choices": [{"index": 0, **one}]}) for one in choices
        ]
        stream = stop_early(chunks, watch(watched[number]))
        assert (list(stream), stream.doomed) == (chunks, None)
        assert stream.characters == len(RIGHT) * (1 + number)


def test_texts_of_any_iterator_are_watched():
    async def read(stream):
        return [piece async for piece in stop_early(stream, watch(PAYS))]

    async def close():
        closed.append(True)

    texts, closed, both = (piece for piece in pieces(WRONG)), [], Stream()
    assert list(stop_early(texts, watch(PAYS))) == pieces(WRONG)[:2]
    assert list(texts) == []
    both.close, both.aclose = None, close  # as LiteLLM's, whose other one blocks
    for stream in (write(), Stream(), both):
        assert asyncio.run(read(stream)) == pieces(WRONG)[:2]
    assert closed
