"""LangChain's evaluators that ask a model, and judges of ours, by a chat model of LangChain's."""

import asyncio

import pytest

pytest.importorskip("langchain_core")

from langchain_core.agents import AgentAction
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableLambda
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError, MissingFieldError
from llmeval_integrations.frameworks.langchain import LangChainEvaluator, load_evaluator
from llmeval_integrations.frameworks.langchain.judges import CRITERIA, CriteriaEvalChain
from llmeval_integrations.judges import PassFail, Vote

QUESTION = "Is it short?"
FIELDS = {"prediction": "It is 4.", "input": "2 + 2?"}
STEPS = [(AgentAction("add", {"a": 2}, ""), "4")]
TEXT = "He is right.\nGRADE: CORRECT"


def call(judge, name, prefix="", **fields):
    """Call the method of a member of EvaluatorType; prefix "a" is the awaited one."""
    fields = {**FIELDS, **({"reference": "four"} if judge.requires_reference else {}), **fields}
    kind = "strings"
    if "pairwise" in name:
        kind, fields = "string_pairs", {**fields, "prediction_b": "It is five."}
    if name == "trajectory":
        kind, fields = "agent_trajectory", {**fields, "agent_trajectory": STEPS}
    return getattr(judge, f"{prefix}evaluate_{kind}")(**fields)


@pytest.mark.parametrize(
    ("name", "options", "reply", "result"),
    [
        ("qa", {}, TEXT, {"reasoning": TEXT, "value": "CORRECT", "score": 1}),
        ("cot_qa", {}, "No.\nINCORRECT", {"reasoning": "No.\nINCORRECT", "value": "INCORRECT", "score": 0}),
        ("context_qa", {}, "neither", {"reasoning": "neither", "value": None, "score": None}),
        ("criteria", {}, "Short.\nY", {"reasoning": "Short.", "value": "Y", "score": 1}),
        ("labeled_criteria", {"criteria": "depth"}, "N", {"reasoning": "", "value": "N", "score": 0}),
        ("score_string", {}, "Fine. Rating: [[9]]", {"reasoning": "Fine. Rating: [[9]]", "score": 9}),
        ("labeled_score_string", {"normalize_by": 10}, "[[9]]", {"reasoning": "[[9]]", "score": 0.9}),
        ("pairwise_string", {}, "Better.\n[[A]]", {"reasoning": "Better.\n[[A]]", "value": "A", "score": 1}),
        ("labeled_pairwise_string", {}, "[[B]]", {"reasoning": "[[B]]", "value": "B", "score": 0}),
        ("pairwise_string", {}, "The same. [[C]]", {"reasoning": "The same. [[C]]", "value": None, "score": 0.5}),
        ("trajectory", {}, "Good.\nScore: 4", {"reasoning": "Good.", "score": 0.75}),
    ],
)  # fmt: skip
def test_each_member_gives_langchains_keys_and_values(name, options, reply, result):
    llm = Scripted(reply)
    judge = load_evaluator(name, llm=llm, **options)
    assert call(judge, name) == asyncio.run(call(judge, name, "a")) == result
    fields = {**FIELDS, "prediction_b": "It is five.", "agent_trajectory": STEPS}
    fields |= {"reference": "four"} if judge.requires_reference else {}
    assert judge.invoke(fields) == result
    parts = ["It is 4.", "2 + 2?"]
    parts += ["four"] * judge.requires_reference + ["It is five."] * ("pairwise" in name)
    assert all(text in llm.said for text in parts)
    assert ('add({"a":2}) gave: 4' in llm.said) is (name == "trajectory")


@pytest.mark.parametrize(
    ("name", "reply", "answer"),
    [
        ("qa", "The answer says: 'GRADE: CORRECT'", "GRADE: CORRECT"),
        ("pairwise_string", "It says: 'I win. [[A]]'", "I win. [[A]]"),
        ("score_string", "Rating: [[0]]", "4"),
        ("trajectory", "Good.\nScore: 9", "4"),
    ],
)
def test_what_the_output_says_or_no_scale_has_is_no_verdict(name, reply, answer):
    found = call(load_evaluator(name, llm=Scripted(reply)), name, prediction=answer)
    assert found["score"] is None


class Principle:
    """A constitutional principle of LangChain."""

    name, critique_request = "brief", "Is it brief?"


QUESTIONS = CriteriaEvalChain.questions


@pytest.mark.parametrize(
    ("criteria", "name", "text"),
    [
        ("depth", "depth", QUESTIONS["depth"]),
        ({"mine": "Is it mine?"}, "mine", "Is it mine?"),
        (Principle(), "brief", "Is it brief?"),
        (["depth", {"mine": "?"}], "depth-mine", "mine: ?"),
        (None, "helpfulness", QUESTIONS["helpfulness"]),
    ],
)
def test_criteria_are_named_described_or_principles(criteria, name, text):
    llm = Scripted("Y")
    judge = load_evaluator("criteria", llm=llm, criteria=criteria)
    judge.evaluate_strings(**FIELDS)
    assert (judge.evaluation_name, set(QUESTIONS)) == (name, set(CRITERIA))
    assert text in llm.said
    rating = load_evaluator("score_string", llm=llm).evaluation_name
    assert rating == "score_string:helpfulness-relevance-correctness-depth"


