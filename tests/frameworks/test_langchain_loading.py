"""Building evaluators by name, ours and LangChain's, here and by LangChain's own loader."""

import pickle
import re
from importlib.util import find_spec

import pytest
from examples import DETERMINISTIC

pytest.importorskip("langchain_core")

from llmeval_integrations import (
    EvalError,
    ExactMatch,
    InvalidOptionError,
    JsonEquality,
    JsonMatch,
    JsonValidity,
    MissingDependencyError,
    StringDistance,
    UnknownNameError,
    list_evaluators,
)
from llmeval_integrations.core.catalog import evaluator_class
from llmeval_integrations.frameworks.langchain import (
    JsonEditDistanceEvaluator,
    JsonEqualityEvaluator,
    JsonSchemaEvaluator,
    JsonValidityEvaluator,
    LangChainEvaluator,
    load_evaluator,
    load_evaluators,
    register,
)
from llmeval_integrations.frameworks.langchain.loading import KINDS, THEIRS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("json_validity", JsonValidityEvaluator),
        ("json_equality", JsonEqualityEvaluator),
        ("json_edit_distance", JsonEditDistanceEvaluator),
        ("json_schema", JsonSchemaEvaluator),
        ("json_schema_validation", JsonSchemaEvaluator),
        ("json_match", LangChainEvaluator),
        ("regex_match", LangChainEvaluator),
    ],
)
def test_our_names_come_first(name, kind):
    assert type(load_evaluator(name, llm=object())) is kind


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
    loaded = load_evaluator(evaluation.EvaluatorType.JSON_EQUALITY)
    assert type(loaded) is JsonEqualityEvaluator
    distance = load_evaluator(
        evaluation.EvaluatorType.STRING_DISTANCE, distance=evaluation.StringDistance.LEVENSHTEIN
    )
    assert distance.evaluator == StringDistance("levenshtein")
    assert repr(distance).count("Enum") == 0
    pattern = load_evaluator("regex_match", flags=re.IGNORECASE)
    assert pattern.evaluate_strings(prediction="ABC", reference="a.c") == {"score": 1}


def test_several_evaluators_load_with_options_for_each_and_for_all():
    validity, equality = load_evaluators(
        ["json_validity", "json_equality"],
        config={"json_equality": {"list_order": "any", "parsing": "strict"}},
        llm=None,
        parsing="lenient",
    )
    assert validity.evaluator == JsonValidity(parsing="lenient")
    assert equality.evaluator == JsonEquality(list_order="any", parsing="strict")


def test_other_names_are_langchains():
    evaluation = pytest.importorskip("langchain_classic.evaluation")
    pytest.importorskip("langchain_openai")  # LangChain imports it even if it has a model
    from langchain_core.language_models import FakeListChatModel

    pairwise = load_evaluator("pairwise_string", llm=FakeListChatModel(responses=["[[A]]"]))
    assert isinstance(pairwise, evaluation.PairwiseStringEvalChain)


def test_a_model_reaches_the_evaluators_of_langchain_that_ask_one():
    evaluation = pytest.importorskip("langchain_classic.evaluation")
    pytest.importorskip("langchain_openai")  # LangChain imports it even if it has a model
    from langchain_core.language_models import FakeListChatModel

    model = FakeListChatModel(responses=["It is short.\nY"])
    judge = load_evaluator("criteria", llm=model, criteria="conciseness")
    assert isinstance(judge, evaluation.CriteriaEvalChain)
    assert judge.evaluate_strings(prediction="4", input="2+2?")["score"] == 1


def test_an_unknown_name_is_an_error_that_lists_the_names():
    with pytest.raises(UnknownNameError, match="did you mean 'json_match'") as raised:
        load_evaluator("json_matc")
    for name in list_evaluators():
        assert name in str(raised.value)
    if find_spec("langchain_classic"):
        assert "labeled_criteria" in str(raised.value)


