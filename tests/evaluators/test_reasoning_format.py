"""Thinking, answer and tool calls in their tags, also side by side with py-openjudge."""

import asyncio
import json
import random
import re
from contextlib import suppress

import pytest

from llmeval_integrations import ReasoningFormat, ReasoningToolCallFormat

THINK = "<think>t</think>"
CALL = '{"name": "f", "arguments": {}}'

FORMATS = [
    # text, thinks, answers
    ("<think>a</think><answer>b</answer>", True, True),
    ("<think>a\nb</think>\n\n<answer>c\nd</answer>", True, True),
    ("<think>a</think>", True, False),
    ("<answer>a</answer>", False, True),
    (" ", False, False),
    ("<think>a<answer>b</answer></think>", True, True),
    ("</think><think><answer></answer>", False, True),
    ("<think><answer></think></answer>", True, True),
]


LABELS = {(True, False): "missing_answer", (False, True): "missing_think", (False, False): "missing_tags"}  # fmt: skip


@pytest.mark.parametrize(("text", "thinks", "answers"), FORMATS)
def test_both_pairs_of_tags_are_wanted_in_any_order_and_what_is_missing_is_named(text, thinks, answers):  # fmt: skip
    result = ReasoningFormat()(text)
    score = 1.0 if thinks and answers else 0.0
    assert (result.score, result.passed) == (score, thinks and answers)
    assert result.label == LABELS.get((thinks, answers))
    pairs = ("think", thinks), ("answer", answers)
    missing = [f"Missing <{tag}></{tag}> tags" for tag, found in pairs if not found]
    assert result.reason == ("; ".join(missing) or "All format requirements met")
    assert result.metadata == {
        "has_think_tag": thinks,
        "has_answer_tag": answers,
        "total_reward": score,
        "think_token": "think",
        "answer_token": "answer",
    }


@pytest.mark.parametrize("token", ["a.c", "(", "思考"])
def test_names_of_tags_are_text_and_not_patterns(token):
    evaluator = ReasoningFormat(think_token=token)
    assert evaluator(f"<{token}>x</{token}><answer>y</answer>").score == 1.0
    assert evaluator("<abc>x</abc><answer>y</answer>").score == 0.0
    assert evaluator("<think>x</think><answer>y</answer>").score == 0.0


CALLS = [
    # text, score, label, calls
    (f"{THINK}<answer>a</answer>", 1.0, None, 0),
    (f"  {THINK}\n<answer>a</answer>\n ", 1.0, None, 0),
    (f"{THINK}<tool_call>{CALL}</tool_call>", 1.0, None, 1),
    (f"{THINK}\n<tool_call>\n{CALL}\n</tool_call>\n<tool_call>{CALL}</tool_call> ", 1.0, None, 2),
    (f"<answer>a</answer>{THINK}", 0.0, "invalid_format", 0),
    (f"{THINK}x<answer>a</answer>", 0.0, "invalid_format", 0),
    (f"{THINK}<answer>a</answer>x", 0.0, "invalid_format", 0),
    (f"<tool_call>{CALL}</tool_call>", 0.0, "missing_think", 1),
    ("", 0.0, "empty", 0),
    (THINK, 0.0, "invalid_combination", 0),
    (f"{THINK}<answer>a</answer><tool_call>{CALL}</tool_call>", 0.0, "invalid_combination", 1),
    (f"{THINK}<tool_call>{CALL}</tool_call><answer>a</answer>", 0.0, "invalid_combination", 1),
    (f"<tool_call>{CALL}</tool_call>{THINK}", 0.0, "invalid_format", 1),
    (f"{THINK}<tool_call>{CALL}</tool_call>x", 0.0, "invalid_format", 1),
    (f"{THINK}<tool_call><tool_call>{CALL}</tool_call></tool_call>", 0.0, "invalid_format", 1),
    (f"{THINK}<tool_call>{{bad}}</tool_call>", 0.0, "invalid_json", 1),
    (f"{THINK}<tool_call>{CALL}{CALL}</tool_call>", 0.0, "invalid_json", 1),
    (f"{THINK}<tool_call>{CALL}</tool_call><tool_call>5</tool_call>", 0.0, "invalid_json", 2),
    # tags in the wrong order are no call
    (f"</tool_call>{THINK}<tool_call>", 0.0, "invalid_combination", 0),
]


