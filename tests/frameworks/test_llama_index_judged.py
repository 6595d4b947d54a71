"""LlamaIndex's evaluators by its names: those that ask a model, of meaning, and of retrieval."""

import asyncio

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import Document, MockEmbedding, PromptTemplate, Settings, SummaryIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, BatchEvalRunner
from llama_index.core.evaluation import RetrieverEvaluator as Theirs
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError, JsonMatch, JsonValidity
from llmeval_integrations.frameworks import llama_index as ours
from llmeval_integrations.frameworks.llama_index import (
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
    RetrieverEvaluator,
    SemanticSimilarityEvaluator,
)
from llmeval_integrations.judges import PassFail

FIELDS = {"query": "Why?", "response": "So.", "contexts": ["It is so.", "Or not."]}
SHOWN = {
    "FaithfulnessEvaluator": ("So.", "It is so.", "Or not."),
    "RelevancyEvaluator": ("Question: Why?\nResponse: So.", "It is so."),
    "ContextRelevancyEvaluator": ("Why?", "Or not."),
    "AnswerRelevancyEvaluator": ("Why?", "So."),
    "CorrectnessEvaluator": ("Why?", "So.", "(none)"),
    "GuidelineEvaluator": ("Why?", "So.", "Be specific"),
}
"""What the model of each is shown."""


def both(evaluator, **fields):
    """Evaluate blocking and awaited; both have to say the same."""
    found = evaluator.evaluate(**fields)
    assert found == asyncio.run(evaluator.aevaluate(**fields))
    return found


@pytest.mark.parametrize(
    ("name", "options", "reply", "score", "passing"),
    [
        ("FaithfulnessEvaluator", {}, "YES", 1.0, True),
        ("FaithfulnessEvaluator", {}, "No, it says otherwise.", 0.0, False),
        ("FaithfulnessEvaluator", {}, "hm", None, None),
        ("RelevancyEvaluator", {}, "YES\nIt is.", 1.0, True),
        ("ContextRelevancyEvaluator", {}, "Fine. [RESULT] 3", 0.75, None),
        ("AnswerRelevancyEvaluator", {}, "Fine. [RESULT] 1", 0.5, None),
        ("AnswerRelevancyEvaluator", {"score_threshold": 1}, "Fine. [RESULT] 1", 1.0, None),
        ("CorrectnessEvaluator", {}, "4.0\nAlmost.", 4.0, True),
        ("CorrectnessEvaluator", {"score_threshold": 4.5}, "4.0\nAlmost.", 4.0, False),
        ("CorrectnessEvaluator", {}, "7\nAlmost.", None, None),
        ("GuidelineEvaluator", {}, "NO\nIt is vague.", 0.0, False),
    ],
)
def test_each_gives_llama_indexs_fields(name, options, reply, score, passing):
    llm = Scripted(reply)
    evaluator = getattr(ours, name)(llm, **options)
    found = both(evaluator, **FIELDS)
    assert isinstance(evaluator, BaseEvaluator)
    assert (found.score, found.passing, found.invalid_result) == (score, passing, score is None)
    assert found.feedback == reply if score is not None else found.invalid_reason
    assert (found.query, found.contexts) == ("Why?", FIELDS["contexts"])
    assert all(text in llm.said for text in SHOWN[name])


@pytest.mark.parametrize(
    ("replies", "score", "asked"),
    [(["NO", "YES", "NO"], 1.0, 2), (["NO"], 0.0, 3), (["NO", "hm", "NO"], None, 3)],
)
def test_many_contexts_are_asked_about_part_by_part(replies, score, asked):
    llm = Scripted(*replies)
    found = FaithfulnessEvaluator(llm).evaluate(response="So.", contexts=["x" * 15_000] * 3)
    assert (found.score, len(llm.requests), len(found.contexts)) == (score, asked, 3)