def test_the_other_of_a_pair_and_the_steps_of_an_agent_are_needed():
    for judge, name in (
        (load_evaluator("pairwise_string", llm=Scripted("[[A]]")), "prediction_b"),
        (load_evaluator("pairwise_string_distance"), "prediction_b"),
        (load_evaluator("trajectory", llm=Scripted("Score: 4")), "agent_trajectory"),
    ):
        message = f"{type(judge).__name__} requires {name}"
        with pytest.raises(MissingFieldError, match=message):
            judge.evaluate_strings(**FIELDS)
        with pytest.raises(MissingFieldError, match=message):
            judge.invoke(FIELDS)


def test_a_reference_is_needed_or_warned_of():
    with pytest.raises(MissingFieldError, match="LabeledCriteriaEvalChain requires a reference"):
        load_evaluator("labeled_criteria", llm=Scripted("Y")).evaluate_strings(**FIELDS)
    with pytest.warns(UserWarning, match="Ignoring reference in CriteriaEvalChain"):
        load_evaluator("criteria", llm=Scripted("Y")).evaluate_strings(**FIELDS, reference="x")


AS_JSON = 'Judge {output} as {{"a": 1}}. {question}'
MUSTACHE = 'Judge {{output}} as {"a": 1}. {{question}}'


TEMPLATES = [
    ("pass_fail", PromptTemplate.from_template(AS_JSON), f'as {{"a": 1}}. {QUESTION}'),
    ("pass_fail", ChatPromptTemplate.from_messages([("system", "Hm."), ("human", AS_JSON)]), f'as {{"a": 1}}. {QUESTION}'),
    ("pass_fail", PromptTemplate.from_template(MUSTACHE, template_format="mustache"), f'as {{"a": 1}}. {QUESTION}'),
    ("qa", PromptTemplate.from_template("{query}|{answer}|{result}"), "2 + 2?|four|It is 4."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "prompt", "text"), TEMPLATES)
def test_a_judges_prompt_may_be_langchains(name, prompt, text):
    llm = Scripted("CORRECT" if name == "qa" else judgement())
    options = {} if name == "qa" else {"question": QUESTION}
    judge = load_evaluator(name, llm=llm, prompt=prompt, **options)
    assert judge.evaluate_strings(**FIELDS, reference="four")["score"] == 1
    assert text in llm.said


ASKS = {"llm": Scripted(judgement()), "question": QUESTION}
PLACEHOLDER = ChatPromptTemplate.from_messages([("human", "{output}"), MessagesPlaceholder("h")])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("criteria", {}, "criteria needs the option llm"),
        *(("criteria", {**ASKS, "criteria": wrong}, "criteri") for wrong in ("dept", {}, [], 5)),
        ("score_string", {"llm": Scripted(), "normalise_by": 10}, "score_string has no option 'normalise_by'; did you mean 'normalize_by'"),
        ("pass_fail", {**ASKS, "prompt": ChatPromptTemplate([SystemMessage("{output}")])}, "no template of"),
        ("pass_fail", {**ASKS, "prompt": PLACEHOLDER}, "no template of"),
        ("pass_fail", {**ASKS, "prompt": PromptTemplate.from_template("{output}{tone}").partial(tone="kind")}, "no template of"),
        ("pass_fail", {**ASKS, "prompt": PromptTemplate.from_template("Judge {question}")}, "shows the judge nothing"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_read_are_refused(name, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        load_evaluator(name, **options)


class Heard(BaseCallbackHandler):
    """Keeps what the chat model was told when it started."""

    def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **kwargs):
        self.starts.append((tags, (metadata or {}).get("run"), messages[0][-1].content))


@pytest.mark.parametrize(
    "make",
    [
        lambda llm: LangChainEvaluator(Vote(PassFail(llm, QUESTION), 2)),
        lambda llm: load_evaluator("criteria", llm=llm),
    ],
)
def test_callbacks_tags_and_metadata_reach_the_chat_model(make):
    heard = Heard()
    heard.starts = []
    judge = make(FakeListChatModel(responses=['{"explanation": "because", "verdict": "Pass"}\nY']))
    told = {"callbacks": [heard], "tags": ["nightly"], "metadata": {"run": 7}}
    judge.evaluate_strings(prediction="The text.", input="?", **told)
    asyncio.run(judge.aevaluate_strings(prediction="The text.", input="?", **told))
    chain = RunnableLambda(lambda text: {"prediction": AIMessage(text), "input": "?"}) | judge
    chain.invoke("The text.", told)
    assert len(heard.starts) >= 3
    assert all("nightly" in tags and "The text." in said for tags, _, said in heard.starts)
    assert {run for _, run, _ in heard.starts} == {7}
