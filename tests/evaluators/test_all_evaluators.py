"""What holds for every evaluator: no input crashes it, options are checked, the ways to call agree."""

import collections
import dataclasses
import datetime as dt
import inspect
import math
import operator
import pickle
import re
from decimal import Decimal
from functools import partial
from typing import Protocol, TypedDict, get_type_hints

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from json_strategies import broken_texts, clashing, documents, nested
from pace import at_most

import llmeval_integrations
from llmeval_integrations import (
    EmbeddingDistance,
    EvalError,
    Evaluator,
    ExactMatch,
    InvalidOptionError,
    JsonEditDistance,
    JsonEquality,
    JsonFields,
    JsonGrounded,
    JsonMatch,
    JsonObject,
    JsonSchema,
    JsonSimilarity,
    JsonValidity,
    LengthPenalty,
    MissingFieldError,
    NgramRepetitionPenalty,
    PythonType,
    ReasoningFormat,
    ReasoningToolCallFormat,
    RegexMatch,
    Result,
    Retrieval,
    Sample,
    StringDistance,
    ToolCalls,
    ToolCallSchema,
    WeightedSum,
    evaluate,
)
from llmeval_integrations.core.quote import make_printable
from llmeval_integrations.evaluators.json_evaluator import share

PUBLIC = {name: getattr(llmeval_integrations, name) for name in llmeval_integrations.__all__}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TOOLS = [{"name": "a", "parameters": {**SCHEMA, "required": []}}]
PARSINGS = ["strict", "markdown", "lenient"]

COMPARING = [
    ExactMatch(),
    ExactMatch(ignore_case=True, ignore_punctuation=True, ignore_numbers=True),
    StringDistance(),
    StringDistance("damerau_levenshtein", normalize_score=False),
    *(JsonEquality(parsing=parsing) for parsing in PARSINGS),
    JsonEquality(operator=operator.eq),
    JsonEquality(list_order="any"),
    JsonEquality(list_order="top_level_any"),
    *(JsonEditDistance(parsing=parsing) for parsing in PARSINGS),
    *(JsonMatch(parsing=parsing) for parsing in PARSINGS),
    *(JsonFields(parsing=parsing) for parsing in PARSINGS),
    JsonFields(schema=SCHEMA, fields={"": {"order": "any_order"}}, defaults={"coerce": True}),
    JsonFields(nulls="values", empty="values"),
    *(JsonSimilarity(parsing=parsing) for parsing in PARSINGS),
    JsonMatch(strict_order=False),
    JsonMatch(strict_order=False, ignore_extra_keys=True),
    *(ToolCalls(parsing=parsing) for parsing in PARSINGS),
    ToolCalls(TOOLS, call_order="strict", arguments="subset"),
    ToolCalls(TOOLS, before=[("a", 0)], alternatives="listed"),
    ToolCalls(
        TOOLS, fields={"*": {"coerce": True}}, defaults={"order": "any_order"}, score="leaves"
    ),
]
FROM_REFERENCE = [JsonSchema(), JsonSchema(check_formats=True, draft="7"), RegexMatch()]
GROUNDED = [
    *(JsonGrounded(parsing=parsing) for parsing in PARSINGS),
    JsonGrounded("contexts", SCHEMA, {"/a": {"derived": True}}, common=[1, "x"], threshold=0.5),
]
ALONE = [
    WeightedSum({JsonValidity(): 1, LengthPenalty(): 0.5}),
    *(JsonValidity(parsing) for parsing in PARSINGS),
    *(JsonObject(parsing) for parsing in PARSINGS),
    *(JsonSchema(SCHEMA, parsing=parsing) for parsing in PARSINGS),
    PythonType("dict"),
    PythonType(("dict", "list", "str|int")),
    LengthPenalty(),
    NgramRepetitionPenalty(),
    NgramRepetitionPenalty(n=1, use_soft_penalty=True, analyze_scope="thought"),
    ReasoningFormat(),
    ReasoningToolCallFormat(),
    RegexMatch("a", flags=re.IGNORECASE, where="search"),
    *(ToolCallSchema(TOOLS, parsing=parsing) for parsing in PARSINGS),
]
EVERY = [*ALONE, *COMPARING, *FROM_REFERENCE, *GROUNDED]
every_evaluator = pytest.mark.parametrize("evaluator", EVERY, ids=repr)


def sample_for(evaluator, output):
    """Make a sample with whatever the evaluator needs."""
    if isinstance(evaluator, RegexMatch):
        return Sample(output, "a.*b")
    if isinstance(evaluator, JsonSchema):
        return Sample(output, SCHEMA)
    if isinstance(evaluator, ToolCalls):
        return Sample(output, '[{"name": "a"}]')
    if isinstance(evaluator, JsonGrounded):
        return Sample(output, input="a 1", contexts=["a", "1"])
    return Sample(output, '{"a": 1}')


