"""LlamaIndex: responses, streams and batches of our evaluators, and its evaluators by their names."""

import asyncio
import json
import re
import time

import numpy
import pytest

pytest.importorskip("llama_index.core")

from framework_cases import RESULTS, Fixed, llama_model
from llama_index import core
from llama_index.core import chat_engine, evaluation, prompts
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response import schema
from llama_index.core.evaluation.retrieval.metrics import MRR, HitRate
from llama_index.core.llms import ChatMessage, MockLLM
from pace import at_most
from pydantic import BaseModel
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError, JsonMatch
from llmeval_integrations.core.errors import ClientError, UnreadableJudgementError
from llmeval_integrations.frameworks import llama_index as ours
from llmeval_integrations.frameworks.llama_index import LlamaIndexEvaluator, load_evaluator
from llmeval_integrations.judges import PassFail


def both(evaluator, **fields):
    """Evaluate blocking and awaited; both have to say the same."""
    found = evaluator.evaluate(**fields)
    awaited = asyncio.run(evaluator.aevaluate(**fields))
    assert (awaited.score, awaited.feedback) == (found.score, found.feedback)
    assert (awaited.query, awaited.contexts) == (found.query, found.contexts)
    return found


class Total(BaseModel):
    total: float


async def in_pieces(text):
    for character in text:
        yield character


class Meeting(BaseRetriever):
    """A retriever that counts how many queries it serves at a time."""

    serves = most = 0

    async def _aretrieve(self, query_bundle):
        self.serves += 1
        self.most = max(self.most, self.serves)
        await asyncio.sleep(0.01)
        self.serves -= 1
        return NODES

    def _retrieve(self, query_bundle):
        raise NotImplementedError


def claims(*verdicts):
    parts = [{"claim": f"Claim {n}.", "verdict": verdict} for n, verdict in enumerate(verdicts)]
    return json.dumps({"claims": [{**part, "evidence": "", "documents": []} for part in parts]})


