"""Building evaluators by name, ours and LangChain's, here and by LangChain's own loader."""

import asyncio
import random

import pytest
from examples import DETERMINISTIC
from scripted import Scripted

pytest.importorskip("langchain_core")

from langchain_core.embeddings import DeterministicFakeEmbedding

from llmeval_integrations import (
    InvalidOptionError,
    JsonEquality,
    JsonValidity,
    StringDistance,
    UnknownNameError,
)
from llmeval_integrations.frameworks.langchain import (
    load_evaluator,
    load_evaluators,
)
from llmeval_integrations.text.vectors import METRICS

EMBEDDINGS = DeterministicFakeEmbedding(size=64)


def test_every_evaluator_of_the_catalog_loads():
    options = {
        "python_type": {"expected_type": "str"},
        "weighted_sum": {"parts": {JsonEquality(): 1}},
        "embedding_distance": {"embeddings": list},
    }
    for name in DETERMINISTIC:
        evaluator = load_evaluator(name, **options.get(name, {}))
        assert evaluator.evaluation_name.startswith(name.partition("_distance")[0])


def test_langchains_enumerations_are_taken_for_names_and_options():
    evaluation = pytest.importorskip("langchain_classic.evaluation")
    for name in evaluation.EvaluatorType:
        options = {"embeddings": list} if "embedding" in name.value else {}
        loaded = load_evaluator(name, llm=Scripted("Y"), **options)
        assert type(loaded).__module__.startswith("llmeval_integrations.")
    distance = evaluation.StringDistance.LEVENSHTEIN
    loaded = load_evaluator(evaluation.EvaluatorType.STRING_DISTANCE, distance=distance)
    assert loaded.evaluator == StringDistance("levenshtein")
    assert "Enum" not in repr(loaded)
    assert isinstance(loaded, evaluation.StringEvaluator)


def test_several_evaluators_load_with_what_each_takes():
    model = Scripted("because\nY")
    validity, equality, criteria, rating = load_evaluators(
        ["json_validity", "json_equality", "criteria", "score_string"],
        config={"json_equality": {"list_order": "any"}},
        llm=model,
        parsing="lenient",
        criteria="depth",
    )
    assert validity.evaluator == JsonValidity(parsing="lenient")
    assert equality.evaluator == JsonEquality(list_order="any", parsing="lenient")
    assert (criteria.evaluation_name, rating.evaluation_name) == ("depth", "score_string:depth")
    with pytest.raises(InvalidOptionError, match=r"none of them has the option 'prasing'.*parsing"):
        load_evaluators(["json_validity"], prasing="strict")


def test_an_unknown_name_or_no_model_is_an_error():
    with pytest.raises(UnknownNameError, match="did you mean 'json_match'"):
        load_evaluator("json_matc")
    with pytest.raises(InvalidOptionError, match="criteria needs the option llm"):
        load_evaluator("criteria")


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
    given = {"embeddings": EMBEDDINGS, "distance_metric": metric}
    one = load_evaluator("embedding_distance", **given)
    pair = load_evaluator("pairwise_embedding_distance", **given)
    assert one.evaluation_name == f"embedding_{metric}_distance"
    assert pair.evaluation_name == f"pairwise_embedding_{metric}_distance"
    expected = {"score": METRICS[metric](*EMBEDDINGS.embed_documents(["Rome", "Oslo"]))}
    fields = {"prediction": "Rome", "prediction_b": "Oslo", "reference": "Oslo"}
    assert one.evaluate_strings(**fields) == expected
    assert asyncio.run(one.aevaluate_strings(**fields)) == expected
    assert pair.evaluate_string_pairs(**fields) == expected
    assert asyncio.run(pair.aevaluate_string_pairs(**fields)) == expected


def test_two_texts_are_compared_by_their_characters():
    pair = load_evaluator("pairwise_string_distance", distance="levenshtein")
    assert pair.evaluation_name == "pairwise_levenshtein_distance"
    assert pair.evaluate_string_pairs(prediction="abcd", prediction_b="abce") == {"score": 0.25}
    for texts in ("x", None), (None, "x"):  # None is an empty output
        fields = dict(zip(("prediction", "prediction_b"), texts))
        assert pair.evaluate_string_pairs(**fields) == {"score": 1.0}