class Text(str):
    __slots__ = ()


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no repr")

    __str__ = __repr__


class Dumping:
    """Looks like a Pydantic model, and is none."""

    def model_dump(self, mode):
        raise TypeError(mode)


def holding_itself():
    value = []
    value.append(value)
    return value


ODD = {
    "object": object(),
    "set": {1, 2},
    "date": dt.date(2024, 2, 29),
    "bytes": b'{"a": 1}',
    "None": None,
    "nan": math.nan,
    "Decimal": Decimal("1.50"),
    "Decimal NaN": Decimal("NaN"),
    "5,000 digits": 10**5000 + 1,
    "text of 5,000 digits in a list": "[%s]" % ("7" * 5_000),
    "number as key": {1: 2},
    "100,000 objects": nested(100_000, 1, "object"),
    "holds itself": holding_itself(),
    "lone surrogate": "\ud800",
    "escaped lone surrogate": '{"a": "\\udfff"}',
    "lone surrogate in a key": {"\ud800": 1},
    "no repr in a list": [Unprintable()],
    "no dump": Dumping(),
    "a class": dict,
    "kind of text, broken": Text('{"a": 1'),
    "named tuple": collections.namedtuple("Point", "x y")(1, 2),  # noqa: PYI024
    "null character": "\0",
    "byte order mark": '\ufeff{"a": 1}',
    "end of text token": "<|endoftext|>",
    "Han": "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生",
    "MISSING": llmeval_integrations.MISSING,
}


@every_evaluator
def test_any_output_gets_a_score_and_what_does_not_pass_says_why(evaluator):
    for kind, output in ODD.items():
        result = evaluator.evaluate(sample_for(evaluator, output))
        assert isinstance(result, Result)
        if not result.scored:  # or nothing is to be penalized or looked for
            assert result.label.endswith(("open", "empty", "too_deep")), kind
            continue
        assert type(result.score) is float, kind
        assert math.isfinite(result.score), kind
        assert isinstance(result.passed, bool), kind
        assert result.passed or result.reason or result.label, kind


@pytest.mark.parametrize("evaluator", [*COMPARING, *FROM_REFERENCE], ids=repr)
def test_any_reference_gets_a_score_or_an_error_with_a_name(evaluator):
    for kind, reference in ODD.items():
        try:
            result = evaluator.evaluate(Sample('{"a": 1}', reference))
        except EvalError as error:
            assert 0 < len(str(error)) < 2_000, kind  # noqa: PT017
        else:
            assert result.label == "too_deep" or math.isfinite(result.score), kind


texts = (
    broken_texts
    | st.text(max_size=20)
    | st.sampled_from(["<think>a</think><answer>b</answer>", "[a-z]+"])
)
samples = st.builds(Sample, texts | documents | clashing, reference=texts | documents | clashing)


def outcome(call, *arguments):
    """Give the result, or what is raised on purpose; anything else is a failure."""
    try:
        return call(*arguments)
    except (EvalError, AssertionError) as error:
        return type(error), str(error)


def await_without_loop(coroutine):
    """Run a coroutine that never waits, without a loop: it must not need one."""
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)
    return stop.value.value


@every_evaluator
@settings(max_examples=25, deadline=None)
@given(samples)
def test_all_ways_to_call_agree(evaluator, sample):
    expected = outcome(evaluator.evaluate, sample)
    fields = {"output": sample.output, "reference": sample.reference}
    assert outcome(evaluator.evaluate, fields) == expected
    assert outcome(evaluator, sample.output, sample.reference) == expected
    assert outcome(await_without_loop, evaluator.aevaluate(sample)) == expected
    many = outcome(evaluator.evaluate_many, [sample, fields])
    assert many == ([expected, expected] if isinstance(expected, Result) else expected)
    if isinstance(expected, Result) and not expected.passed:
        verb = "failed" if expected.scored else "unscored"
        reason = make_printable(expected.reason or f"score {expected.score}")
        expected = AssertionError, f"{verb}: {reason}"
    assert outcome(evaluator.assert_passes, sample.output, sample.reference) == expected


# --- evaluators of a run, which read a sample's texts once ----------------------------------------


@settings(max_examples=50, deadline=None)
@given(samples)
@example(Sample('{"a": 1', '{"a": 1}'))
@example(Sample("[NaN]", "[NaN]"))
@example(Sample("[1e9999999999999999999]", "[1E9999999999999999999]"))
def test_what_is_read_together_is_judged_as_by_itself(sample):
    shared, plain = (Sample(sample.output, sample.reference) for _ in range(2))
    share([shared])
    for _ in range(2):  # nobody has changed what the others read
        for evaluator in EVERY:
            alone = Sample(sample.output, sample.reference)
            assert outcome(evaluator.evaluate, shared) == outcome(evaluator.evaluate, alone)
    assert (shared, repr(shared)) == (plain, repr(plain))


