"""LlamaIndex's evaluators by its names, and judges of ours by its models and prompts."""

import asyncio
import json
import re

import pytest

pytest.importorskip("llama_index.core")

from framework_cases import llama_model
from llama_index.core import (
    Document,
    MockEmbedding,
    PromptTemplate,
    Settings,
    SummaryIndex,
    VectorStoreIndex,
)
from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.evaluation import RetrieverEvaluator as Theirs
from llama_index.core.evaluation.retrieval.metrics import MRR, HitRate
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import ChatPromptTemplate, RichPromptTemplate
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.frameworks import llama_index as ours
from llmeval_integrations.frameworks.llama_index import (
    FaithfulnessEvaluator,
    LlamaIndexEvaluator,
    PairwiseComparisonEvaluator,
    QuestionGenerator,
    RetrieverEvaluator,
    SemanticSimilarityEvaluator,
    load_evaluator,
)
from llmeval_integrations.judges import PassFail

FIELDS = {"query": "Why?", "response": "So.", "contexts": ["It is so.", "Or not."]}
QUESTION = "Is it short?"
YES_OR_NO = PromptTemplate("{query_str}|{context_str}")
POINTS = PromptTemplate("{query}|{response}")


def both(evaluator, **fields):
    """Evaluate blocking and awaited; both have to say the same."""
    found = evaluator.evaluate(**fields)
    awaited = asyncio.run(evaluator.aevaluate(**fields))
    assert (awaited.score, awaited.feedback) == (found.score, found.feedback)
    return found


def claims(*verdicts):
    parts = [
        {"claim": f"Claim {number}.", "evidence": "", "documents": [], "verdict": verdict}
        for number, verdict in enumerate(verdicts)
    ]
    return json.dumps({"claims": parts})


TEMPLATES = [
    ("FaithfulnessEvaluator", {"eval_template": YES_OR_NO}, "YES", 1.0, True, ["So.|It is so.\n\nOr not."]),
    ("FaithfulnessEvaluator", {"eval_template": YES_OR_NO}, "No, it says otherwise.", 0.0, False, []),
    ("FaithfulnessEvaluator", {"eval_template": YES_OR_NO}, "hm", None, None, []),
    ("RelevancyEvaluator", {}, "YES\nIt is.", 1.0, True, ["Question: Why?\nResponse: So.", "It is so."]),
    ("ContextRelevancyEvaluator", {}, "Fine. [RESULT] 3", 0.75, None, ["Why?", "Or not."]),
    ("AnswerRelevancyEvaluator", {"eval_template": POINTS}, "[RESULT] 1", 0.5, None, ["Why?|So."]),
    ("AnswerRelevancyEvaluator", {"eval_template": POINTS, "score_threshold": 1}, "[RESULT] 1", 1.0, None, []),
    ("CorrectnessEvaluator", {}, "4.0\nAlmost.", 4.0, True, ["Why?", "So.", "(none)"]),
    ("CorrectnessEvaluator", {"score_threshold": 4.5}, "4.0\nAlmost.", 4.0, False, []),
    ("CorrectnessEvaluator", {}, "7\nAlmost.", None, None, []),
    ("FaithfulnessEvaluator", {}, claims("supported", "supported"), 1.0, True, ["So.", "Or not."]),
    ("FaithfulnessEvaluator", {}, claims("supported", "unsupported"), 0.5, False, []),
    ("FaithfulnessEvaluator", {}, claims(), None, None, []),
    ("AnswerRelevancyEvaluator", {}, claims("relevant", "irrelevant"), 0.5, None, ["Why?", "So."]),
    ("GuidelineEvaluator", {}, "NO\nIt is vague.", 0.0, False, ["Why?", "So.", "Be specific"]),
    ("GuidelineEvaluator", {}, '{"passing": true, "feedback": "It is."}', 1.0, True, []),
    ("GuidelineEvaluator", {}, '{"passing": false, "feedback": ""}', 0.0, False, []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "reply", "score", "passing", "shown"), TEMPLATES)
def test_each_gives_llama_indexs_fields(name, options, reply, score, passing, shown):
    llm = Scripted(reply)
    evaluator = getattr(ours, name)(llm, **options)
    found = both(evaluator, **FIELDS)
    assert isinstance(evaluator, BaseEvaluator)
    assert (found.score, found.passing, found.invalid_result) == (score, passing, score is None)
    if not reply.startswith("{"):
        assert found.feedback == reply if score is not None else found.invalid_reason
    assert (found.query, found.contexts) == ("Why?", FIELDS["contexts"])
    assert all(text in llm.said for text in shown)
    assert len(llm.requests) >= 2  # blocking and awaited


@pytest.mark.parametrize(
    ("template", "replies", "score", "asked"),
    [
        (YES_OR_NO, ["NO", "YES", "NO"], 1.0, 2),
        (YES_OR_NO, ["NO"], 0.0, 3),
        (YES_OR_NO, ["NO", "hm", "NO"], None, 3),
        (None, [claims("supported")], 1.0, 1),
        (None, [claims("supported", "unsupported"), claims("unsupported")], 0.5, 3),
    ],
)
def test_a_model_is_asked_about_many_contexts_part_by_part(template, replies, score, asked):
    llm = Scripted(*replies)
    judge = FaithfulnessEvaluator(llm, template)
    found = judge.evaluate(response="So.", contexts=[each * 15_000 for each in "xyz"])
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
    alone = once.evaluate("Why?", "one", contexts="It is so.")
    assert (alone.invalid_result, alone.contexts) == (True, ["It is so."])


