"""The examples and figures that the documents of the systems we cover print, under our names.

The documents say it otherwise in places, and were run: a score of equality or of a schema is
True or False, the schema evaluator needs no input, and n-gram options belong to the constructor.
"""

import pytest

from llmeval_integrations import (
    ExactMatch,
    JsonEditDistance,
    JsonMatch,
    JsonObject,
    JsonValidity,
    NgramRepetitionPenalty,
    PythonType,
    ReasoningFormat,
    ReasoningToolCallFormat,
    load_evaluator,
)

# --- LangChain's JSON evaluators -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 3}', 0.07692307692307693),
        ('\n{\n"b": 3,\n"a": 1\n}', '{"a": 1, "b": 3}', 0.0),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', 0.18181818181818182),
        ({"a": 1}, {"a": 2}, 0.14285714285714285),
    ],
)
def test_the_four_edit_distances_to_the_last_digit(output, reference, score):
    assert JsonEditDistance()(output, reference).score == score
    assert repr(float(JsonEditDistance()(output, reference).score)) == repr(score)
    from_catalog = load_evaluator("json_edit_distance", string_distance="damerau_levenshtein")
    assert from_catalog(output, reference).score == score


# --- OpenJudge's format graders ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "score", "said"),
    [
        ('{"name": "Bob", "age": 41, "skills": ["Rust", "SQL"]}', 1.0, None),
        ('{"name": "Bob", "age": 41', 0.0, "Expecting ',' delimiter: line 1 column 26 (char 25)"),
    ],
)
def test_json_validator(output, score, said):
    result = JsonValidity()(output)
    assert (result.score, result.metadata.get("message")) == (score, said)


@pytest.mark.parametrize(
    ("options", "output", "reference"),
    [
        ({"strict_order": True}, '{"name": "Bob", "likes": ["chess", "tea"]}', '{"name": "Bob", "likes": ["chess", "tea"]}'),
        ({"strict_order": False}, '{"likes": ["tea", "chess"]}', '{"likes": ["chess", "tea"]}'),
        ({"ignore_extra_keys": True}, '{"name": "Bob", "age": 41, "city": "Rome"}', '{"name": "Bob"}'),
    ],
)  # fmt: skip
def test_json_match(options, output, reference):
    assert load_evaluator("json_match", **options)(output, reference).score == 1.0
    without = JsonMatch()(output, reference)
    assert without.score == (1.0 if options == {"strict_order": True} else 0.0)


VARIED = (
    "A quick grey wolf ran past two lazy hens. They woke and looked around, then slept once more."
)
REPEATED = "It is a trap. It is a trap. It is a trap. It is a trap."


def test_ngram_repetition_penalty():
    hard = NgramRepetitionPenalty(n=3, penalty_threshold=0.3, penalty_rate=1.0)
    assert hard == NgramRepetitionPenalty()
    assert hard(VARIED).score == 0.0
    assert hard(VARIED).metadata["repetition_rate"] == 0.0
    repeated = hard(REPEATED)
    # 14 trigrams, of which 4 are different
    assert repeated.metadata["repetition_rate"] == pytest.approx(10 / 14)
    assert repeated.score == pytest.approx(0.3 - 10 / 14)
    assert f"{repeated.metadata['repetition_rate']:.2f}" == "0.71"


def test_a_soft_penalty_goes_from_0_at_min_scaling_to_the_worst_score():
    soft = NgramRepetitionPenalty(n=2, use_soft_penalty=True, max_penalty=-2.0, min_scaling=0.2)
    assert soft("Unlike words build unlike pairs without any being seen before.").score == 0.0
    # 15 bigrams, of which 4 are different
    assert soft(REPEATED).score == pytest.approx(-2.0 * (11 / 15 - 0.2) / 0.8)


@pytest.mark.parametrize(
    ("options", "output", "score", "reason"),
    [
        ({}, "<think>\nWhat is asked?\nWhy Rust.\n</think>\n\n<answer>\nIt is fast and safe.\n</answer>", 1.0, "All format requirements met"),
        ({}, "Rust is fast and safe.", 0.0, "Missing <think></think> tags; Missing <answer></answer> tags"),
        ({"think_token": "reasoning", "answer_token": "solution"}, "<reasoning>Hm</reasoning>\n<solution>42</solution>", 1.0, "All format requirements met"),
    ],
)  # fmt: skip
def test_reasoning_format(options, output, score, reason):
    result = ReasoningFormat(**options)(output)
    assert (result.score, result.reason) == (score, reason)


@pytest.mark.parametrize(
    ("output", "score", "reason", "calls"),
    [
        (
            "<think>\nThey ask for the time.\n</think>\n\n<answer>\nIt is noon.\n</answer>",
            1.0, "Valid <think></think> + <answer></answer> format", 0,
        ),
        (
            '<think>\nI need a source.\n</think>\n\n<tool_call>\n{"name": "search", "arguments": {"query": "Rust language"}}\n</tool_call>',
            1.0, "Valid <think></think> + <tool_call></tool_call> format with valid JSON", 1,
        ),
        (
            "<think>\nTwo sources.\n</think>\n\n" + '<tool_call>\n{"name": "news", "arguments": {"topic": "chess"}}\n</tool_call>\n\n' * 2,
            1.0, "Valid <think></think> + <tool_call></tool_call> format with valid JSON", 2,
        ),
        ("<answer>At once, without a thought</answer>", 0.0, "Missing <think></think> tags", 0),
        ("<think>Looking</think>\n<tool_call>\n{no json}\n</tool_call>", 0.0, "Invalid JSON format in <tool_call> tags", 1),
    ],
)  # fmt: skip
def test_reasoning_tool_call_format(output, score, reason, calls):
    result = ReasoningToolCallFormat()(output)
    assert (result.score, result.reason) == (score, reason)
    assert result.metadata["tool_call_count"] == calls


# --- Audacia's format evaluators -----------------------------------------------------------------


def test_assert_result_is_a_method():
    JsonObject()("{}").assert_passes()
    JsonObject().assert_passes("{}")
    PythonType("dict").assert_passes({})
    with pytest.raises(AssertionError, match="Expected a JSON object, got list"):
        JsonObject()("[]").assert_passes()
    with pytest.raises(AssertionError, match="Expected dict, got str"):
        PythonType("dict").assert_passes("{}")
    with pytest.raises(AssertionError, match="'a' is not 'b'"):
        ExactMatch().assert_passes("a", "b")
