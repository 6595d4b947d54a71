"""The evaluators of formats that py-openjudge has, too: its figures, and what is ours alone."""

import asyncio
import json
import random
import re
from contextlib import suppress

import pytest

from llmeval_integrations import (
    InvalidOptionError,
    LengthPenalty,
    MissingDependencyError,
    NgramRepetitionPenalty,
    ReasoningFormat,
    ReasoningToolCallFormat,
)

# --- side by side with py-openjudge --------------------------------------------------------------

THINK = "<think>t</think>"
CALL = '{"name": "f", "arguments": {}}'
LENGTHS = ["é\n😀", *("x" * length for length in (1, 5, 6, 7, 8, 9, 10, 11, 1000, 1001, 5000))]
TAGGED = [
    "<think>a</think><answer>b</answer>", "<think>a\nb</think>\n\n<answer>c\nd</answer>", "<think>a</think>", "<answer>a</answer>",
    " ", "<think>a<answer>b</answer></think>", "</think><think><answer></answer>", "<think><answer></think></answer>",
]  # fmt: skip


def repetitive(count=100):
    """Make texts of few words, which occur often."""
    choose = random.Random(8)
    words = [*"the cat Sat on a mat 。 x=1 <think> </think> 12 é".split(), "\n"]
    for _ in range(count):
        few = choose.sample(words, choose.randint(1, len(words)))
        yield " ".join(choose.choice(few) for _ in range(choose.randint(1, 40)))


PIECES = [
    "<think>", "</think>", "<answer>", "</answer>", "<tool_call>", "</tool_call>", " ", "\n", "x",
    "\u00a0", "\x1c", "`", CALL, "{}", "[]", "{bad}", '{"name": "f"}', CALL + "{}",
    '{"name": "f", "arguments": null}', f"```json\n{CALL}\n```",
    '{"name": "f", "name": "g", "arguments": 1}', '{"name": "f", "arguments": 1e400}',
]  # fmt: skip
# Where the patterns of py-openjudge skip a text or a tag.
TEXT_BETWEEN_CALLS = re.compile(
    r"</tool_call>\s*[^<\s].*<tool_call>|tool_call>.*answer>.*<tool_call>", re.DOTALL
)
THOUGHT_IN_CALL = re.compile(r"</think>.*<tool_call>.*</?think>", re.DOTALL)


def called(count=4_000):
    """Make texts that look like tool calls and answers, most of them nearly right."""
    choose = random.Random(3)
    often = [f"<tool_call>{CALL}</tool_call>", "<answer>a</answer>"] * len(PIECES)
    for _ in range(count):
        content = choose.choice(PIECES)
        wrapped = [f"<tool_call>{content}\n</tool_call>", f"<answer>{content}</answer>"] * 29
        start = choose.choice([THINK, THINK + "\n"] * 3 * len(PIECES) + PIECES)
        parts = choose.choices([*PIECES, *often, *wrapped], k=choose.randint(0, 3))
        text = start + "".join(parts)
        if not (TEXT_BETWEEN_CALLS.search(text) or THOUGHT_IN_CALL.search(text)):
            yield text


LENGTH_OPTIONS = [
    {},
    {"min_length": 0, "max_length": 5, "penalty_rate": 0.3},
    {"min_length": 7, "max_length": 7, "penalty_rate": 1},
]
REPETITION_OPTIONS = [
    {},
    {"n": 1},
    {"n": 2, "penalty_threshold": 0.1, "penalty_rate": 2.5},
    {"analyze_scope": "thought", "n": 2},
    {"use_soft_penalty": True, "n": 2, "max_penalty": -2.0},
    {"use_soft_penalty": True, "n": 1, "min_scaling": 0.123456, "max_penalty": -1.0},
]
SIMPLE = {"tokenizer_type": "simple"}


@pytest.mark.parametrize(
    ("module", "kind", "options", "their_own", "texts"),
    [
        ("length_penalty", LengthPenalty, LENGTH_OPTIONS, {}, LENGTHS),
        ("ngram_repetition_penalty", NgramRepetitionPenalty, REPETITION_OPTIONS, SIMPLE, [*repetitive()]),
        ("reasoning_format", ReasoningFormat, [{}], {}, TAGGED),
        ("reasoning_tool_format", ReasoningToolCallFormat, [{}], {}, [*called()]),
    ],
)  # fmt: skip
def test_equal_to_openjudge(module, kind, options, their_own, texts):
    peer = pytest.importorskip(f"openjudge.graders.format.{module}")
    for chosen in options:
        grader = getattr(peer, f"{kind.__name__}Grader")(**chosen, **their_own)
        for text, theirs in asyncio.run(grade(grader, texts)):
            ours = kind(**chosen)(text)
            # A rate is 1 - 0.7 there, which is a little more than 3/10, and nothing is -0.0.
            assert ours.score == pytest.approx(theirs.score, abs=1e-12), text
            assert ours.reason == theirs.reason.replace("-0.000", "0.000"), text
            names = (ours.metadata.keys() & theirs.metadata.keys()) - {"most_common_ngrams"}
            figures = [[each.metadata[name] for name in names] for each in (ours, theirs)]
            assert figures[0] == pytest.approx(figures[1], abs=1e-12), text


async def grade(grader, texts):
    """Give each text with the peer's answer, unless it raises: for a call that is no object."""
    answers = []
    for text in texts:
        with suppress(TypeError):
            answers.append((text, await grader.aevaluate(response=text)))
    return answers


# --- labels, which are ours ----------------------------------------------------------------------

