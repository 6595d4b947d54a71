"""Is the output's text the reference's, and how far is it: in letters, as JSON, in meaning."""

import datetime as dt
import math
import random

import pytest
from pace import at_most
from rapidfuzz import distance as rapidfuzz

from llmeval_integrations import (
    EmbeddingDistance,
    ExactMatch,
    JsonEditDistance,
    StringDistance,
    evaluate,
)

# --- ExactMatch ----------------------------------------------------------------------------------


class Name(str):
    __slots__ = ()

    def __str__(self):
        return "something else"


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ("a", "a", 1), ("a", "b", 0), ("a", "A", 0), ("a", "a ", 0), ("a\n", "a", 0), ("", "", 1), ("", "a", 0),
        ("é", "e\u0301", 0), ('{"a": 1}', '{"a":1}', 0), ("1", "1.0", 0), ("\ud800", "\ud800", 1),
        (1, "1", 1), (1.0, "1", 1), (None, "", 1), (None, "null", 0), ({"b": 1, "a": 2}, '{"a":2,"b":1}', 1),
        ({"a": 1}, {"a": 1.0}, 1), (True, 1, 0), (b"a", "a", 1), ("a", b"a", 1), ((1, 2), "[1,2]", 1),
        (Name("x"), "x", 1), (b"\xff", "\ufffd", 1),
        (dt.date(2024, 2, 29), "datetime.date(2024, 2, 29)", 1),
    ],
)  # fmt: skip
def test_texts_are_compared_to_the_letter_and_values_as_their_json(output, reference, score):
    result = ExactMatch()(output, reference)
    assert (result.score, result.passed) == (score, score == 1)


@pytest.mark.parametrize(
    ("options", "output", "reference", "score"),
    [
        ({"ignore_case": True}, "ABC é", "abc É", 1),
        ({"ignore_punctuation": True}, "a, b!", "a b", 1),
        ({"ignore_punctuation": True}, "«a»", "a", 0),
        ({"ignore_numbers": True}, "a1b22", "ab", 1),
        ({"ignore_numbers": True, "ignore_case": True, "ignore_punctuation": True}, "A-1!", "a", 1),
    ],
)
def test_what_may_be_ignored_is_left_out_on_both_sides(options, output, reference, score):
    assert ExactMatch(**options)(output, reference).score == score
    assert ExactMatch(**options)(reference, output).score == score


def test_a_difference_is_shown_in_few_words_however_far_behind():
    assert ExactMatch()("a", "b").reason == "'a' is not 'b'"
    output, reference = ExactMatch()("a" * 10**6 + "x", "a" * 10**6 + "y").reason.split(" is not ")
    assert len(output + reference) < 300
    assert output.endswith("x'")
    assert reference.endswith("y'")


# --- StringDistance and JsonEditDistance ---------------------------------------------------------

METRICS = {
    "damerau_levenshtein": rapidfuzz.DamerauLevenshtein,
    "osa": rapidfuzz.OSA,
    "levenshtein": rapidfuzz.Levenshtein,
    "indel": rapidfuzz.Indel,
    "hamming": rapidfuzz.Hamming,
    "jaro": rapidfuzz.Jaro,
    "jaro_winkler": rapidfuzz.JaroWinkler,
}


def pairs(count=800):
    """Make pairs of texts over few characters, many periodic, most of them a few edits apart."""
    choose = random.Random(11)
    for _ in range(count):
        letters = choose.choice(["ab", "abc", "abcdefgh {}:,", "aé😀\ud800"])
        length = choose.choice([*range(30), *[60, 200, 600] * 10])
        one = "".join(choose.choices(letters, k=length))
        one = choose.choice([one, one, one[:40] * (len(one) // 40)])
        other = choose.choice([one, one, one, one[::-1]])
        for _ in range(choose.randint(0, 6)):
            place = choose.randrange(len(other) + 1)
            # also a swap with something between, where OSA counts more
            swap = (
                other[place + 1 : place + 2]
                + choose.choice(["", "x", "xy"])
                + other[place : place + 1]
            )
            new = choose.choice(["", "abx", "c" + other[place : place + 2], swap])
            other = other[:place] + new + other[place + 2 :]
        yield one, other


@pytest.mark.parametrize("metric", METRICS)
def test_figures_are_those_of_rapidfuzz(metric):
    normal, counting = StringDistance(metric), StringDistance(metric, normalize_score=False)
    reference = METRICS[metric]
    count = reference.normalized_distance if "jaro" in metric else reference.distance
    for one, other in pairs():
        score = normal(one, other).score
        assert score == reference.normalized_distance(one, other), (one, other)
        assert score == pytest.approx(normal(other, one).score)
        assert normal(one, other).passed is (one == other)
        result = counting(one, other)
        assert (result.score, result.metadata["exact"]) == (count(one, other), True), (one, other)


@pytest.mark.parametrize("metric", ["damerau_levenshtein", "osa", "levenshtein", "indel"])
def test_long_texts_with_a_common_frame_are_exact(metric):
    frame = "".join(random.Random(1).choices("abcdef {}:,", k=100_000))
    one, other = frame + "x" * 40 + frame, frame + "yx" * 30 + frame
    result = StringDistance(metric, normalize_score=False)(one, other)
    assert result.metadata["exact"] is True
    assert result.score == METRICS[metric].distance("x" * 40, "yx" * 30)


@pytest.mark.nightly
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a" * 1_000_001, "b" * 1_000_000),
        ("ab" * 100_000 + "x", "ba" * 100_000),
        ("".join(random.Random(1).choices("abcdefgh", k=120_000)), "a" * 100_000),
        ("a" * 1_000_000, "b" * 90),
    ],
    ids=["one more", "shifted", "random", "long and short"],
)
def test_a_megabyte_takes_seconds_at_most_and_keeps_its_range(metric, one, other):
    with at_most(5):
        result = StringDistance(metric)(one, other)
    assert 0.0 < result.score <= 1.0
    is_near = metric in ("levenshtein", "indel") and one[1:].startswith(other[:1_000])
    assert result.metadata["exact"] is (metric == "hamming" or len(other) < 100 or is_near)


def test_it_passes_up_to_the_distance_that_is_allowed():
    evaluator = StringDistance("levenshtein", normalize_score=False, threshold=2)
    results = [evaluator("abc", other) for other in ("abc", "xyc", "xyz")]
    said = [(result.passed, result.reason) for result in results]
    assert said == [(True, None), (True, None), (False, "levenshtein distance 3 > 2")]
    failed = StringDistance("levenshtein", threshold=0.3333)("abc", "abd")
    assert failed.reason == "levenshtein distance 0.33333 > 0.3333"


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ('{"a": 1.0}', '{"a": 1}', 0.0),
        ('"é"', '"\\u00e9"', 0.0),
        ("true", "1", 1.0),
        ("12", "21", 1 / 2),  # one swap
        ("null", '"null"', 2 / 6),
        ("[]", "{}", 1.0),
        # as LangChain's documents print them
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 3}', 0.07692307692307693),
        ('\n{\n"b": 3,\n"a": 1\n}', '{"a": 1, "b": 3}', 0.0),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', 0.18181818181818182),
        ({"a": 1}, {"a": 2}, 0.14285714285714285),
    ],
)
def test_the_share_of_the_json_that_would_be_typed_anew(output, reference, score):
    result = JsonEditDistance()(output, reference)
    assert (result.score, result.passed) == (score, score == 0)
    assert result.metadata == {"exact": True}


