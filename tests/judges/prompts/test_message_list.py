"""Prompts of several messages, and prompts as values."""

import dataclasses
import pickle

import pytest

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.llm.messages import Message


def test_messages_keep_their_roles_and_parts():
    prompt = Prompt(
        [
            {"role": "system", "content": "You judge {topic}."},
            {"role": "user", "content": [{"type": "text", "text": "Q: {q}"}, {"type": "text", "text": "A: {a}"}]},
            Message("assistant", "Yes."),
            Message("user", ("{topic}", "again")),
        ]
    )  # fmt: skip
    assert prompt.variables == ("topic", "q", "a")
    messages = prompt.render({"topic": "cats", "q": "why", "a": {"x": 1}})
    assert messages == [
        Message("system", "You judge cats."),
        Message("user", ("Q: why", 'A: {"x": 1}')),
        Message("assistant", "Yes."),
        Message("user", ("cats", "again")),
    ]
    assert messages[1].text == 'Q: why\n\nA: {"x": 1}'


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (None, "not a text or a list of messages"),
        (b"text", "not a text or a list of messages"),
        ([], "not a text or a list of messages"),
        ({"role": "user", "content": "x"}, "not a text or a list of messages"),
        (["x"], "mapping with role and content"),
        ([("user", "x")], "mapping with role and content"),
        ([{"role": "user"}], "mapping with role and content"),
        ([{"role": "user", "content": "x", "name": "y"}], "nothing else"),
        ([{"role": "tool", "content": "x"}], "role 'tool' is not one of system, user, assistant"),
        ([{"role": "developer", "content": "x"}], "it is called system here"),
        ([{"role": "human", "content": "x"}], "it is called user here"),
        ([{"role": "ai", "content": "x"}], "it is called assistant here"),
        ([{"role": ["user"], "content": "x"}], "is not one of system, user, assistant"),
        ([Message("model", "x")], "it is called assistant here"),
        ([{"role": "user", "content": None}], "content None is not a text or a list of parts"),
        ([{"role": "user", "content": []}], "is not a text or a list of parts"),
        ([{"role": "user", "content": [1]}], 'is not of the form {"type": "text", "text": ...}'),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}], "type 'image_url' is not 'text'"),
        ([{"role": "user", "content": [{"type": "text"}]}], "exactly a type and a text"),
        ([{"role": "user", "content": [{"type": "text", "text": 1}]}], "exactly a type and a text"),
        ([{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}]}], "exactly a type and a text"),
    ],
)  # fmt: skip
def test_what_is_no_message_is_an_error_that_names_it(template, message):
    with pytest.raises(InvalidOptionError) as error:
        Prompt(template)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "template", ["{a}", "{{#a}}{{.}}{{/a}}", [{"role": "user", "content": [{"type": "text", "text": "{a}"}]}]]
)  # fmt: skip
def test_a_prompt_is_a_value(template):
    prompt = Prompt(template)
    assert pickle.loads(pickle.dumps(prompt)) == prompt  # noqa: S301
    assert eval(repr(prompt)) == prompt  # noqa: S307
    assert hash(prompt) == hash(Prompt(template))
    assert Prompt.of(prompt) is prompt
    assert Prompt.of(template) == prompt
    assert dataclasses.replace(prompt, template="{b}").variables == ("b",)
    assert pickle.loads(pickle.dumps(prompt)).render({"a": "A"}) == prompt.render({"a": "A"})  # noqa: S301


def test_a_list_that_changes_afterwards_changes_no_prompt():
    template = [{"role": "user", "content": "{a}"}]
    prompt = Prompt(template)
    template[0]["content"] = "{b}"
    template.append({})
    assert prompt.render({"a": "A"}) == [Message("user", "A")]
