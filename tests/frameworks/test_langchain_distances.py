"""Distances of meanings and of two outputs, by LangChain's names and with its values."""

import asyncio
import random

import pytest

pytest.importorskip("langchain_core")

from langchain_core.embeddings import DeterministicFakeEmbedding

from llmeval_integrations import EmbeddingDistance, InvalidOptionError, MissingFieldError
from llmeval_integrations.frameworks.langchain import load_evaluator
from llmeval_integrations.text.vectors import METRICS

EMBEDDINGS = DeterministicFakeEmbedding(size=64)


@pytest.mark.parametrize("metric", METRICS)
def test_vectors_are_as_far_from_each_other_as_in_langchain(metric):
    base = pytest.importorskip("langchain_classic.evaluation.embedding_distance.base")
    numpy = pytest.importorskip("numpy")
    theirs = getattr(base.EmbeddingDistanceEvalChain, f"_{metric}_distance")
    choose = random.Random(3)
    for _ in range(100):
        one, other = ([choose.choice([-1, 0, 0.5, 2]) for _ in range(5)] for _ in range(2))
        if metric == "cosine" and not (any(one) and any(other)):
            continue
        arrays = [numpy.array([vector]) for vector in (one, other)]
        assert METRICS[metric](one, other) == pytest.approx(float(numpy.squeeze(theirs(*arrays))))


@pytest.mark.parametrize("metric", METRICS)
def test_results_have_langchains_names_and_keys(metric):
    one = load_evaluator("embedding_distance", embeddings=EMBEDDINGS, distance_metric=metric)
    pair = load_evaluator(
        "pairwise_embedding_distance", embeddings=EMBEDDINGS, distance_metric=metric
    )
    assert one.evaluation_name == f"embedding_{metric}_distance"
    assert pair.evaluation_name == f"pairwise_embedding_{metric}_distance"
    expected = {"score": METRICS[metric](*EMBEDDINGS.embed_documents(["Rome", "Oslo"]))}
    assert one.evaluate_strings(prediction="Rome", reference="Oslo") == expected
    assert pair.evaluate_string_pairs(prediction="Rome", prediction_b="Oslo") == expected
    awaited = pair.aevaluate_string_pairs(prediction="Rome", prediction_b="Oslo", reference="x")
    assert asyncio.run(awaited) == expected
    assert asyncio.run(one.aevaluate_strings(prediction="Rome", reference="Oslo")) == expected


def test_two_texts_are_compared_by_their_characters():
    pair = load_evaluator("pairwise_string_distance", distance="levenshtein")
    assert pair.evaluation_name == "pairwise_levenshtein_distance"
    assert pair.evaluate_string_pairs(prediction="abcd", prediction_b="abce") == {"score": 0.25}
    with pytest.raises(MissingFieldError, match="one is None"):
        pair.evaluate_string_pairs(prediction=None, prediction_b="x")


@pytest.mark.parametrize("name", ["pairwise_string_distance", "pairwise_embedding_distance"])
def test_they_are_langchains_pairwise_evaluators(name):
    schema = pytest.importorskip("langchain_classic.evaluation.schema")
    options = {"embeddings": EMBEDDINGS} if "embedding" in name else {}
    pair = load_evaluator(schema.EvaluatorType(name), **options)
    assert isinstance(pair, schema.PairwiseStringEvaluator)


def test_embeddings_of_llama_index_are_embeddings_too():
    mock = pytest.importorskip("llama_index.core").MockEmbedding(embed_dim=4)
    assert EmbeddingDistance(mock)("a", "b").score == 0.0
    assert asyncio.run(EmbeddingDistance(mock).aevaluate({"output": "a", "reference": "b"})).score == 0.0  # fmt: skip
    with pytest.raises(InvalidOptionError, match="embeddings='ada' is not embeddings of LangChain"):
        EmbeddingDistance("ada")
