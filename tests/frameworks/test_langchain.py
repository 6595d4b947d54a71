"""LangChain's interface: result dicts by its names, what loads, arguments, chains, chat models."""

import asyncio
import copy
import json
import pickle
import subprocess
import sys
from types import SimpleNamespace

import pytest
from examples import DETERMINISTIC
from framework_cases import RESULTS, Fixed
from scripted import Scripted, judgement

pytest.importorskip("langchain_core")

from langchain_core import prompts
from langchain_core.agents import AgentAction
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import collect_runs

from llmeval_integrations import JsonEquality, JsonValidity, Result, Sample, StringDistance
from llmeval_integrations.core.errors import (
    InputError,
    InvalidOptionError,
    MissingFieldError,
    UnknownNameError,
)
from llmeval_integrations.frameworks import langchain as ours
from llmeval_integrations.frameworks.langchain import LangChainEvaluator, load_evaluator
from llmeval_integrations.frameworks.langchain.judges import CRITERIA
from llmeval_integrations.judges import PassFail, Vote


class Mine(ours.JsonEqualityEvaluator):
    """A subclass that overrides what LangChain's do."""

    def _evaluate_strings(self, **arguments):
        return {**super()._evaluate_strings(**arguments), "by": "me"}

    async def _aevaluate_strings(self, **arguments):
        return {**await super()._aevaluate_strings(**arguments), "by": "me"}

    def _parse_json(self, string):
        return super()._parse_json(string.replace("one", "1"))


class Blocking(ours.JsonValidityEvaluator):
    def _evaluate_strings(self, **arguments):
        return 5


class Heard(BaseCallbackHandler):
    """Keeps what the chat model was told when it started."""

    def __init__(self):
        self.starts = []

    def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **kwargs):
        self.starts.append(("nightly" in tags, metadata["run"], messages[0][-1].content))


def vote(llm):
    return LangChainEvaluator(Vote(PassFail(llm, "Is it short?"), 2))


def said(reasoning, *verdict):
    """Give a result: its reasoning, perhaps its value, and its score."""
    return dict(
        zip(("reasoning", *("value",) * (len(verdict) - 1), "score"), (reasoning, *verdict))
    )


NO_JSON = "Expecting value: line 1 column 1 (char 0)"
VALID, BROKEN = {"score": 1}, {"score": 0, "reasoning": NO_JSON}
AGE = '{"properties": {"age": {"type": "integer"}}}'
TWO = "<ValidationError: '1 is less than the minimum of 2'>"
EMBEDDINGS = DeterministicFakeEmbedding(size=64)
# A name, its options, prediction and reference, and the result of LangChain.
VALUES = [
    ("json_validity", {}, '{"name": "John", "age": 30}', None, VALID),
    ("json_equality", {}, '{"a": 1}', '{"a": 1}', {"score": True}),
    ("json_equality", {}, {"a": 1}, {"a": 2}, {"score": False}),
    ("json_equality", {}, "no", "2", said(NO_JSON, False)),
    ("json_equality", {"operator": lambda one, other: len(one) - len(other)}, "[2, 1]", "[1]", {"score": True}),
    ("json_edit_distance", {}, '{"a": 1, "b": 2}', '{"a": 1, "b": 3}', {"score": 0.07692307692307693}),
    ("json_edit_distance", {"string_distance": lambda output, _: len(output), "canonicalize": str}, "[1]", "[1,2]", {"score": 3.0}),
    ("json_schema", {}, '{"age": 30}', AGE, {"score": True}),
    ("json_schema_validation", {"schema": {"minimum": 2}}, "1", None, said(TWO, False)),
    ("json_match", {}, '{"a": 1}', '{"a": 2}', said("/a 1, expected 2", 0.0)),
    ("length_penalty", {"min_length": 3}, "ab", None, said("Too short: 2 < 3", -0.01)),
    ("exact_match", {}, "a", "b", {"score": 0}),
    ("string_distance", {"distance": "levenshtein"}, "ab", "ac", {"score": 0.5}),
    ("pairwise_string_distance", {"distance": "levenshtein"}, "abcd", "abce", {"score": 0.25}),
    ("pairwise_string_distance", {}, None, "x", {"score": 1.0}),
    ("pairwise_string_distance", {}, "x", None, {"score": 1.0}),
    ("embedding_distance", {"embeddings": EMBEDDINGS}, "a", "a", {"score": 0.0}),
    ("pairwise_embedding_distance", {"embeddings": EMBEDDINGS}, "a", "a", {"score": 0.0}),
    ("embedding_distance", {"embeddings": list}, "a", "b", said("The embeddings failed: could not convert string to float: 'a'", None)),
]  # fmt: skip