LENGTH, CALLING = LengthPenalty(min_length=5, max_length=7), ReasoningToolCallFormat()


@pytest.mark.parametrize(
    ("evaluator", "text", "label"),
    [
        (LENGTH, "x" * 4, "too_short"),
        (LENGTH, "x" * 5, None),
        (LENGTH, "x" * 7, None),
        (LENGTH, "x" * 8, "too_long"),
        (LENGTH, "", "empty"),
        (NgramRepetitionPenalty(n=1), "a A a a", "repetitive"),
        (NgramRepetitionPenalty(n=1), "a b c", None),
        (NgramRepetitionPenalty(n=1), None, "empty"),
        (ReasoningFormat(), THINK, "missing_answer"),
        (ReasoningFormat(), "<answer>a</answer>", "missing_think"),
        (ReasoningFormat(), "a", "missing_tags"),
        (ReasoningFormat(), f"{THINK}<answer>a</answer>", None),
        (CALLING, f"  {THINK}\n<answer>a</answer>\n ", None),
        (
            CALLING,
            f"{THINK}\n<tool_call>\n{CALL}\n</tool_call>\n<tool_call>{CALL}</tool_call> ",
            None,
        ),
        (CALLING, f"{THINK}x<answer>a</answer>", "invalid_format"),
        (CALLING, f"{THINK}<tool_call>{CALL}</tool_call>x", "invalid_format"),
        (CALLING, f"<tool_call>{CALL}</tool_call>", "missing_think"),
        (CALLING, f"{THINK}<answer>a</answer><tool_call>{CALL}</tool_call>", "invalid_combination"),
        (CALLING, f"</tool_call>{THINK}<tool_call>", "invalid_combination"),
        (CALLING, f"{THINK}<tool_call>{CALL}</tool_call><tool_call>5</tool_call>", "invalid_json"),
        (CALLING, "", "empty"),
    ],
)
def test_what_is_wrong_has_a_label(evaluator, text, label):
    result = evaluator(text)
    assert (result.label, bool(result.passed)) == (label, label is None)


@pytest.mark.parametrize("token", ["a.c", "(", "思考"])
def test_names_of_tags_are_text_and_not_patterns(token):
    evaluator = ReasoningFormat(think_token=token)
    assert evaluator(f"<{token}>x</{token}><answer>y</answer>").score == 1.0
    assert evaluator("<abc>x</abc><answer>y</answer>").score == 0.0
    assert evaluator("<think>x</think><answer>y</answer>").score == 0.0


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
        result = CALLING(text)
        assert (result.score, result.metadata["tool_call_count"]) == (1.0, calls), text


# --- options of penalties ------------------------------------------------------------------------


def test_numbers_of_numpy_become_pythons():
    np = pytest.importorskip("numpy")
    penalty = LengthPenalty(max_length=np.int64(20), penalty_rate=np.float32(0.5))
    assert penalty == LengthPenalty(max_length=20, penalty_rate=0.5)
    assert (type(penalty.max_length), type(penalty.penalty_rate)) == (int, float)
    with pytest.raises(InvalidOptionError, match="not a whole number"):
        LengthPenalty(max_length=np.float32(20))


def test_a_penalty_has_its_limit():
    assert LengthPenalty(max_length=10, max_penalty=-0.5)("x" * 99).score == -0.5


def test_the_most_frequent_ngrams_are_named():
    result = NgramRepetitionPenalty(n=2)("a b a b a b x y x y z")
    assert result.metadata["most_common_ngrams"] == [["a b", 3], ["b a", 2], ["x y", 2]]
    many = " ".join(f"w{n} w{n}" for n in range(20)) * 2
    assert len(NgramRepetitionPenalty(n=1)(many).metadata["most_common_ngrams"]) == 5


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("<think>a b c</think> x x x x", 3),
        ("<think>a b</think> x <think>c d</think>", 4),
        ("<think>a\nb</think>", 2),
        ("<think><think>a</think></think>", 1),
        ("<think>a</think><think>b</think>", 2),
    ],
)
def test_the_scope_may_be_the_thinking_alone(text, tokens):
    result = NgramRepetitionPenalty(n=1, analyze_scope="thought")(text)
    assert result.metadata["token_count"] == tokens
    assert result.metadata["analyze_scope"] == "thought"


def test_a_panic_of_tiktoken_is_unscored():
    pytest.importorskip("tiktoken")
    try:
        evaluator = NgramRepetitionPenalty(n=1, tokenizer="tiktoken")
    except MissingDependencyError:
        pytest.skip("no vocabulary on this machine")  # tiktoken would download it
    result = evaluator("a" + " " * 1_000_000 + "b")
    assert (result.scored, result.label) == (False, "tokenizer_error")
    assert result.reason.startswith("tiktoken cannot split this text into tokens: ")
    assert evaluator("a a").scored


def test_jieba_cuts_chinese_into_words_and_may_leave_out_all_but_han_characters():
    pytest.importorskip("rjieba")
    text = "我来到北京清华大学。"
    evaluator = NgramRepetitionPenalty(n=1, tokenizer="jieba")
    assert evaluator(text).metadata["token_count"] == 5
    assert evaluator(text * 2).metadata["repetition_rate"] == 0.5
    assert evaluator("Ab ab").metadata["unique_ngrams"] == 3  # case counts
    evaluator = NgramRepetitionPenalty(n=1, tokenizer="jieba", chinese_only=True)
    assert evaluator("abc 我来到 x 北京 123").metadata == evaluator("我来到北京").metadata
    assert evaluator("abc").metadata["token_count"] == 0
