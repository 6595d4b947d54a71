"""Distances of meanings, by vectors of the caller's."""

import math

import pytest

from llmeval_integrations import EmbeddingDistance, InvalidOptionError, evaluate

VECTORS = {"yes": [1.0, 0.0], "aye": [0.8, 0.6], "no": [-1.0, 0.0]}


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
def test_the_distance_of_two_texts(output, reference, options, score, passed, label):
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


def test_an_async_function_is_refused():
    async def embed_later(texts):
        return embed(texts)

    with pytest.raises(InvalidOptionError, match="a function that is not async"):
        EmbeddingDistance(embed_later)


def test_a_run_embeds_each_text_once():
    asked = []

    def count(texts):
        asked.extend(texts)
        return embed(texts)

    rows = [{"output": output, "reference": "yes"} for output in ["yes", "aye", "aye", ""] * 5]
    run = evaluate(rows, EmbeddingDistance(count, threshold=0.5))
    assert len(asked) <= 2 * 3  # a chunk at a time
    assert [row.passed for row in run.rows] == [True, True, True, False] * 5