@pytest.mark.parametrize(("text", "score", "label", "calls"), CALLS)
def test_thinking_comes_first_and_then_one_answer_or_calls(text, score, label, calls):
    result = ReasoningToolCallFormat()(text)
    assert (result.score, result.passed, result.label) == (score, score == 1.0, label)
    assert result.metadata["tool_call_count"] == calls
    assert result.metadata["has_tool_call_tag"] is (calls > 0)
    assert result.metadata["valid_format"] is (score == 1.0)
    assert result.metadata["reward"] == score
    if label in ("missing_think", "invalid_combination", "invalid_json"):  # where nobody read any
        assert result.metadata["valid_tool_call_json"] is False


@pytest.mark.parametrize(
    "tag",
    ["</tool_call>", "<tool_call>", "<think>", "</think>", "<answer>y</answer>", "</answer>",
     "<tool_call></tool_call>", "</tool_call></tool_call>", "</tool_call><tool_call>"],
)  # fmt: skip
def test_a_tag_in_a_json_string_is_text(tag):
    call = json.dumps({"name": "f", "arguments": {"q": tag, "escaped": '\\"' + tag}})
    for text, calls in (
        (f"{THINK}<tool_call>{call}</tool_call>", 1),
        (f"{THINK}\n<tool_call>\n{call}\n</tool_call>\n<tool_call>{CALL}</tool_call>", 2),
        (f"{THINK}<tool_call>{CALL}</tool_call><tool_call>{call}</tool_call>", 2),
        (f"{THINK}<tool_call>{call}</tool_call><tool_call>{call}</tool_call>", 2),
    ):
        result = ReasoningToolCallFormat()(text)
        assert (result.score, result.metadata["tool_call_count"]) == (1.0, calls), text


# --- side by side with py-openjudge --------------------------------------------------------------

PIECES = [
    "<think>", "</think>", "<answer>", "</answer>", "<tool_call>", "</tool_call>", " ", "\n", "x",
    "\u00a0", "\x1c", "`", CALL, "{}", "[]", "{bad}", '{"name": "f"}', CALL + "{}",
    '{"name": "f", "arguments": null}', f"```json\n{CALL}\n```",
    '{"name": "f", "name": "g", "arguments": 1}', '{"name": "f", "arguments": 1e400}',
]  # fmt: skip


def corpus(count):
    """Make texts that look like tool calls and answers, most of them nearly right."""
    choose = random.Random(3)
    often = [f"<tool_call>{CALL}</tool_call>", "<answer>a</answer>"] * len(PIECES)
    for _ in range(count):
        content = choose.choice(PIECES)
        pieces = [*PIECES, *often, *[f"<tool_call>{content}\n</tool_call>", f"<answer>{content}</answer>"] * 29]  # fmt: skip
        start = choose.choice([THINK, THINK + "\n"] * 3 * len(PIECES) + PIECES)
        yield start + "".join(choose.choices(pieces, k=choose.randint(0, 3)))


def ask_peer(grader, texts):
    """Give the peer's score, reason and metadata for each text; None where it raised."""

    async def ask_all():
        for text in texts:
            with suppress(TypeError):  # a call that is no object
                answer = await grader.aevaluate(response=text)
                yield text, (answer.score, answer.reason, answer.metadata)

    async def collect():
        return [each async for each in ask_all()]

    return asyncio.run(collect())


TEXT_BETWEEN_CALLS = re.compile(
    r"</tool_call>\s*[^<\s].*<tool_call>|tool_call>.*answer>.*<tool_call>", re.DOTALL
)
THOUGHT_IN_CALL = re.compile(r"</think>.*<tool_call>.*</?think>", re.DOTALL)


def test_equal_to_openjudge_but_where_its_patterns_skip_text_or_tags():
    peer = pytest.importorskip("openjudge.graders.format.reasoning_tool_format")
    texts = [
        text
        for text in corpus(4_000)
        if not (TEXT_BETWEEN_CALLS.search(text) or THOUGHT_IN_CALL.search(text))
    ]
    assert len(texts) > 3_000
    evaluator = ReasoningToolCallFormat()
    for text, theirs in ask_peer(peer.ReasoningToolCallFormatGrader(), texts):
        ours = evaluator(text)
        assert (ours.score, ours.reason, ours.metadata) == theirs, text
