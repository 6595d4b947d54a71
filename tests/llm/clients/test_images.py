"""Images of a sample, as each SDK sends them to its server."""

import json

import pytest
from server import chat
from vendors import SDKS as VENDORS

from llmeval_integrations import Sample, evaluate
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.judges import PassFail, Vote
from llmeval_integrations.llm.loading import load_client

pytest.importorskip("pydantic")

URL, DATA, KEY = "https://example.com/a.png", "aGk=", "sk-0123456789"
VERDICT = json.dumps({"reasoning": "r", "verdict": "Pass", "confidence": "High"})
TALK = [
    {"role": "user", "content": [{"type": "text", "text": "What?"}, {"type": "image", "url": URL}]}
]
FILE = {"type": "image", "data": DATA, "media_type": "image/jpeg"}

OPENAI = [
    {"type": "image_url", "image_url": {"url": URL}},
    {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{DATA}"}},
]
ANTHROPIC = [
    {"type": "image", "source": {"type": "url", "url": URL}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": DATA}},
]
GOOGLE = [
    {"fileData": {"mime_type": "image/png", "file_uri": URL}},
    {"inlineData": {"mime_type": "image/jpeg", "data": DATA}},
]
FORMS = dict(zip((vendor.package for vendor in VENDORS), (OPENAI, ANTHROPIC, GOOGLE)))


def parts(body):
    """The parts of what the user says."""
    if "contents" in body:
        return body["contents"][-1]["parts"]
    return body["messages"][-1]["content"]


def test_images_of_input_and_output_stand_before_the_text(case):
    case.server.plays(case.vendor.said(VERDICT))
    result = PassFail(case.client(), "Is it right?")(["A cat.", FILE], input=TALK)
    assert result.label == "Pass"
    sent = parts(case.server.last.body)
    texts = [part.get("text") for part in sent]
    assert (texts[0], texts[2]) == ("[image 1]", "[image 2]")
    if not case.vendor.is_framework:  # which add details of their own
        assert [sent[1], sent[3]] == FORMS.get(case.vendor.package, OPENAI)
    assert DATA in str(sent[3])
    assert '"[image 1]"' in "".join(filter(None, texts))
    assert DATA not in "".join(filter(None, texts))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "input_image", "image_url": URL},
        {"type": "image", "source": {"type": "url", "url": URL}},
        {"type": "image", "url": URL},
    ],
)
def test_an_image_is_read_as_each_library_writes_it(part, server):
    pytest.importorskip("openai")
    server.plays(chat(VERDICT))
    model = load_client("openai:gpt-4o", base_url=f"{server.url}/v1", api_key=KEY)
    Vote(PassFail(model, "Is it right?"), 2)("A cat.", contexts=["a text", part])
    for request in server.requests:
        assert [each for each in parts(request.body) if each["type"] == "image_url"] == OPENAI[:1]
        assert "[2] [image 1]" in parts(request.body)[-1]["text"]


def test_an_image_that_no_server_reaches_is_a_bad_call():
    pytest.importorskip("openai")
    model = load_client("openai:gpt-4o", api_key=KEY)
    with pytest.raises(
        InputError, match=r"url='cat\.png' is no address of the web; give what is in"
    ):
        PassFail(model, "Is it right?")("A cat.", input=[{"type": "image", "url": "cat.png"}])


def test_a_model_that_completes_text_takes_no_images():
    models = pytest.importorskip("langchain_core.language_models")
    judge = PassFail(models.FakeListLLM(responses=["Pass"]), "Is it right?")
    result = judge("A cat.", input=[FILE])
    assert result.label == "bad_request"
    assert "completes text and takes no images" in result.reason


def test_another_image_is_another_question_and_costs_tokens(server, tmp_path):
    pytest.importorskip("openai")
    server.plays(chat(VERDICT))
    model = load_client("openai:gpt-4o", base_url=f"{server.url}/v1", api_key=KEY)
    judge, cache = PassFail(model, "Is it right?"), tmp_path / "replies.sqlite"
    cached = []
    for data in (DATA, "Ynll", DATA):
        sample = {"output": "A cat.", "input": [{**FILE, "data": data}]}
        [row] = evaluate([sample], [judge], cache=cache).rows
        cached.append(row.metadata["judge"]["cached"])
    assert cached == [0, 0, 1]
    bounded = evaluate([Sample("a", input=[FILE])] * 2, [judge], max_tokens=1)
    assert [row.label for row in bounded.rows] == ["Pass", "Pass"]  # the same question