OUTPUT = "Mine is GRADE: INCORRECT, [[B]]"
FIELDS = {"prediction": OUTPUT, "input": "2 + 2?"}
STEPS = [(AgentAction("add", {"a": 2}, ""), "4")]
STATE = {"messages": [AIMessage("")], "structured_response": {"is": 5}}
MORE = {"reference": "four", "prediction_b": STATE, "agent_trajectory": STEPS}
TEXT = "He is right.\nGRADE: CORRECT"
UNCLEAR = "Unreadable judgement, its verdict is not clear: 'Score: 9': 'Good.\\nScore: 9'"
NEITHER = "Unreadable judgement, it has no verdict of its own: 'N/A'"
QUOTE = f"It says: '{OUTPUT}'"
QUESTIONS = ours.CriteriaEvalChain.questions
template, chat = prompts.PromptTemplate.from_template, prompts.ChatPromptTemplate.from_messages
AS_JSON = 'Judge {output} as {{"a": 1}}. {question}'
ASKS = {"question": "Is it short?"}
TRAJECTORY = chat(
    [
        SystemMessage("Rate {{it}}."),
        ("human", "|{question}|{answer}|{agent_trajectory}|{reference}"),
    ]
)
PASS = (json.dumps(judgement()), said("because", "Pass", 1.0))
PRINCIPLE = SimpleNamespace(name="brief", critique_request="Is it brief?")
# A name, its options, the model's reply, the result, and what the prompt has.
MEMBERS = [
    ("qa", {}, TEXT, said(TEXT, "CORRECT", 1), ["2 + 2?", OUTPUT, "four"]),
    ("cot_qa", {}, "No.\nINCORRECT", said("No.\nINCORRECT", "INCORRECT", 0), ["2 + 2?", OUTPUT, "four"]),
    ("context_qa", {}, "neither", said("neither", None, None), ["2 + 2?", OUTPUT, "four"]),
    ("criteria", {}, "Short.\nY", said("Short.", "Y", 1), [OUTPUT, QUESTIONS["helpfulness"]]),
    ("labeled_criteria", {"criteria": "depth"}, "N", said("", "N", 0), ["four", QUESTIONS["depth"]]),
    # Some models write the word in place of its letter.
    ("criteria", {}, "No.", said("", "N", 0), []),
    ("criteria", {}, "Yes, it helps.", said("it helps.", "Y", 1), []),
    ("criteria", {}, "It helps.\n\n**Yes**", said("It helps.", "Y", 1), []),
    ("score_string", {}, "Fine. Rating: [[9]]", said("Fine. Rating: [[9]]", 9), ["2 + 2?", OUTPUT, CRITERIA["depth"]]),
    ("labeled_score_string", {"normalize_by": 10}, "[[9]]", said("[[9]]", 0.9), ["four"]),
    ("pairwise_string", {}, "Better.\n[[A]]", said("Better.\n[[A]]", "A", 1), ["2 + 2?", OUTPUT, '{"is":5}']),
    ("labeled_pairwise_string", {}, "[[B]]", said("[[B]]", "B", 0), ['B:\n<prediction_b MARK>\n{"is":5}\n</', "four"]),
    ("pairwise_string", {}, "The same. [[C]]", said("The same. [[C]]", None, 0.5), []),
    ("trajectory", {}, "Good.\nScore: 4", {"reasoning": "Good.", "score": 0.75}, ['add({"a":2}) gave: 4']),
    # What the output says, and what is on no scale, is no verdict.
    ("qa", {}, QUOTE, said(QUOTE, None, None), []),
    ("pairwise_string", {}, QUOTE, said(QUOTE, None, None), []),
    ("score_string", {}, "Rating: [[0]]", said("Rating: [[0]]", None), []),
    ("trajectory", {}, "Good.\nScore: 9", said(UNCLEAR, None), []),
    ("criteria", {}, "N/A", said(NEITHER, None, None), []),
    ("criteria", {}, "It says:\nYes", said(NEITHER.replace("N/A", "It says:\\nYes"), None, None), []),
    # Criteria are described, principles, or several.
    ("criteria", {"criteria": {"mine": "Is it mine?"}}, "Y", said("", "Y", 1), ["Is it mine?"]),
    ("criteria", {"criteria": PRINCIPLE}, "Y", said("", "Y", 1), ["brief: Is it brief?"]),
    ("criteria", {"criteria": ["depth", {"mine": "?"}]}, "Y", said("", "Y", 1), ["mine: ?", "depth: "]),
    # A prompt may be LangChain's.
    ("qa", {"prompt": template("{query}|{answer}|{result}")}, TEXT, said(TEXT, "CORRECT", 1), ["2 + 2?|four|<result MARK>\n", f"\n{OUTPUT}\n</result MARK>"]),
    ("trajectory", {"prompt": TRAJECTORY}, "Score: 5", {"reasoning": "", "score": 1.0}, [f"Rate {{{{it}}}}.\n|2 + 2?|<output MARK>\n{OUTPUT}\n</output MARK>|<agent_trajectory MARK>\n1. add", "four"]),
    ("pass_fail", {**ASKS, "prompt": template(AS_JSON + "{tone}").partial(tone=" Now!")}, *PASS, ['as {"a": 1}. Is it short? Now!']),
    ("pass_fail", {**ASKS, "prompt": chat([("system", "Hm."), ("human", AS_JSON)])}, *PASS, ['as {"a": 1}. Is it']),
    ("pass_fail", {**ASKS, "prompt": template("{{output}} {a} {{question}}", template_format="mustache")}, *PASS, ["{a} Is it short?"]),
]  # fmt: skip
CASES = [
    *(
        (*one, {"prediction": first, "reference": other, "prediction_b": other}, "", result, [])
        for *one, first, other, result in VALUES
    ),
    *((name, options, {**FIELDS, **MORE}, *rest) for name, options, *rest in MEMBERS),
]
_OWN_NAMES = ("pairwise_string", "labeled_pairwise_string", "trajectory")
ASKING = Fixed(RESULTS["yes"])
ASKING.needs = ("input",)
ALONE = {"prediction": "{}"}
LLM = {"llm": Scripted("Y")}
NEEDS = [
    (LangChainEvaluator(ASKING), ALONE, "Fixed requires an input string."),
    (load_evaluator("json_equality"), ALONE, "JsonEqualityEvaluator requires a reference str"),
    (load_evaluator("labeled_criteria", **LLM), FIELDS, "LabeledCriteriaEvalChain requires a"),
    (load_evaluator("pairwise_string", **LLM), FIELDS, "StringEvalChain requires prediction_b"),
    (load_evaluator("pairwise_string_distance"), FIELDS, "Evaluator requires prediction_b"),
    (load_evaluator("trajectory", **LLM), FIELDS, "EvalChain requires agent_trajectory"),
]
REFUSED = [
    ("json_matc", {}, "did you mean 'json_match'"),
    *((f"{kind}embedding_distance", {}, "embeddings=None is not") for kind in ("", "pairwise_")),
    ("score_strin", {}, "did you mean 'score_string'"),
    ("json_equality", {"operator": 5, "parsing": "lenient"}, "operator"),
    ("json_edit_distance", {"strictness": 1}, "has no option 'strictness'; it has "),
    ("criteria", {}, "criteria needs the option llm"),
    *(("criteria", {**LLM, "criteria": wrong}, "criteri") for wrong in ("dept", {}, [], 5)),
    ("score_string", {**LLM, "normalise_by": 10}, "score_string has no option 'normalise_by'; did you mean 'normalize_by'"),
    *(("score_string", {**LLM, "normalize_by": wrong}, "finite number, at least 1") for wrong in (0, "10")),
    ("pass_fail", {**LLM, **ASKS, "prompt": chat([SystemMessage("{output}")])}, "shows the judge nothing"),
    ("pass_fail", {**LLM, **ASKS, "prompt": chat([prompts.MessagesPlaceholder("output")])}, "a variable is not a text"),
    ("pass_fail", {**LLM, **ASKS, "prompt": template("Judge {question}")}, "shows the judge nothing"),
    ("pass_fail", {**LLM, **ASKS, "prompt": template("{{#output}}{{a}}{{/output}}", template_format="mustache")}, "does not show 'output' as a text"),
]  # fmt: skip
BLOCKS = [{"type": "text", "text": '{"a"'}, {"type": "reasoning", "text": "no"}, ": 1}"]
HANDED_ON = [
    (AIMessage(BLOCKS), VALID),
    ([], VALID),
    (None, BROKEN),
    ({"output": "x", "messages": 1, "reference": 2}, VALID),
]
CORE_ALONE = """
from langchain_core.language_models import FakeListChatModel
equal = load_evaluator("json_equality")
print([kind for kind in type(equal).__mro__ if kind.__module__.startswith("langchain_classic")])
print((FakeListChatModel(responses=["no"]) | load_evaluator("json_validity")).invoke("go"))
criteria = load_evaluator("criteria", llm=FakeListChatModel(responses=["fine\\nY"]))
print(criteria.evaluate_strings(prediction="a", input="b"))
"""
OLD = "import langchain.evaluation as old; print(issubclass(QAEvalChain, old.StringEvaluator))"
PRINTED = ["[]", str(BROKEN), "{'reasoning': 'fine', 'value': 'Y', 'score': 1}"]
PACKAGES = [
    ("langchain_core", ["langchain_classic", "langchain"], CORE_ALONE, PRINTED),
    ("langchain.evaluation", ["langchain_classic"], OLD, ["True"]),  # of LangChain before 1.0
]