def test_the_names_that_langchain_alone_has_are_known():
    evaluation = pytest.importorskip("langchain_classic.evaluation")
    names = {str(kind.value) for kind in evaluation.EvaluatorType}
    known = {*list_evaluators(), *KINDS}
    assert set(THEIRS) == names - known
    for nearest in filter(None, THEIRS.values()):
        name, _, options = nearest.rstrip(")").partition("(")
        fields = evaluator_class(name).__dataclass_fields__
        assert {option.partition("=")[0] for option in options.split(", ") if option} <= set(fields)


@pytest.fixture
def langchains_map(monkeypatch):
    loading = pytest.importorskip("langchain_classic.evaluation.loading")
    monkeypatch.setattr(loading, "_EVALUATOR_MAP", dict(loading._EVALUATOR_MAP))
    return loading


def test_our_classes_are_subclasses_of_langchains(langchains_map):
    assert isinstance(LangChainEvaluator(JsonMatch()), langchains_map.StringEvaluator)
    assert issubclass(JsonValidityEvaluator, langchains_map.StringEvaluator)


def test_registering_adds_our_names_to_langchains_own_loader(langchains_map):
    before = dict(langchains_map._EVALUATOR_MAP)
    learned = register()
    assert "json_match" in learned
    assert not set(learned) & {str(name.value) for name in before}
    assert {name: langchains_map._EVALUATOR_MAP[name] for name in before} == before
    loaded = langchains_map.load_evaluator("json_match", ignore_extra_keys=True)
    assert loaded.evaluator == JsonMatch(ignore_extra_keys=True)
    both = langchains_map.load_evaluators(
        ["json_match", "length_penalty"], config={"length_penalty": {"max_length": 5, "min_length": 0}}
    )  # fmt: skip
    assert [each.evaluation_name for each in both] == ["json_match", "length_penalty"]
    assert repr(pickle.loads(pickle.dumps(loaded))) == repr(loaded)  # noqa: S301
    assert type(langchains_map.load_evaluator("json_schema")) is JsonSchemaEvaluator
    with pytest.raises(InvalidOptionError):
        langchains_map.load_evaluator("json_match", nonsense=1)
    with pytest.raises(
        InvalidOptionError, match=r"needs the option client, .* keeps llm to itself"
    ):
        langchains_map.load_evaluator("faithfulness", llm=object())
    assert register() == []


def test_registering_replaces_langchains_own_names_only_when_asked(langchains_map):
    names = langchains_map.EvaluatorType
    assert type(langchains_map.load_evaluator(names.JSON_VALIDITY)) is not JsonValidityEvaluator
    assert set(register(replace=True)) >= {"json_validity", "json_schema_validation", "exact_match"}
    assert type(langchains_map.load_evaluator(names.JSON_VALIDITY)) is JsonValidityEvaluator
    assert langchains_map.load_evaluator(names.EXACT_MATCH).evaluator == ExactMatch()
    assert langchains_map._EVALUATOR_MAP[names.CRITERIA].__name__ == "CriteriaEvalChain"


def test_registering_where_there_is_no_map_is_a_clear_error(langchains_map, monkeypatch):
    monkeypatch.delattr(langchains_map, "_EVALUATOR_MAP")
    for error in (MissingDependencyError, EvalError, ImportError):
        with pytest.raises(error, match="_EVALUATOR_MAP to register in; run: pip install"):
            register()


def test_the_line_that_imports_the_names_too_can_be_changed():
    from llmeval_integrations.frameworks.langchain import EvaluatorType, load_evaluator

    evaluator = load_evaluator(EvaluatorType.JSON_VALIDITY)
    assert evaluator.evaluate_strings(prediction="{}") == {"score": 1}
    with pytest.raises(ValueError, match="json_validty"):
        load_evaluator("json_validty")


def test_a_name_alone_is_no_list_of_names():
    from llmeval_integrations.frameworks.langchain import load_evaluators

    with pytest.raises(ValueError, match="'json_validity' alone"):
        load_evaluators("json_validity")