def test_a_function_sees_what_canonicalize_writes():
    seen = []

    def measure(one, other):
        seen.append((one, other))
        return 0.25

    result = JsonEditDistance(string_distance=measure, canonicalize=repr)('{"a": 1}', "[2]")
    assert seen == [("{'a': 1}", "[2]")]
    assert (result.score, result.passed) == (0.25, False)
    broken = JsonEditDistance()("{", "{}")
    assert (broken.score, broken.passed, broken.label) == (1.0, False, "truncated")


# --- EmbeddingDistance ---------------------------------------------------------------------------

VECTORS = {"yes": [1, 0], "aye": [0.8, 0.6], "no": [-1, 0], "bad": [math.nan, 0], "none": []}


def embed(texts):
    return [VECTORS[text] for text in texts]


@pytest.mark.parametrize(
    ("output", "reference", "options", "score", "passed", "label"),
    [
        ("yes", "yes", {}, 0.0, None, None),
        ("yes", "aye", {}, 0.2, None, None),
        ("yes", "no", {}, 2.0, None, None),
        ("yes", "aye", {"threshold": 0.3}, 0.2, True, None),
        ("yes", "aye", {"threshold": 0.1}, 0.2, False, None),
        ("aye", "yes", {"metric": "euclidean"}, 0.4**0.5, None, None),
        ("aye", "yes", {"metric": "manhattan"}, 0.8, None, None),
        ("aye", "yes", {"metric": "chebyshev"}, 0.6, None, None),
        ("no", "yes", {"metric": "hamming"}, 0.5, None, None),
        (None, "yes", {"threshold": 0.5}, 1.0, False, "empty"),
        ("yes", "", {"threshold": 0.5}, 1.0, False, None),
        ("", "yes", {"metric": "euclidean"}, None, None, "empty"),
    ],
)
def test_the_distance_of_two_meanings(output, reference, options, score, passed, label):
    result = EmbeddingDistance(embed, **options)(output, reference)
    assert result.score == (score if score is None else pytest.approx(score))
    assert (result.passed, result.label) == (passed, label)
    if passed is False:
        assert result.reason == f"cosine distance {score:g} > {options['threshold']}"


@pytest.mark.parametrize(
    ("fails", "why"),
    [
        (lambda texts: 1 / 0, "division by zero"),
        (lambda texts: [[1.0]], "1 vectors for 2 texts, or of different lengths"),
        (lambda texts: [[1.0], [1.0, 2.0]], "2 vectors for 2 texts, or of different lengths"),
        (
            lambda texts: [[math.nan], [1.0]],
            "a vector is empty, or has a number that is not finite",
        ),
        (lambda texts: [[], []], "a vector is empty, or has a number that is not finite"),
        (lambda texts: None, "'NoneType' object is not iterable"),
        (lambda texts: [1.0, 2.0], "'float' object is not iterable"),
    ],
)
def test_a_model_that_fails_is_no_distance(fails, why):
    result = EmbeddingDistance(fails, threshold=0.5)("yes", "aye")
    assert (result.score, result.label) == (None, "embedding_failed")
    assert result.reason == f"The embeddings failed: {why}"


def test_a_run_embeds_each_text_once():
    asked = []

    def count(texts):
        asked.extend(texts)
        return embed(texts)

    outputs = ["yes", "aye", "aye", "", "bad", "none"]
    rows = [{"output": output, "reference": "yes"} for output in outputs * 5]
    run = evaluate(rows, EmbeddingDistance(count, threshold=0.5))
    assert len(asked) <= 3 * 4  # a chunk at a time
    assert [row.passed for row in run.rows] == [True, True, True, False, None, None] * 5
