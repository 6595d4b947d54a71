"""A model's reasoning is no part of its answer."""

import pytest

from llmeval_integrations.llm.reply import strip_reasoning


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