@pytest.mark.filterwarnings("ignore:Ignoring reference")
@pytest.mark.parametrize(("name", "options", "fields", "reply", "result", "shown"), CASES)
def test_each_name_gives_langchains_keys_and_values(name, options, fields, reply, result, shown):
    llm = Scripted(reply)
    evaluator = load_evaluator(name, llm=llm, **options)
    methods = [f"evaluate_{kind}" for kind in ("string_pairs", "agent_trajectory", "strings")]
    method = next(each for each in methods if hasattr(evaluator, each))
    found = [getattr(evaluator, method)(**fields), evaluator.invoke(fields)]
    found.append(asyncio.run(getattr(evaluator, f"a{method}")(**fields)))
    assert [repr(sorted(each.items())) for each in found] == [repr(sorted(result.items()))] * 3
    prompt = llm.said.replace(llm.requests[-1].fence, "MARK") if shown else ""
    assert all(text in prompt for text in shown)


@pytest.mark.parametrize(("judge", "fields", "message"), NEEDS)
def test_what_is_needed_is_asked_for_and_what_is_not_is_warned_of(judge, fields, message):
    assert issubclass(MissingFieldError, ValueError)
    with pytest.raises(MissingFieldError, match=message):
        judge.evaluate_strings(**fields)
    with pytest.raises(MissingFieldError, match=message):
        asyncio.run(judge.ainvoke(fields))
    with pytest.raises(InputError, match="is no pair of an AgentAction and its result"):
        load_evaluator("trajectory", **LLM).invoke({**FIELDS, "agent_trajectory": [AIMessage("4")]})
    with pytest.warns(UserWarning, match="Ignoring reference in CriteriaEvalChain"):
        load_evaluator("criteria", **LLM).evaluate_strings(**FIELDS, reference="x")


