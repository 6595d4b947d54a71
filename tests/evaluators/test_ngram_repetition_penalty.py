"""Repetition by n-grams: the definition written plainly, penalties, tokenizers offline, scopes."""

import asyncio
import random

import pytest

from llmeval_integrations import MissingDependencyError, NgramRepetitionPenalty


def test_the_result_gives_the_figures():
    result = NgramRepetitionPenalty(n=1)("a A a a")
    assert result.reason == (
        "1-gram repetition rate: 0.750, penalty: -0.450 (hard penalty, simple tokenizer, scope: full)"
    )
    assert result.label == "repetitive"
    result = NgramRepetitionPenalty(n=2)("a b a b a b x y x y z")
    assert result.metadata["most_common_ngrams"] == [["a b", 3], ["b a", 2], ["x y", 2]]
    many = " ".join(f"w{n} w{n}" for n in range(20)) * 2
    assert len(NgramRepetitionPenalty(n=1)(many).metadata["most_common_ngrams"]) == 5
    for output in ("", None):
        assert NgramRepetitionPenalty()(output).label == "empty"


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


# --- other tokenizers ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiktoken_penalty():
    pytest.importorskip("tiktoken")
    try:
        return NgramRepetitionPenalty(n=1, tokenizer="tiktoken")
    except MissingDependencyError:
        pytest.skip("no vocabulary on this machine")  # tiktoken would download it


def test_a_panic_of_tiktoken_is_unscored(tiktoken_penalty):
    result = tiktoken_penalty("a" + " " * 1_000_000 + "b")
    assert (result.scored, result.label) == (False, "tokenizer_error")
    assert result.reason.startswith("tiktoken cannot split this text into tokens: ")
    assert tiktoken_penalty("a a").scored


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


# --- side by side with py-openjudge --------------------------------------------------------------


def texts(count):
    choose = random.Random(8)
    words = [*"the cat Sat on a mat 。 x=1 <think> </think> 12 é".split(), "\n"]
    for _ in range(count):
        few = choose.sample(words, choose.randint(1, len(words)))
        yield " ".join(choose.choice(few) for _ in range(choose.randint(1, 40)))


OPTIONS = [
    {},
    {"n": 1}, {"n": 2, "penalty_threshold": 0.1, "penalty_rate": 2.5}, {"analyze_scope": "thought", "n": 2},
    {"use_soft_penalty": True, "n": 2, "max_penalty": -2.0}, {"use_soft_penalty": True, "n": 1, "min_scaling": 0.123456, "max_penalty": -1.0},
]  # fmt: skip


def side_by_side(tokenizer, options, samples):
    peer = pytest.importorskip("openjudge.graders.format.ngram_repetition_penalty")
    grader = peer.NgramRepetitionPenaltyGrader(tokenizer_type=tokenizer, **options)
    evaluator = NgramRepetitionPenalty(tokenizer=tokenizer, **options)

    async def ask_all():
        return [await grader.aevaluate(response=text) for text in samples]

    for text, theirs in zip(samples, asyncio.run(ask_all())):
        ours = evaluator(text)
        # The rate is 1 - 0.7 there, which is a little more than 3/10, and nothing is -0.0.
        assert ours.score == pytest.approx(theirs.score, abs=1e-12), text
        assert ours.reason == theirs.reason.replace("-0.000", "0.000"), text
        for name in ("repetition_rate", "penalty"):
            if name in theirs.metadata:
                assert ours.metadata[name] == pytest.approx(theirs.metadata[name], abs=1e-12)
        for name in ("unique_ngrams", "total_ngrams", "penalty_mode", "token_count"):
            if name in theirs.metadata:
                assert ours.metadata[name] == theirs.metadata[name], (name, text)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_simple_is_equal_to_openjudge(options):
    side_by_side("simple", options, list(texts(100)))
