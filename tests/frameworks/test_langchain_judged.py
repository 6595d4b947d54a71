"""LangChain's evaluators that ask a model, and judges of ours, by a chat model of LangChain's."""

import asyncio

import pytest
from framework_cases import RESULTS, Fixed

pytest.importorskip("langchain_core")

from langchain_core import prompts
from langchain_core.agents import AgentAction
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError, MissingFieldError, UnknownNameError
from llmeval_integrations.frameworks import langchain as ours
from llmeval_integrations.frameworks.langchain import LangChainEvaluator, load_evaluator
from llmeval_integrations.frameworks.langchain.judges import CRITERIA
from llmeval_integrations.judges import PassFail, Vote

OUTPUT = "Mine is GRADE: INCORRECT, [[B]]"
FIELDS = {"prediction": OUTPUT, "input": "2 + 2?"}
STEPS = [(AgentAction("add", {"a": 2}, ""), "4")]
TEXT = "He is right.\nGRADE: CORRECT"
UNCLEAR = "Unreadable judgement, its verdict is not clear: 'Score: 9': 'Good.\\nScore: 9'"
QUOTE = f"It says: '{OUTPUT}'"


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
        # What the output says, and what is on no scale, is no verdict.
        ("qa", {}, QUOTE, {"reasoning": QUOTE, "value": None, "score": None}),
        ("pairwise_string", {}, QUOTE, {"reasoning": QUOTE, "value": None, "score": None}),
        ("score_string", {}, "Rating: [[0]]", {"reasoning": "Rating: [[0]]", "score": None}),
        ("trajectory", {}, "Good.\nScore: 9", {"reasoning": UNCLEAR, "score": None}),
    ],
)  # fmt: skip
def test_each_member_gives_langchains_keys_and_values(name, options, reply, result):
    llm = Scripted(reply)
    judge = load_evaluator(name, llm=llm, **options)
    fields = {**FIELDS, "prediction_b": "It is five.", "agent_trajectory": STEPS}
    fields |= {"reference": "four"} if judge.requires_reference else {}
    kind = {"trajectory": "agent_trajectory"}.get(name, "strings")
    method = f"evaluate_{'string_pairs' if 'pairwise' in name else kind}"
    blocking = getattr(judge, method)(**fields)
    awaited = asyncio.run(getattr(judge, f"a{method}")(**fields))
    assert blocking == awaited == judge.invoke(fields) == result
    parts = [OUTPUT, "2 + 2?"]
    parts += ["four"] * judge.requires_reference + ["It is five."] * ("pairwise" in name)
    assert all(text in llm.said for text in parts)
    assert ('add({"a":2}) gave: 4' in llm.said) is (name == "trajectory")


class Principle:
    """A constitutional principle of LangChain."""

    name, critique_request = "brief", "Is it brief?"


QUESTIONS = ours.CriteriaEvalChain.questions


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


ASKING = Fixed(RESULTS["yes"])
ASKING.needs = ("input",)
ALONE = {"prediction": "{}"}
LLM = {"llm": Scripted("Y")}


@pytest.mark.parametrize(
    ("judge", "fields", "message"),
    [
        (LangChainEvaluator(ASKING), ALONE, "Fixed requires an input string."),
        (load_evaluator("json_equality"), ALONE, "JsonEqualityEvaluator requires a reference str"),
        (load_evaluator("labeled_criteria", **LLM), FIELDS, "LabeledCriteriaEvalChain requires a"),
        (load_evaluator("pairwise_string", **LLM), FIELDS, "StringEvalChain requires prediction_b"),
        (load_evaluator("pairwise_string_distance"), FIELDS, "Evaluator requires prediction_b"),
        (load_evaluator("trajectory", **LLM), FIELDS, "EvalChain requires agent_trajectory"),
    ],
)
def test_what_is_needed_is_asked_for(judge, fields, message):
    assert issubclass(MissingFieldError, ValueError)
    with pytest.raises(MissingFieldError, match=message):
        judge.evaluate_strings(**fields)
    with pytest.raises(MissingFieldError, match=message):
        asyncio.run(judge.ainvoke(fields))


