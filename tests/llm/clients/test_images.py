"""Images of a sample, as each SDK sends them to its server."""

import pytest
from server import chat
from vendors import BY_NAME, SDKS, VERDICT

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.judges import PassFail, Vote

URL, DATA = "https://example.com/a.png", "aGk="
IMAGE = {"type": "image", "url": URL}
TALK = [{"role": "user", "content": [{"type": "text", "text": "What?"}, IMAGE]}]
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
FORMS = dict(zip((vendor.package for vendor in SDKS), (OPENAI, ANTHROPIC, GOOGLE)))


def parts(body):
    return body["contents"][-1]["parts"] if "contents" in body else body["messages"][-1]["content"]


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


def test_an_image_is_read_as_each_library_writes_it(server):
    pytest.importorskip("openai")
    server.plays(chat(VERDICT))
    judge = PassFail(BY_NAME["openai"].load(server.url), "Is it right?")
    for part in (
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "input_image", "image_url": URL},
        {"type": "image", "source": {"type": "url", "url": URL}},
        IMAGE,
    ):
        Vote(judge, 2)("A cat.", contexts=["a text", part])
    assert len(server.requests) == 8
    for request in server.requests:
        assert [each for each in parts(request.body) if each["type"] == "image_url"] == OPENAI[:1]
        assert "[2] [image 1]" in parts(request.body)[-1]["text"]
    with pytest.raises(InputError, match=r"url='cat\.png' is not a web address; give the content"):
        judge("A cat.", input=[{"type": "image", "url": "cat.png"}])


def test_a_model_that_completes_text_takes_no_images():
    models = pytest.importorskip("langchain_core.language_models")
    judge = PassFail(models.FakeListLLM(responses=["Pass"]), "Is it right?")
    result = judge("A cat.", input=[FILE])
    assert result.label == "bad_request"
    assert "completes text and accepts no images" in result.reason


def test_another_image_is_another_question(server, tmp_path):
    pytest.importorskip("openai")
    server.plays(chat(VERDICT))
    judge = PassFail(BY_NAME["openai"].load(server.url), "Is it right?")
    for data, cached in ((DATA, 0), ("Ynll", 0), (DATA, 1)):
        sample = {"output": "A cat.", "input": [{**FILE, "data": data}]}
        [row] = evaluate([sample], [judge], cache=tmp_path / "replies.sqlite").rows
        assert row.metadata["judge"]["cached"] == cached