def test_a_template_can_be_updated():
    llm = Scripted("YES")
    relevancy = ours.RelevancyEvaluator(llm)
    assert "{context_str}" in relevancy.get_prompts()["eval_template"].get_template()
    for evaluator in (relevancy, FaithfulnessEvaluator(llm)):
        evaluator.update_prompts({"eval_template": YES_OR_NO})
        assert evaluator.evaluate(**FIELDS).passing
        assert "So.|It is so.\n\nOr not." in llm.said
    with pytest.raises(InvalidOptionError, match="has no prompt 'other'"):
        relevancy._update_prompts({"other": YES_OR_NO})


def test_similarity_is_one_minus_the_distance():
    judge = SemanticSimilarityEvaluator(MockEmbedding(embed_dim=4))
    found = both(judge, response="a", reference="b")
    assert (found.score, found.passing, found.feedback) == (1.0, True, "Similarity score: 1")
    assert judge.evaluate(response="a").invalid_result


def test_a_retriever_is_evaluated_as_by_llama_index():
    documents = [Document(text=text, id_=text) for text in "abc"]
    retriever = SummaryIndex.from_documents(documents).as_retriever()
    nodes = retriever.retrieve("?")
    expected = [nodes[1].node.node_id, "d"]
    names = ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
    theirs, mine = (
        kind.from_metric_names(names, retriever=retriever).evaluate("?", expected)
        for kind in (Theirs, RetrieverEvaluator)
    )
    assert mine.metric_vals_dict == pytest.approx(theirs.metric_vals_dict)
    assert mine.retrieved_ids == theirs.retrieved_ids
    assert mine.retrieved_texts == theirs.retrieved_texts
    metrics = [HitRate(use_granular_hit_rate=True), MRR()]
    granular = RetrieverEvaluator(metrics=metrics, retriever=retriever)
    assert granular.evaluate("?", expected).metric_vals_dict == {"hit_rate": 0.5, "mrr": 0.5}


def test_questions_about_documents_evaluate_a_retriever():
    documents = [Document(text=f"{text} is a letter.") for text in "abc"]

    def reply(request):
        [sentence] = re.findall(r"\w is a letter", request.messages[-1].text)
        return json.dumps({"questions": [f"Who says that {sentence}?"] * 3})

    llm = Scripted(reply)
    dataset = QuestionGenerator.from_documents(documents, llm, num_questions_per_chunk=2).generate()
    assert len(dataset.queries) == 6
    assert set(dataset.corpus.values()) == {document.text for document in documents}
    for key, question in dataset.queries.items():
        [node_id] = dataset.relevant_docs[key]
        assert dataset.corpus[node_id].rstrip(".") in question
    index = VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=4))
    metrics = RetrieverEvaluator.from_metric_names(["hit_rate"], retriever=index.as_retriever())
    assert len(asyncio.run(metrics.aevaluate_dataset(dataset))) == 6
    with pytest.raises(UnreadableJudgementError, match="no questions of "):
        QuestionGenerator.from_documents(documents, Scripted("hm")).generate()


def test_a_model_of_llama_index_judges(monkeypatch):
    (fails, _), (passes, _) = (
        llama_model(*[json.dumps(judgement(word))] * 3) for word in ("Fail", "Pass")
    )
    found = both(LlamaIndexEvaluator(PassFail(fails, QUESTION)), response="A text.")
    assert (found.passing, found.label, found.feedback) == (False, "Fail", "because")
    monkeypatch.setattr(Settings, "_llm", fails)
    for options, passing in ({}, False), ({"llm": passes}, True):
        loaded = load_evaluator("pass_fail", question=QUESTION, **options)
        assert loaded.evaluate(response="a").passing is passing


JUDGE = "Judge {output}. {question}"
PROMPTS = [
    PromptTemplate(JUDGE),
    RichPromptTemplate("Judge {{ output }}. {{ question }}"),
    ChatPromptTemplate([ChatMessage(role="user", content=JUDGE)]),
    JUDGE,
]


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: type(prompt).__name__)
def test_a_judges_prompt_can_be_read_given_and_updated(prompt):
    client = Scripted(judgement())
    updated = LlamaIndexEvaluator(PassFail(client, QUESTION))
    messages = updated.get_prompts()["prompt"].message_templates
    assert [each.role.value for each in messages] == ["system", "user"]
    assert "{{question}}" in messages[1].content
    updated.update_prompts({"prompt": prompt})
    loaded = load_evaluator("pass_fail", llm=client, question=QUESTION, prompt=prompt)
    for evaluator in (updated, loaded):
        assert evaluator.evaluate(response="a").passing is True
        mark = client.requests[-1].fence
        assert client.said.startswith(f"Judge <output {mark}>\na\n</output {mark}>. {QUESTION}\n")
    with pytest.raises(InvalidOptionError, match="no prompt 'other'"):
        updated._update_prompts({"other": "x"})
