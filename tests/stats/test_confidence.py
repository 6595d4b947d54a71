"""Figures of confidences, and a threshold that keeps its promise."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.stats.confidence import Answer, confidence_figures, safe_threshold

ANSWERS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.55, 0.9, 1.0]), st.booleans()), min_size=1
)


@given(ANSWERS)
def test_figures_are_those_of_sklearn(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    found = confidence_figures(Counter(rows))
    confidence, right = zip(*rows, strict=True)
    if 0 < sum(right) < len(right):
        assert found["auroc"] == pytest.approx(metrics.roc_auc_score(right, confidence))
    else:
        assert found["auroc"] is None
    assert found["brier"] == pytest.approx(sum((each - x) ** 2 for each, x in rows) / len(rows))


def test_the_least_sure_values_are_reviewed_first():
    found = confidence_figures(Counter((i / 100, i >= 8) for i in range(100)))
    assert found["caught"] == {"10%": 1.0, "30%": 1.0, "50%": 1.0}
    assert (found["n"], found["wrong"], found["auroc"]) == (100, 8, 1.0)
    same = confidence_figures({(0.5, True): 10, (0.5, False): 10})
    assert same["caught"] == pytest.approx({"10%": 0.1, "30%": 0.3, "50%": 0.5})
    assert (same["auroc"], same["calibration_error"]) == (0.5, 0.0)
    assert confidence_figures({(0.5, True): 1})["caught"]["10%"] is None
    assert confidence_figures({}) is None


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([Answer(0.9, right=True)] * 212, "not shown: 212 of 299 needed"),
        ([Answer(0.9, right=True)] * 300, "0.9: 300 values (100.0%) are accepted, 0 of 300 wrong"),
        ([Answer(0.9, right=i > 3) for i in range(300)], "not shown: 4 of 300 are wrong"),
        (
            [Answer(0.9, right=True, group=i % 212) for i in range(3_000)],
            "not shown: 212 of 299 needed",
        ),
    ],
)
def test_a_threshold_says_what_is_shown_or_lacking(rows, text):
    assert str(safe_threshold(rows)) == text


def process(choose, documents, leaves, wrong, sharpness):
    """Draw documents, each with leaves that are wrong together or not."""
    for document in range(documents):
        bad = choose.random() < wrong
        for _ in range(leaves):
            right = not (bad and choose.random() < 0.6)
            confidence = choose.random() ** (1 / sharpness if right else sharpness)
            yield Answer(confidence, right, document if leaves > 1 else None)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("documents", "leaves", "wrong", "sharpness", "is_shown"),
    [
        (2_000, 1, 0.12, 8, True),
        (800, 1, 0.02, 1.2, False),
        (1_000, 6, 0.05, 9, True),
        (600, 5, 0.03, 1.5, False),
    ],
)
def test_the_promise_is_broken_in_at_most_five_of_a_hundred_draws(
    documents, leaves, wrong, sharpness, is_shown
):
    choose, draws = random.Random(5), 200
    case = (leaves, wrong, sharpness)
    large = sorted(process(choose, 200_000 // leaves, *case), key=lambda each: -each.confidence)
    found = (safe_threshold([*process(choose, documents, *case)]) for _ in range(draws))
    thresholds = [each.confidence for each in found if each.confidence is not None]
    shown, broken = len(thresholds), sum(true_rate(large, each) > 0.01 for each in thresholds)
    assert broken / draws <= 0.05 + 2 * (0.05 * 0.95 / draws) ** 0.5
    assert (shown > 0.3 * draws) == is_shown


def true_rate(large, threshold):
    """Return the share of documents, of values without any, with a wrong accepted value."""
    units = {}
    for place, each in enumerate(large):
        if each.confidence < threshold:
            break
        unit = place if each.group is None else each.group
        units[unit] = units.get(unit, True) and each.right
    return 1 - sum(units.values()) / len(units)