class Counted:
    """A model's value that counts how often it is read."""

    def __init__(self, value):
        self.value, self.read = value, 0

    def model_dump(self, mode):
        self.read += 1
        return self.value


def test_a_run_reads_output_and_reference_once():
    output, reference = Counted({"a": 1}), Counted({"a": 2})
    evaluators = [JsonObject(parsing="markdown"), JsonMatch(), JsonSchema(SCHEMA), JsonFields()]
    evaluate([Sample(output, reference)], evaluators)
    assert (output.read, reference.read) == (1, 1)


def test_an_output_that_cannot_be_compared_with_a_text_is_not_json():
    run = evaluate([Sample(np.array([1, 2]), "[1, 2]")], [JsonFields(), JsonMatch()])
    assert [(row.score, row.label) for row in run.rows] == [(0.0, "not_json")] * 2


# --- texts that are deep or long -----------------------------------------------------------------

LEVELS = (200, 201, 100_000)
HOSTILE = [
    *("[" * levels + "1" + "]" * levels for levels in LEVELS),
    "[" * 5_000,
    'He said "no" and {she} [too]: "yes", ' * 5_500,
    '"' * 200_000,
    "```json\n" * 25_000,
    "[" + "1," * 20_000,
    '[{"id": 1, "name": "x"}, ' * 8_000,
    '"action_input": "' * 12_000,
]


@every_evaluator
def test_no_text_is_too_deep_or_too_long_for_a_score(evaluator):
    for text in HOSTILE:
        with at_most(2):
            result = evaluator.evaluate(sample_for(evaluator, text))
        assert result.scored or result.label == "open"
        assert text != HOSTILE[0] or result.label != "too_deep"


@every_evaluator
def test_an_evaluator_is_a_value_that_can_be_copied(evaluator):
    for copy in (pickle.loads(pickle.dumps(evaluator)), dataclasses.replace(evaluator)):  # noqa: S301
        assert copy == evaluator
        for output in ('{"a": 1}', "[1", "a a a a a a", "<think>"):
            sample = sample_for(evaluator, output)
            assert copy.evaluate(sample) == evaluator.evaluate(sample)


@every_evaluator
def test_what_an_evaluator_needs_is_asked_for_by_its_name(evaluator):
    if evaluator in ALONE:
        assert evaluator.needs == ()
        assert evaluator("{}") == evaluator("{}", "[broken", input=object())
        return
    # To a JsonSchema it stands for the schema that a sample lacks.
    needs = (evaluator.source,) if evaluator in GROUNDED else ("reference",)
    assert evaluator.needs == (() if isinstance(evaluator, JsonSchema) else needs)
    with pytest.raises(MissingFieldError, match=evaluator.name):
        evaluator("{}")


# --- options -------------------------------------------------------------------------------------

NUMBERS = [
    # class, option, needed options, values at the bounds, values beyond them
    (JsonEditDistance, "threshold", {}, [0], [-0.5, None]),
    (StringDistance, "threshold", {}, [0], [-0.5, None]),
    (JsonFields, "threshold", {}, [0, 1, None], [-0.5, 2]),
    (JsonGrounded, "threshold", {}, [0, 1, None], [-0.5, 2]),
    (EmbeddingDistance, "threshold", {"embeddings": list}, [0, None], [-0.5]),
    (JsonSimilarity, "threshold", {}, [0, 1], [-0.5, 2, None]),
    (JsonSimilarity, "tau", {}, [0, 1], [-0.5, 2, None]),
    (LengthPenalty, "min_length", {"max_length": 0}, [0], [-1, 1.0, Decimal(1), None]),
    (LengthPenalty, "max_length", {"min_length": 0}, [0], [-1, 1.0, Decimal(1), None]),
    (LengthPenalty, "penalty_rate", {}, [0], [-0.5, None]),
    (LengthPenalty, "max_penalty", {}, [0, None], [1]),
    (NgramRepetitionPenalty, "n", {}, [1], [0, 2.0, Decimal(1), None]),
    (NgramRepetitionPenalty, "penalty_threshold", {}, [0, 1], [-0.5, 2, None]),
    (NgramRepetitionPenalty, "penalty_rate", {}, [0], [-0.5, None]),
    (NgramRepetitionPenalty, "max_penalty", {}, [0, None], [1]),
    (NgramRepetitionPenalty, "min_scaling", {}, [0, 0.999], [-0.5, 1, None]),
    (RegexMatch, "timeout", {}, [0.001], [0, None]),
    (Retrieval, "k", {}, [1, None], [0, 1.0]),
    (Retrieval, "threshold", {}, [0, 1, None], [-0.5, 2]),
]


