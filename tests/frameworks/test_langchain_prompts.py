"""A judge's prompt as a template of LangChain's."""

import pytest

pytest.importorskip("langchain_core")

from langchain_core.messages import SystemMessage
from langchain_core.prompts import (
    ChatPromptTemplate,
    FewShotPromptTemplate,
    MessagesPlaceholder,
    PromptTemplate,
)
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.frameworks.langchain import load_evaluator

QUESTION = "Is it short?"
TEXT = 'Judge {output} as {{"verdict": "Pass"}}. {question}'


def loaded(prompt, client=None):
    options = {"llm": client or Scripted(judgement()), "question": QUESTION, "prompt": prompt}
    return load_evaluator("pass_fail", **options)


@pytest.mark.parametrize(
    "prompt",
    [
        PromptTemplate.from_template(TEXT),
        ChatPromptTemplate.from_template(TEXT),
        ChatPromptTemplate.from_messages([("human", [{"type": "text", "text": TEXT}])]),
        PromptTemplate.from_template(
            'Judge {{output}} as {"verdict": "Pass"}. {{question}}', template_format="mustache"
        ),
        TEXT,
    ],
    ids=["text", "chat", "parts", "mustache", "ours"],
)
def test_the_prompt_says_what_it_says_in_langchain(prompt):
    client = Scripted(judgement())
    assert loaded(prompt, client).evaluate_strings(prediction="a")["score"] == 1.0
    mark = client.requests[0].fence
    shown = f"<output {mark}>\na\n</output {mark}>"
    assert client.said.startswith(f'Judge {shown} as {{"verdict": "Pass"}}. {QUESTION}\n')


def test_each_message_keeps_its_role():
    said = [("system", "Judge."), ("human", "{output}"), ("ai", "Well."), ("human", "{question}")]
    client = Scripted(judgement())
    loaded(ChatPromptTemplate.from_messages(said), client).evaluate_strings(prediction="a")
    roles = [message.role for message in client.requests[0].messages]
    assert roles == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (
            ChatPromptTemplate.from_messages([SystemMessage("Be {brief}."), ("human", TEXT)]),
            "Be {brief}.*no templ",
        ),
        (
            ChatPromptTemplate.from_messages([("human", TEXT), MessagesPlaceholder("history")]),
            "no template of",
        ),
        (
            ChatPromptTemplate.from_messages(
                [("human", [{"type": "image_url", "image_url": "{image}"}])]
            ),
            "no templ",
        ),
        (
            FewShotPromptTemplate(
                examples=[{"a": "1"}],
                example_prompt=PromptTemplate.from_template("{a}"),
                suffix=TEXT,
                input_variables=["output", "question"],
            ),
            "no template of text",
        ),
        (PromptTemplate.from_template(TEXT + "{tone}").partial(tone="kind"), "tone is filled in"),
        (
            ChatPromptTemplate.from_messages([("human", TEXT + "{tone}")]).partial(tone="kind"),
            "tone is filled in",
        ),
        (PromptTemplate.from_template("Judge {question}"), "shows the judge no output"),
    ],
    ids=["message", "placeholder", "image", "examples", "partial", "partial chat", "no output"],
)
def test_what_cannot_be_read_is_refused(prompt, message):
    with pytest.raises(InvalidOptionError, match=message):
        loaded(prompt)