@pytest.mark.parametrize(
    ("replies", "score", "passing", "source"),
    [
        (["[[A]]", "[[B]]"], 1.0, True, "original"),
        (["[[B]]", "[[A]]"], 0.0, False, "original"),
        (["[[A]]", "[[A]]"], 0.5, None, "neither"),
        (["[[C]]", "[[C]]"], 0.5, None, "original"),
        (["[[C]]", "[[A]]"], 0.0, False, "flipped"),
    ],
)
def test_a_pair_is_compared_in_both_orders(replies, score, passing, source):
    llm = Scripted(*replies)
    found = PairwiseComparisonEvaluator(llm).evaluate("Why?", "one", second_response="two")
    assert (found.score, found.passing, found.pairwise_source) == (score, passing, source)
    first, second = ("".join(each.text for each in one.messages) for one in llm.requests)
    assert first.index("one") < first.index("two")
    assert second.index("two") < second.index("one")
    once = PairwiseComparisonEvaluator(Scripted("[[B]]"), enforce_consensus=False)
    assert once.evaluate("Why?", "one", second_response="two").score == 0.0
    assert once.evaluate("Why?", "one").invalid_result


def test_a_template_has_llama_indexs_variables_and_can_be_updated():
    llm = Scripted("YES")
    template = PromptTemplate("{query_str}|{context_str}")
    updated = FaithfulnessEvaluator(llm)
    assert "{context_str}" in updated.get_prompts()["eval_template"].get_template()
    updated.update_prompts({"eval_template": template})
    for evaluator in (updated, FaithfulnessEvaluator(llm, eval_template=template)):
        assert evaluator.evaluate(**FIELDS).passing
        assert "So.|It is so.\n\nOr not." in llm.said
    with pytest.raises(InvalidOptionError, match="has no prompt 'other'"):
        updated._update_prompts({"other": template})


def test_what_is_missing_is_invalid_and_a_batch_runs(monkeypatch):
    monkeypatch.setattr(Settings, "_llm", None)
    for evaluator in (CorrectnessEvaluator(Scripted("5")), GuidelineEvaluator(Scripted("YES"))):
        assert evaluator.evaluate(response="So.").invalid_reason.endswith("pass query=...")
    assert FaithfulnessEvaluator(Scripted("NO")).evaluate(response="So.").invalid_result
    runner = BatchEvalRunner({"right": CorrectnessEvaluator(Scripted("5"))}, workers=2)
    found = runner.evaluate_response_strs(queries=["a", "b"], response_strs=["c", "d"])
    assert [each.score for each in found["right"]] == [5.0, 5.0]


def test_one_of_ours_runs_unwrapped_in_a_batch():
    runner = BatchEvalRunner({"match": JsonMatch(), "valid": JsonValidity()}, workers=2)
    found = runner.evaluate_response_strs(response_strs=["[1]", "[2]", "[3"], reference=["[1]"] * 3)
    assert [each.passing for each in found["match"]] == [True, False, False]
    assert [each.score for each in found["valid"]] == [1.0, 1.0, 0.0]
    found = runner.evaluate_responses(queries=["?"], responses=[Response("[1]")], reference=["[1]"])
    assert found["match"][0].passing
    asked = BatchEvalRunner({"short": PassFail(Scripted(judgement()), "Is it short?")})
    assert asked.evaluate_response_strs(response_strs=["a"])["short"][0].passing


def test_similarity_is_one_minus_the_distance():
    found = both(SemanticSimilarityEvaluator(MockEmbedding(embed_dim=4)), response="a", reference="b")  # fmt: skip
    assert (found.score, found.passing, found.feedback) == (1.0, True, "Similarity score: 1")
    assert SemanticSimilarityEvaluator(MockEmbedding(embed_dim=4)).evaluate(response="a").invalid_result  # fmt: skip


def test_a_retriever_is_evaluated_as_by_llama_index():
    documents = [Document(text=text, id_=text) for text in "abc"]
    retriever = SummaryIndex.from_documents(documents).as_retriever()
    nodes = retriever.retrieve("?")
    expected = [nodes[1].node.node_id, "d"]
    names = ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
    theirs = Theirs.from_metric_names(names, retriever=retriever).evaluate("?", expected)
    mine = RetrieverEvaluator.from_metric_names(names, retriever=retriever).evaluate("?", expected)
    assert mine.metric_vals_dict == pytest.approx(theirs.metric_vals_dict)
    assert (mine.retrieved_ids, mine.retrieved_texts) == (theirs.retrieved_ids, theirs.retrieved_texts)  # fmt: skip
    with pytest.raises(InvalidOptionError, match=r"no metric 'mmr'.*'mrr'"):
        RetrieverEvaluator(retriever, ["mmr"])