def test_a_reference_that_is_not_expected_is_warned_of():
    with pytest.warns(UserWarning, match="Ignoring reference in CriteriaEvalChain"):
        load_evaluator("criteria", **LLM).evaluate_strings(**FIELDS, reference="x")


template = prompts.PromptTemplate.from_template
chat = prompts.ChatPromptTemplate.from_messages
AS_JSON = 'Judge {output} as {{"a": 1}}. {question}'
ASKS = {"llm": Scripted(judgement()), "question": "Is it short?"}


@pytest.mark.parametrize(
    ("name", "prompt", "text"),
    [
        ("pass_fail", template(AS_JSON), 'as {"a": 1}. Is it short?'),
        ("pass_fail", chat([("system", "Hm."), ("human", AS_JSON)]), 'as {"a": 1}. Is it short?'),
        ("pass_fail", template("{{output}} {a} {{question}}", template_format="mustache"), "{a} Is it short?"),
        ("qa", template("{query}|{answer}|{result}"), f"2 + 2?|four|{OUTPUT}"),
    ],
)  # fmt: skip
def test_a_judges_prompt_may_be_langchains(name, prompt, text):
    options = {"qa": {"llm": Scripted("CORRECT")}}.get(name, ASKS)
    judge = load_evaluator(name, prompt=prompt, **options)
    assert judge.evaluate_strings(**FIELDS, reference="four")["score"] == 1
    assert text in options["llm"].said


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("json_equality", {"operator": 5, "parsing": "lenient"}, "operator"),
        ("json_edit_distance", {"strictness": 1}, "has no option 'strictness'; it has "),
        ("criteria", {}, "criteria needs the option llm"),
        *(("criteria", {**LLM, "criteria": wrong}, "criteri") for wrong in ("dept", {}, [], 5)),
        ("score_string", {**LLM, "normalise_by": 10}, "score_string has no option 'normalise_by'; did you mean 'normalize_by'"),
        ("pass_fail", {**ASKS, "prompt": chat([SystemMessage("{output}")])}, "no template of"),
        ("pass_fail", {**ASKS, "prompt": chat([prompts.MessagesPlaceholder("output")])}, "no template of"),
        ("pass_fail", {**ASKS, "prompt": template("{output}{tone}").partial(tone="kind")}, "no template of"),
        ("pass_fail", {**ASKS, "prompt": template("Judge {question}")}, "shows the judge nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded_is_refused(name, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        load_evaluator(name, **options)


def test_a_name_or_an_option_that_no_evaluator_has_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'json_match'"):
        load_evaluator("json_matc")
    with pytest.raises(InvalidOptionError, match=r"none of them has the option 'prasing'.*parsing"):
        ours.load_evaluators(["json_validity"], prasing="strict")


class Heard(BaseCallbackHandler):
    """Keeps what the chat model was told when it started."""

    def __init__(self):
        self.starts = []

    def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **kwargs):
        self.starts.append(("nightly" in tags, metadata["run"], messages[0][-1].content))


@pytest.mark.parametrize(
    "make",
    [
        lambda llm: LangChainEvaluator(Vote(PassFail(llm, "Is it short?"), 2)),
        lambda llm: load_evaluator("criteria", llm=llm),
    ],
)
def test_callbacks_tags_and_metadata_reach_the_chat_model(make):
    heard = Heard()
    judge = make(FakeListChatModel(responses=['{"explanation": "because", "verdict": "Pass"}\nY']))
    told = {"callbacks": [heard], "tags": ["nightly"], "metadata": {"run": 7}}
    judge.evaluate_strings(prediction="The text.", input="?", **told)
    asyncio.run(judge.aevaluate_strings(prediction="The text.", input="?", **told))
    chain = RunnableLambda(lambda text: {"prediction": AIMessage(text), "input": "?"}) | judge
    chain.invoke("The text.", told)
    assert len(heard.starts) >= 3
    assert {start[:2] for start in heard.starts} == {(True, 7)}
    assert all("The text." in text for *_, text in heard.starts)
