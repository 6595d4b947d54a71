"""A model's reasoning is no part of its answer."""

import pytest
from pace import at_most

from llmeval_integrations.llm.thoughts import strip_reasoning


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


def test_a_closing_tag_behind_an_answer_ends_no_thinking():
    def decides(text):
        return "bad" in text

    assert strip_reasoning("bad: it ends with </think>good", decides).startswith("bad")
    assert strip_reasoning("Hm.</think>good", decides) == "good"
    assert strip_reasoning("<think>bad?</think>good", decides) == "good"


def test_many_tags_take_no_time():
    for piece in ("a</think>", "<think>a</think>", "<think>"):
        with at_most(2):  # some 0.1 s
            strip_reasoning(piece * (200_000 // len(piece)), lambda text: "b" in text)