@pytest.mark.parametrize(("name", "options", "message"), REFUSED)
def test_what_cannot_be_loaded_is_refused(name, options, message):
    with pytest.raises((InvalidOptionError, UnknownNameError), match=message):
        load_evaluator(name, **options)


@pytest.mark.parametrize("make", [vote, ours.CriteriaEvalChain])
def test_callbacks_tags_and_metadata_reach_the_chat_model(make):
    heard = Heard()
    judge = make(FakeListChatModel(responses=['{"explanation": "because", "verdict": "Pass"}\nY']))
    told = {"callbacks": [heard], "tags": ["nightly"], "metadata": {"run": 7}}
    fields = {"prediction": AIMessage("The text."), "input": "?"}
    judge.evaluate_strings(**fields, **told)
    asyncio.run(judge.aevaluate_strings(**fields, **told))
    (RunnableLambda(lambda _: fields) | judge).invoke("go", told)
    assert len(heard.starts) >= 3
    assert {start[:2] for start in heard.starts} == {(True, 7)}
    assert all("The text." in text for *_, text in heard.starts)


def test_further_arguments_reach_the_evaluator():
    asked = Fixed(RESULTS["unscored"])
    given = {"contexts": ["c"], "schema": {}, "variables": None, "id": 7, "group": "a"}
    wrapped = ours.LangChainEvaluator(asked)
    result = wrapped.evaluate_strings(prediction="x", input="?", **given, callbacks=[], tags=["t"])
    assert result == {"score": None, "reasoning": "cannot tell"}
    assert wrapped.invoke({"prediction": "x", "input": "?", **given}) == result
    assert asked.samples == [Sample("x", input="?", contexts=["c"], schema={}, id=7, group="a")] * 2


