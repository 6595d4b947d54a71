"""Metrics of retrieval: by hand, by LlamaIndex, and in a run."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import InputError, MissingFieldError, Retrieval, evaluate


@pytest.mark.parametrize(
    ("retrieved", "relevant", "figures"),
    [
        (["a", "b"], ["a", "c"], (1, 1, 0.5, 0.5, 0.5, 0.6131)),
        ([], ["a"], (0, 0, 0, 0, 0, 0)),
        (["a", "a", "b"], ["a", "b"], (1, 1, 1, 1, 1, 1)),
        ('["b", "a"]', '["a"]', (1, 0.5, 0.5, 1, 0.5, 0.6309)),
        ([1, 2], (2,), (1, 0.5, 0.5, 1, 0.5, 0.6309)),
        ([1, 2], ["2"], (1, 0.5, 0.5, 1, 0.5, 0.6309)),
        (np.array(["b", "a"]), np.array(["a"]), (1, 0.5, 0.5, 1, 0.5, 0.6309)),
    ],
)
def test_the_metrics_of_a_query(retrieved, relevant, figures):
    result = Retrieval()(None, retrieved=retrieved, relevant=relevant)
    assert tuple(result.metadata.values()) == pytest.approx(figures, abs=1e-4)
    assert result.score == result.metadata["ndcg"]
    assert Retrieval()(retrieved, relevant=relevant) == result


ids = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True)


@given(ids, ids)
def test_they_are_llama_indexs(retrieved, relevant):
    metrics = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
    found = Retrieval()(None, retrieved=retrieved, relevant=relevant).metadata
    for name, kind in metrics.METRIC_REGISTRY.items():
        if name in found:
            theirs = kind().compute(expected_ids=relevant, retrieved_ids=retrieved).score
            assert found[name] == pytest.approx(theirs)


def test_the_score_may_be_another_metric_of_the_first_and_pass():
    first = Retrieval("recall", k=1, threshold=0.5)
    assert first(None, retrieved=["a", "b"], relevant=["a", "b"]).passed
    assert first(None, retrieved=["a", "x"], relevant=["a", "b"]).metadata["ndcg"] == 1.0
    result = first(None, retrieved=["c", "b"], relevant=["a", "b"])
    assert (result.score, result.passed, result.reason) == (0.0, False, "recall 0 < 0.5")


def test_what_cannot_be_measured():
    assert Retrieval()([], relevant=[]).label == "nothing_relevant"
    with pytest.raises(MissingFieldError, match="needs a relevant"):
        Retrieval()(["a"])
    for wrong in ("a", {"a": 1}, [["a"]], [True], None):
        with pytest.raises(InputError, match=r"retrieved=['{\[NT].* is not a list of ids"):
            Retrieval()(wrong, relevant=["a"])


def test_the_columns_of_a_run_are_its_fields(tmp_path):
    data = tmp_path / "data.jsonl"
    rows = [{"output": "x", "retrieved": ["b", "a"], "relevant": ["a"]}] * 2
    data.write_text("\n".join(map(json.dumps, rows)))
    for given_rows in (rows, str(data)):
        run = evaluate(given_rows, [Retrieval("mrr")])
        assert [row.score for row in run.rows] == [0.5, 0.5]
