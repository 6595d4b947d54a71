"""Judges on a real inference server: llama.cpp's own, on a tiny llama with random weights."""

import sys
from pathlib import Path

import pytest

from llmeval_integrations.judges import (
    AnswerRelevance,
    ClaimFaithfulness,
    PassFail,
    Preference,
    Questionnaire,
    Rubric,
    load_client,
)

for package in ("xllamacpp", "gguf", "openai"):
    pytest.importorskip(package)
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

FIELDS = {"input": "Capital?", "contexts": ["Rome is the capital."], "output_b": "Milan."}


@pytest.fixture(scope="module")
def model():
    from tiny_llm import address, serve

    server = serve()
    yield load_client("openai:tiny", base_url=address(server), max_tokens=600)
    del server


@pytest.mark.parametrize(
    ("make", "labels", "calls"),
    [
        (lambda model: PassFail(model, "Is it right?"), {"Pass", "Fail"}, 1),
        (lambda model: Questionnaire(model, ["Is it?", "Was it?"]), {"Pass", "Fail"}, 2),
        (lambda model: Rubric(model, {1: "bad", 3: "good"}, "How good?"), {"1", "2", "3"}, 1),
        (Preference, {"A", "B", "tie"}, 2),
        (ClaimFaithfulness, {None, "no_claims"}, 1),
        (AnswerRelevance, {None, "no_claims"}, 1),
    ],
)
def test_each_judge_reads_what_a_model_writes_in_its_form(model, make, labels, calls):
    """What it says is nonsense, in the form that was asked for, unless it goes on too long."""
    result = make(model)("It is Rome.", **FIELDS)
    assert result.label in {*labels, "cut", "unreadable", "unanswered"}
    assert result.metadata["judge"]["calls"] >= (calls if result.label in labels else 1)
    assert result.is_unscored is (result.label not in labels - {"no_claims"})