def test_a_subclass_may_override_what_langchains_subclasses_do():
    fields = {"prediction": "one", "reference": "1"}
    expected = {"score": True, "by": "me"}
    assert Mine().evaluate_strings(**fields) == Mine().invoke(fields) == expected
    assert asyncio.run(Mine().aevaluate_strings(**fields)) == expected
    assert asyncio.run(Blocking().aevaluate_strings(**fields)) == 5
    own = LangChainEvaluator(Fixed(Result(0.0, False, None, "Too rude", {"message": "mine"})))
    assert own.evaluate_strings(prediction="x") == said("Too rude", 0.0)


@pytest.mark.parametrize(("handed_on", "expected"), HANDED_ON)
def test_what_a_chain_hands_on_is_the_output_itself(handed_on, expected):
    assert load_evaluator("json_validity").invoke(handed_on) == expected


def test_a_trace_shows_the_evaluation_by_its_name():
    chain = FakeListChatModel(responses=["{}"]) | load_evaluator("json_object")
    with collect_runs() as collector:
        chain.invoke("go", {"tags": ["nightly"]})
        asyncio.run(chain.ainvoke("go", {"tags": ["nightly"]}))
    for run in (root.child_runs[-1] for root in collector.traced_runs):
        assert (run.name, run.outputs, run.error) == ("json_object", {"score": 1}, None)
        assert "nightly" in run.tags


