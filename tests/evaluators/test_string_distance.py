"""Distances of texts: rapidfuzz's own figures, bounded work that says so, upper bounds."""

import random

import pytest
from pace import at_most
from rapidfuzz import distance as rapidfuzz

from llmeval_integrations import InvalidOptionError, StringDistance

METRICS = {
    "damerau_levenshtein": rapidfuzz.DamerauLevenshtein,
    "osa": rapidfuzz.OSA,
    "levenshtein": rapidfuzz.Levenshtein,
    "indel": rapidfuzz.Indel,
    "hamming": rapidfuzz.Hamming,
    "jaro": rapidfuzz.Jaro,
    "jaro_winkler": rapidfuzz.JaroWinkler,
}
EDITS = ["damerau_levenshtein", "osa", "levenshtein", "indel"]


def edited(text, choose, count):
    """Edit a text in places, also by swaps with something between, where OSA counts more."""
    text = list(text)
    for _ in range(count):
        place = choose.randrange(len(text) + 1)
        two = text[place : place + 2]
        new = choose.choices("abcx", k=choose.randint(1, 3))
        swapped = [*two[1:], *choose.choices("xy", k=choose.randint(0, 2)), *two[:1]]
        text[place : place + 2] = choose.choice([[*new, *two], [], swapped])
    return "".join(text)


def pairs(count, *lengths):
    """Make pairs of texts over few characters, half of them a few edits apart."""
    choose = random.Random(11)
    for number in range(count):
        letters = choose.choice(["ab", "abc", "abcdefgh {}:,", "aé😀\ud800"])
        length = choose.choice(lengths or range(30))
        one = "".join(choose.choices(letters, k=length))
        if number % 3 == 0 and lengths:  # periodic
            one = one[: choose.randint(2, 60)] * (length // 40)
        is_near = bool(lengths) or number % 2
        other = edited(one, choose, choose.randint(0, 6)) if is_near else one[::-1]
        yield one, other


@pytest.mark.parametrize("metric", METRICS)
def test_figures_are_those_of_rapidfuzz(metric):
    normal, counting = StringDistance(metric), StringDistance(metric, normalize_score=False)
    reference = METRICS[metric]
    count = reference.normalized_distance if "jaro" in metric else reference.distance
    for one, other in [*pairs(500), *pairs(300, 60, 200, 600)]:
        score = normal(one, other).score
        assert score == reference.normalized_distance(one, other), (one, other)
        assert score == pytest.approx(normal(other, one).score)
        assert 0.0 <= score <= 1.0
        assert normal(one, other).passed is (one == other)
        result = counting(one, other)
        assert (result.score, result.metadata["exact"]) == (count(one, other), True), (one, other)


@pytest.mark.parametrize("metric", EDITS)
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
    with pytest.raises(InvalidOptionError, match=r"threshold=1.5 is not .*at most 1"):
        StringDistance(threshold=1.5)