@pytest.mark.parametrize(("kind", "option", "others", "right", "beyond"), NUMBERS)
def test_a_number_is_accepted_at_its_bounds_and_refused_by_name_beyond(kind, option, others, right, beyond):  # fmt: skip
    for value in (*beyond, math.nan, math.inf, True, "1", [], 1j, 10**400):
        with pytest.raises(InvalidOptionError, match=rf"{kind.name}: {option}="):
            kind(**others, **{option: value})
    for value in right:
        assert getattr(kind(**others, **{option: value}), option) == value


KINDS = [
    kind
    for kind in PUBLIC.values()
    if isinstance(kind, type) and issubclass(kind, Evaluator) and not inspect.isabstract(kind)
]


def test_every_evaluator_is_among_these():
    others = {EmbeddingDistance, Retrieval}  # which have suites of their own
    assert {type(evaluator) for evaluator in EVERY} == {*KINDS} - others


HINTS = [
    (kind, field.name, hints[field.name])
    for kind in KINDS
    for hints in [get_type_hints(kind)]
    for field in dataclasses.fields(kind)
]
FLAGS = [(kind, option) for kind, option, hint in HINTS if hint is bool]
CHOICES = [
    *((kind, option) for kind, option, hint in HINTS if "Literal" in str(hint) and kind is not EmbeddingDistance),
    (JsonEditDistance, "string_distance"),
]  # fmt: skip
CALLABLES = [(JsonEquality, "operator"), (JsonEditDistance, "canonicalize")]


@pytest.mark.parametrize(
    ("cases", "values"),
    [
        (CHOICES, ("nonsense", "", 5, True, ["strict"], {})),
        (FLAGS, ("true", "", 0, 1, None, [])),
        (CALLABLES, ("nonsense", 5, [], {})),
        ([(JsonEditDistance, "string_distance")], (0, "", "Levenshtein")),
        ([(NgramRepetitionPenalty, "encoding_name")], (5, None, [], True, "o200k_base")),
        ([(NgramRepetitionPenalty, "chinese_only")], (True,)),
        ([(EmbeddingDistance, "embeddings")], (None, "openai", 5)),
        ([(Retrieval, "metric")], ("map", None)),
        ([(partial(EmbeddingDistance, list), "metric")], ("cosin", None, 5)),
    ],
)
def test_a_choice_that_is_not_offered_is_refused_by_name(cases, values):
    for kind, option in cases:
        for value in values:
            with pytest.raises(InvalidOptionError, match=option):
                kind(**{option: value})


class Movie(TypedDict):
    title: str


class Named(Protocol):
    name: str


async def embed_later(texts):
    return [[1.0]] * len(texts)


VALID, NO_TYPE = JsonValidity(), "expected_type=.* is not a type that isinstance accepts"


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (LengthPenalty, {"max_length": 3}, "min_length=10 is not at most max_length=3; the defaults are 10 and 1000"),
        (LengthPenalty, {"min_length": 1, "max_length": 0}, "min_length"),
        (StringDistance, {"threshold": 1.5}, "threshold=1.5 is not .*at most 1"),
        (EmbeddingDistance, {"embeddings": embed_later}, "a function that is not async"),
        (JsonGrounded, {"schema": SCHEMA, "fields": {"/aa": {"derived": True}}}, "did you mean '/a'"),
        *((JsonGrounded, {"common": wrong}, "common=.* is not a list") for wrong in ("EUR", 8, iter([8]))),
        *((PythonType, {"expected_type": wrong}, NO_TYPE) for wrong in (
            "", "nonsense", "dict|", "list[int]", 5, None, (), ("dict", 5), list[int], Movie, Named, list[int] | None,
        )),
        (WeightedSum, {"parts": []}, "at least one evaluator"),
        (WeightedSum, {"parts": "json_validity"}, "a mapping from evaluators"),
        (WeightedSum, {"parts": [VALID]}, "pairs of an evaluator and its weight"),
        (WeightedSum, {"parts": [(JsonValidity, 1)]}, "is not an evaluator"),
        (WeightedSum, {"parts": [(VALID, "1")]}, "the weight of json_validity, is not a finite number"),
        (WeightedSum, {"parts": [(VALID, True)]}, "not a finite number"),
        (WeightedSum, {"parts": [(VALID, 1)], "threshold": "1"}, "threshold="),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_the_reason(kind, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        kind(**options)