def test_every_evaluator_loads_by_its_name_and_can_be_copied():
    options = {
        "python_type": {"expected_type": "str"},
        "weighted_sum": {"parts": {JsonEquality(): 1}},
        "embedding_distance": {"embeddings": list},
        "json_schema": {"schema": {}},
    }
    for name in DETERMINISTIC:
        evaluator = load_evaluator(name, **options.get(name, {}))
        first = name.partition("_distance")[0].removeprefix("string")  # named by its distance
        assert evaluator.evaluation_name.startswith(first)
        for one in (pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)):  # noqa: S301
            assert (type(one), one.evaluator) == (type(evaluator), evaluator.evaluator)
            assert one.evaluation_name == evaluator.evaluation_name
    assert not load_evaluator("json_schema", schema={}).requires_reference


def test_every_member_of_evaluator_type_has_langchains_name_and_needs():
    evaluation = pytest.importorskip("langchain_classic.evaluation")
    names = ("evaluation_name", "requires_reference", "requires_input")
    for name in evaluation.EvaluatorType:
        options = {"embeddings": EMBEDDINGS} if "embedding" in name.value else {}
        options["llm"] = FakeListChatModel(responses=["Y"])
        mine, theirs = (one.load_evaluator(name, **options) for one in (ours, evaluation))
        assert type(mine).__module__.startswith("llmeval_integrations.")
        differ = [n for n in names if getattr(theirs, n, None) != getattr(mine, n, None)]
        # Its pairs and agents have no name.
        assert differ == ["evaluation_name"] * (name in _OWN_NAMES)
    distance = evaluation.StringDistance.LEVENSHTEIN
    loaded = load_evaluator(evaluation.EvaluatorType.STRING_DISTANCE, distance=distance)
    assert loaded.evaluator == StringDistance("levenshtein")
    assert "Enum" not in repr(loaded)
    assert isinstance(loaded, evaluation.StringEvaluator)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "manhattan", "chebyshev", "hamming"])
def test_meanings_are_as_far_from_each_other_as_in_langchain(metric):
    module = "langchain_classic.evaluation.embedding_distance.base"
    base, numpy = map(pytest.importorskip, (module, "numpy"))
    arrays = [numpy.array([one]) for one in EMBEDDINGS.embed_documents(["Rome", "Oslo"])]
    theirs = numpy.squeeze(getattr(base.EmbeddingDistanceEvalChain, f"_{metric}_distance")(*arrays))
    for name in ("embedding_distance", "pairwise_embedding_distance"):
        mine = load_evaluator(name, embeddings=EMBEDDINGS, distance_metric=metric)
        found = mine.invoke({"prediction": "Rome", "prediction_b": "Oslo", "reference": "Oslo"})
        assert found["score"] == pytest.approx(float(theirs))
        assert mine.evaluation_name == name.replace("distance", f"{metric}_distance")


def test_several_evaluators_load_with_what_each_takes():
    validity, equality, criteria, rating = ours.load_evaluators(
        ["json_validity", "json_equality", "criteria", "score_string"],
        config={"json_equality": {"list_order": "any", "parsing": "strict"}},
        llm=Scripted("because\nY"),
        parsing="lenient",
        criteria=["depth", {"mine": "?"}],
    )
    for options in ({"prasing": "strict"}, {"config": {"json_valid": {}}}):
        with pytest.raises(InvalidOptionError, match="has no option"):
            ours.load_evaluators(["json_validity"], **options)
    assert validity.evaluator == JsonValidity(parsing="lenient")
    assert equality.evaluator == JsonEquality(list_order="any", parsing="strict")
    names = [criteria.evaluation_name, rating.evaluation_name]
    assert names == ["depth-mine", "score_string:depth-mine"]


@pytest.mark.parametrize(("needed", "absent", "code", "printed"), PACKAGES)
def test_core_alone_is_enough_and_any_evaluation_package_is_the_base(needed, absent, code, printed):
    pytest.importorskip(needed)
    start = f"import sys\nsys.modules |= dict.fromkeys({absent})\n"
    start += "from llmeval_integrations.frameworks.langchain import *\n"
    command = [sys.executable, "-c", start + code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == printed