MATCH, SCHEMA = (load_evaluator(f"json_{name}") for name in ("match", "schema"))
ONCE = ours.PairwiseComparisonEvaluator(Scripted("[[B]]"), enforce_consensus=False)
SIMILARITY = ours.SemanticSimilarityEvaluator(core.MockEmbedding(embed_dim=4))
ANSWERS = [
    (MATCH, {"response": "{}"}, None, "json_match needs a reference"),
    (MATCH, {"response": "{}", "reference": "{a"}, None, "'{a' is not JSON"),
    (MATCH, {"response": None, "reference": "{}"}, None, "json_match needs response"),
    (MATCH, {"response": "\ud800", "reference": "{}"}, 0.0, "no JSON"),
    (MATCH, {"response": True, "reference": "true"}, 1.0, ""),
    (SCHEMA, {"response": "{}"}, None, "json_schema needs a schema"),
    (SCHEMA, {"response": "{}", "reference": {"type": "objekt"}}, None, "objekt"),
    (LlamaIndexEvaluator(Fixed(RESULTS["unscored"])), {"response": "{}"}, None, "cannot tell"),
    (SIMILARITY, {"response": "a", "reference": "b"}, 1.0, "Similarity score: 1"),
    (SIMILARITY, {"response": "a"}, None, "needs a reference"),
    (ONCE, {"query": "?", "response": "one", "second_response": "two"}, 0.0, "[[B]]"),
    (ONCE, {"query": "?", "response": "one"}, None, "needs second_response"),
]
NODES = [core.schema.NodeWithScore(node=core.schema.TextNode(text="net 10"), score=1.0)]
PARTS = ['{"total"', ": 12.5}"]
RESPONSES = {
    "plain": lambda: schema.Response("".join(PARTS), NODES),
    "pydantic": lambda: schema.PydanticResponse(Total(total=12.5), NODES),
    "streaming": lambda: schema.StreamingResponse(iter(PARTS), NODES),
}
FIELDS = {"query": "Why?", "response": "So.", "contexts": ["It is so.", "Or not."]}
YES_OR_NO = prompts.PromptTemplate('{{"yes": 1}} {query_str}|{context_str}')
POINTS = prompts.PromptTemplate("{query}|{response}")
TEMPLATES = [
    ("FaithfulnessEvaluator", {"eval_template": YES_OR_NO}, "YES", 1.0, True, ["So.\n</query_str MARK>|It is so.\n\nOr not."]),
    ("FaithfulnessEvaluator", {"eval_template": YES_OR_NO}, "No, it says otherwise.", 0.0, False, []),
    ("RelevancyEvaluator", {}, "YES\nIt is.", 1.0, True, ["Question: Why?\nResponse: So.", "It is so."]),
    ("ContextRelevancyEvaluator", {}, "Fine. [RESULT] 3", 0.75, None, ["Why?", "Or not."]),
    ("AnswerRelevancyEvaluator", {"eval_template": POINTS}, "[RESULT] 1", 0.5, None, ["Why?|<response MARK>\nSo.\n</"]),
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
LONG = [
    ("Faithfulness", (YES_OR_NO,), ["NO", "YES", "NO"], 1.0, 2),
    ("Faithfulness", (YES_OR_NO,), ["NO"], 0.0, 3),
    ("Faithfulness", (YES_OR_NO,), ["NO", "hm", "NO"], None, 3),
    ("Faithfulness", (), [claims("supported")], 1.0, 1),
    ("Faithfulness", (), [claims("supported", "unsupported"), claims("unsupported")], 0.5, 3),
    ("ContextRelevancy", (None, 2), ["[RESULT] 2", "[RESULT] 4", "[RESULT] 0"], 2.0, 2),
    ("AnswerRelevancy", (POINTS,), ["[RESULT] 1", "[RESULT] 2"], 0.5, 1),  # shows no contexts
]
PAIRS = [
    (["[[A]]", "[[B]]"], 1.0, True, "original"),
    (["[[B]]", "[[A]]"], 0.0, False, "original"),
    (["[[A]]", "[[A]]"], 0.5, None, "neither"),
    (["[[C]]", "[[C]]"], 0.5, None, "original"),
    (["[[C]]", "[[A]]"], 0.0, False, "flipped"),
]
JUDGE = "Judge {output}. {question}"
PROMPTS = [
    prompts.PromptTemplate(JUDGE),
    prompts.PromptTemplate("{begin} {output}. {question}").partial_format(begin="Judge"),
    prompts.RichPromptTemplate("Judge {{ output }}. {{ question }}"),
    prompts.ChatPromptTemplate([ChatMessage(role="user", content=JUDGE)]),
    JUDGE,
]


@pytest.mark.parametrize(("evaluator", "arguments", "score", "reason"), ANSWERS)
def test_an_answer_has_a_score_or_is_invalid_and_says_why(evaluator, arguments, score, reason):
    answer = both(evaluator, **arguments, contexts="It is so.")
    assert (answer.score, answer.passing) == (score, None if score is None else score == 1)
    assert (answer.invalid_result, answer.contexts) == (score is None, ["It is so."])
    assert reason in (answer.invalid_reason or answer.feedback or "")


@pytest.mark.parametrize("make", RESPONSES.values(), ids=RESPONSES)
def test_every_kind_of_response_is_read_and_its_contexts_kept(make):
    fields = {"query": "?", "reference": {"total": 12.5}}
    answers = [asyncio.run(MATCH.aevaluate_response(response=make(), **fields))]
    answers.append(MATCH.evaluate_response(response=make(), **fields))
    for answer in answers:
        assert (answer.passing, answer.query, answer.contexts) == (True, "?", ["net 10"])
        assert json.loads(answer.response) == {"total": 12.5}


def test_a_stream_is_read_once_that_of_a_chat_before_and_a_text_is_a_response():
    stream = schema.AsyncStreamingResponse(in_pieces("[1]"))
    answer = asyncio.run(MATCH.aevaluate_response(response=stream, reference="[1]"))
    assert "await its get_response() first" in answer.invalid_reason
    asyncio.run(stream.get_response())
    assert MATCH.evaluate_response(response=stream, reference="[1]").passing
    for parts in (1, 2):
        stream = schema.StreamingResponse(part for part in PARTS)
        for _ in range(parts):
            next(stream.response_gen)
        for evaluate in (MATCH.evaluate_response, MATCH.evaluate):
            answer = evaluate(response=stream, reference="[]")
            assert (answer.score, answer.response) == (None, None)
            assert "has been read" in answer.invalid_reason

    evaluate = load_evaluator("json_equality").evaluate_response
    engine = chat_engine.SimpleChatEngine.from_defaults(llm=MockLLM())
    assert evaluate("q", engine.chat("[1]"), reference="[]").score == 0.0
    stream = engine.stream_chat("[1]")
    list(stream.response_gen)
    assert evaluate("q", stream, reference="[]").response == str(stream)
    for response in (schema.Response(None), schema.PydanticResponse(None)):
        assert evaluate("q", response, reference="[]").label == "empty"
        faithfulness = ours.FaithfulnessEvaluator(Scripted("not asked"))
        assert faithfulness.evaluate_response("q", response).label == "no_claims"
    assert evaluate("q", None, reference="[]").invalid_result
    unread = evaluate("q", chat_engine.types.StreamingAgentChatResponse(), reference="[]")
    assert "is not read" in unread.invalid_reason
    assert evaluate("q", "[]", reference="[]").passing
    retrieval = load_evaluator("retrieval", metric="mrr")
    response = RESPONSES["pydantic"]()
    assert retrieval.evaluate_response("q", response, relevant=[NODES[0].node_id]).score == 1


def test_a_batch_loses_nothing_by_a_bad_call_or_a_judge_that_fails():
    def reply(request):
        down = "row 1" in request.messages[-1].text
        return ClientError("no reply", kind="connection") if down else judgement()

    short = PassFail(Scripted(reply), "Is it short?")  # handed over as it is
    evaluators = {"match": MATCH, "schema": SCHEMA, "short": short}
    with at_most(3, time.monotonic):  # the runner would try again with what raises
        answers = evaluation.BatchEvalRunner(evaluators).evaluate_responses(
            queries=["row 0", "row 1", "row 2", "row 3"],
            responses=[*map(schema.Response, ("[1]", "[1]", "[]")), None],
            match={"reference": ["[1", None, "[1]", "[1]"]},
            schema={"schema": [{"type": "array", "minItems": 1}] * 4},
        )
    assert {name: [answer.score for answer in each] for name, each in answers.items()} == {
        "match": [None, None, 0.0, None],
        "schema": [1.0, 1.0, 0.0, None],
        "short": [1.0, None, 1.0, None],
    }
    assert "no reply" in answers["short"][1].invalid_reason
    with pytest.raises(TypeError, match="argument 'output'"):  # a sample's, not LlamaIndex's
        asyncio.run(JsonMatch().aevaluate(output="[1]", reference="[1]"))
    with pytest.raises(TypeError, match="'value'"):  # as other frameworks have
        LlamaIndexEvaluator(JsonMatch(), value="passed")


@pytest.mark.parametrize(("name", "options", "reply", "score", "passing", "shown"), TEMPLATES)
def test_each_gives_llama_indexs_fields(name, options, reply, score, passing, shown):
    llm = Scripted(reply)
    evaluator = getattr(ours, name)(llm, **options)
    found = both(evaluator, **FIELDS)
    assert isinstance(evaluator, evaluation.BaseEvaluator)
    assert (found.score, found.passing, found.invalid_result) == (score, passing, score is None)
    if score is None:
        assert found.invalid_reason
    elif not reply.startswith("{"):
        is_whole = name not in ("CorrectnessEvaluator", "GuidelineEvaluator")
        assert found.feedback == (reply if is_whole else reply.partition("\n")[2])
    assert (found.query, found.contexts) == ("Why?", FIELDS["contexts"])
    prompt = llm.said.replace(llm.requests[-1].fence, "MARK")
    assert all(text in prompt for text in shown)


@pytest.mark.parametrize(("name", "options", "replies", "score", "asked"), LONG)
def test_a_model_is_asked_about_many_contexts_part_by_part(name, options, replies, score, asked):
    llm, contexts = Scripted(*replies), [each * 15_000 for each in "xyz"]
    found = getattr(ours, f"{name}Evaluator")(llm, *options).evaluate("Why?", "So.", contexts)
    assert (found.score, len(llm.requests), found.contexts) == (score, asked, contexts)
    assert found.metadata["judge"]["calls"] == asked


def test_contexts_may_be_an_array_or_nodes():
    texts = FIELDS["contexts"]
    for given in (numpy.array(texts), [core.schema.TextNode(text=each) for each in texts]):
        llm = Scripted("YES")
        found = ours.RelevancyEvaluator(llm).evaluate("Why?", "So.", given)
        assert (found.score, found.contexts) == (1.0, texts)
        assert "It is so.\n\nOr not." in llm.said


@pytest.mark.parametrize(("replies", "score", "passing", "source"), PAIRS)
def test_a_pair_is_compared_in_both_orders(replies, score, passing, source):
    llm = Scripted(*replies)
    one, two = (schema.StreamingResponse(iter([text])) for text in ("one", "two"))
    found = ours.PairwiseComparisonEvaluator(llm).evaluate("Why?", one, second_response=two)
    assert (found.score, found.passing, found.pairwise_source) == (score, passing, source)
    assert (found.response, found.metadata["judge"]["calls"]) == ("one", 2)
    first, second = ("".join(each.text for each in one.messages) for one in llm.requests)
    assert [text.index("one") < text.index("two") for text in (first, second)] == [True, False]
    assert f"<answer_2 {llm.requests[0].fence}>\ntwo\n</" in first
    fields = dict.fromkeys(("second_response", "reference"), RESPONSES["pydantic"]())
    ours.PairwiseComparisonEvaluator(llm).evaluate("?", "one", variables={"query": "Who"}, **fields)
    assert (llm.said.count("12.5}"), "Who" in llm.said) == (2, True)


def test_a_retriever_is_evaluated_as_by_llama_index():
    documents = [core.Document(text=text, id_=text) for text in "abc"]
    retriever = core.SummaryIndex.from_documents(documents).as_retriever()
    expected = [retriever.retrieve("?")[1].node.node_id, "d"]
    names = ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
    theirs, mine = (
        kind.RetrieverEvaluator.from_metric_names(names, retriever=retriever).evaluate(
            "?", expected
        )
        for kind in (evaluation, ours)
    )
    assert mine.metric_vals_dict == pytest.approx(theirs.metric_vals_dict)
    assert mine.model_dump(exclude={"metric_dict"}) == theirs.model_dump(exclude={"metric_dict"})
    metrics = [HitRate(use_granular_hit_rate=True), MRR()]
    granular = ours.RetrieverEvaluator(metrics=metrics, retriever=retriever)
    assert granular.evaluate("?", expected).metric_vals_dict == {"hit_rate": 0.5, "mrr": 0.5}


def test_questions_about_documents_evaluate_a_retriever():
    def reply(request):
        [sentence] = re.findall(r"\w is a letter", request.messages[-1].text)
        said = [f"{word} says that {sentence}?" for word in ("Who", "Who", "Who else", "When")]
        return json.dumps({"questions": [" ", *said]})

    documents = [core.Document(text=f"{text} is a letter.") for text in "abc"]
    generate = ours.QuestionGenerator.from_documents
    dataset = generate(documents, Scripted(reply), num_questions_per_chunk=2).generate()
    assert set(dataset.corpus.values()) == {document.text for document in documents}
    assert len({*dataset.queries.values()}) == len(dataset.queries) == 6
    for key, question in dataset.queries.items():
        [node_id] = dataset.relevant_docs[key]
        assert dataset.corpus[node_id].rstrip(".") in question
    retriever = Meeting()
    metrics = ours.RetrieverEvaluator.from_metric_names(["hit_rate"], retriever=retriever)
    found = asyncio.run(metrics.aevaluate_dataset(dataset, workers=3))
    assert [each.query for each in found] == list(dataset.queries.values())
    assert retriever.most == 3
    with pytest.raises(UnreadableJudgementError, match="no questions of "):
        generate(documents, Scripted("hm")).generate()
    with pytest.raises(InvalidOptionError, match="num_questions_per_chunk=0 is not"):
        generate(documents, Scripted("hm"), num_questions_per_chunk=0)


def test_a_model_of_llama_index_judges(monkeypatch):
    for word, passing in (("Fail", False), ("Pass", True)):
        monkeypatch.setattr(
            core.Settings, "_llm", llama_model(*[json.dumps(judgement(word))] * 2)[0]
        )
        found = both(load_evaluator("pass_fail", question="Is it short?"), response="A text.")
        assert (found.passing, found.label, found.feedback) == (passing, word, "because")


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: type(prompt).__name__)
def test_a_judges_prompt_can_be_given_and_that_of_llama_indexs_names_updated(prompt):
    client, question = Scripted(judgement()), "Is it short?"
    judge = load_evaluator("pass_fail", llm=client, question=question, prompt=prompt)
    assert judge.evaluate(response="a").passing is True
    mark = client.requests[-1].fence
    assert client.said.startswith(f"Judge <output {mark}>\na\n</output {mark}>. {question}\n")
    llm = Scripted("YES")
    relevancy = ours.RelevancyEvaluator(llm)
    assert "{context_str}" in relevancy.get_prompts()["eval_template"].get_template()
    for evaluator in (relevancy, ours.FaithfulnessEvaluator(llm)):
        evaluator.update_prompts({"eval_template": YES_OR_NO})
        assert evaluator.get_prompts() == {"eval_template": YES_OR_NO}
        assert evaluator.evaluate(**FIELDS).passing
        assert "|It is so.\n\nOr not." in llm.said
    for evaluator, message in ((judge, "has no prompts"), (relevancy, "no option 'other'")):
        with pytest.raises(InvalidOptionError, match=message):
            evaluator.update_prompts({"other": "x"})
