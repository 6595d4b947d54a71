"""DeepEval: `assert_test`, awaited and not, and `evaluate`."""

import asyncio
import json

import pytest
from framework_cases import RESULTS, Awaited, Fixed, judge, run_example, sent, silent_program  # noqa: F401

from llmeval_integrations import (  # fmt: skip
    InputError,
    InvalidOptionError,
    JsonEditDistance,
    JsonEquality,
    JsonFields,
    JsonSimilarity,
    JsonValidity,
    MissingFieldError,
    Sample,
)

pytest.importorskip("deepeval")

from deepeval import assert_test, evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase

from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.frameworks import deepeval as ours
from llmeval_integrations.frameworks.deepeval import DeepEvalMetric


@pytest.fixture(autouse=True)
def nothing_leaves(sent, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.chdir(tmp_path)  # DeepEval writes a folder of its own
    yield
    assert sent == []


def case(output="[1]", expected="[1.0]", **fields):
    return LLMTestCase(input="A list?", actual_output=output, expected_output=expected, **fields)


def results(cases, metrics, *, run_async=True, **errors):
    found = evaluate(
        cases,
        metrics,
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        error_config=ErrorConfig(**errors),
    )
    return [
        result.metrics_data for result in sorted(found.test_results, key=lambda each: each.name)
    ]


@pytest.mark.parametrize("run_async", [True, False])
@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_what_the_metric_says(kind, run_async):
    result = RESULTS[kind]
    [[said]] = results([case()], [DeepEvalMetric(Fixed(result))], run_async=run_async)
    assert said.name == "fixed"
    assert said.score == (None if result.score is None else float(result.score))
    assert said.success is bool(result.passed)
    if result.scored:
        assert (said.reason, said.error) == (
            result.reason and to_storable_text(result.reason),
            None,
        )
    else:
        assert said.error == result.reason
    details = {"label": result.label, "metadata": result.metadata}
    assert said.verbose_logs == to_storable_text(details)
    assert kind == "odd" or json.loads(said.verbose_logs) == details


@pytest.mark.parametrize("run_async", [True, False])
@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        (JsonEquality(), r"json_equality \(score: 0.0, .*, error: None, reason: /0 2, expected 1"),
        (Fixed(RESULTS["unscored"]), r"fixed \(score: None, .*, error: cannot tell, reason: None"),
        (judge("mumble"), r"safety \(score: None, .*, error: .*, reason: None"),
    ],
)
def test_assert_test_fails_with_the_reason(evaluator, message, run_async):
    with pytest.raises(AssertionError, match=message):
        assert_test(case("[2]"), [DeepEvalMetric(evaluator)], run_async=run_async)


@pytest.mark.parametrize("run_async", [True, False])
@pytest.mark.parametrize("evaluator", [JsonEquality(), judge(), Fixed(RESULTS["whole"])])
def test_assert_test_passes(evaluator, run_async):
    assert_test(case(), [DeepEvalMetric(evaluator)], run_async=run_async)


def test_the_verdict_is_the_evaluators_own():
    similar = JsonSimilarity(threshold=0.9)
    metric = DeepEvalMetric(similar)
    metric.measure(case('{"a": 1, "b": 2}', '{"a": 1, "b": 3}'))
    assert (metric.threshold, metric.is_successful()) == (0.9, False)
    assert 0 < metric.score < 0.9
    high = DeepEvalMetric(Fixed(RESULTS["no"].__class__(7, False)))
    assert (high.measure(case()), high.threshold, high.is_successful()) == (7.0, 1.0, False)


@pytest.mark.parametrize("run_async", [True, False])
def test_a_missing_field_is_our_error_and_deepevals(run_async):
    lacking = case(expected=None)
    metrics = [DeepEvalMetric(JsonEquality()), DeepEvalMetric(JsonValidity())]
    with pytest.raises(MissingFieldError, match="json_equality needs a reference"):
        assert_test(lacking, metrics, run_async=run_async)
    [said] = results([lacking], metrics, run_async=run_async, skip_on_missing_params=True)
    assert [each.name for each in said] == ["json_validity"]
    [said] = results([lacking], metrics, run_async=run_async, ignore_errors=True)
    assert (said[0].score, said[0].success) == (None, False)
    assert "json_equality needs a reference" in said[0].error


def test_an_error_leaves_nothing_of_another_case_behind():
    metric = DeepEvalMetric(JsonEquality())
    metric.measure(case())
    with pytest.raises(MissingFieldError):
        metric.measure(case(expected=None))
    assert (metric.score, metric.success, metric.reason) == (None, False, None)


@pytest.mark.parametrize("run_async", [True, False])
def test_results_have_the_names_of_the_metrics(run_async):
    metrics = [DeepEvalMetric(JsonValidity()), DeepEvalMetric(JsonValidity(), name="valid")]
    for said in results([case(), case()], metrics, run_async=run_async):
        assert [each.name for each in said] == ["json_validity", "valid"]


def test_two_of_one_kind_have_names_of_their_own():
    assert DeepEvalMetric(JsonValidity(), name="valid").__name__ == "valid"
    assert DeepEvalMetric(JsonValidity()).__name__ == "json_validity"


@pytest.mark.parametrize(
    ("evaluator", "threshold"),
    [
        (JsonValidity(), 1.0),
        (JsonEditDistance(threshold=0.4), 0.4),
        (JsonFields(threshold=0.8), 0.8),
        (JsonFields(), 1.0),
    ],
)
def test_the_threshold_is_the_evaluators_own(evaluator, threshold):
    assert DeepEvalMetric(evaluator).threshold == threshold


def test_what_is_no_test_case_of_one_turn_raises():
    with pytest.raises(InputError, match="json_validity: 'text' is not an LLMTestCase"):
        DeepEvalMetric(JsonValidity()).measure("text")
    with pytest.raises(InvalidOptionError, match="DeepEvalMetric: 'json_validity' is no"):
        DeepEvalMetric("json_validity")


@pytest.mark.parametrize(
    ("fields", "contexts"),
    [
        ({"context": ["ideal"]}, ["ideal"]),
        ({"context": ["ideal"], "retrieval_context": ["found"]}, ["found"]),
        ({"context": ["ideal"], "retrieval_context": []}, []),
    ],
)
def test_the_test_case_gives_the_fields(fields, contexts):
    asked = Fixed(RESULTS["yes"])
    about = {"tone": "dry", "schema": {"type": "array"}}
    DeepEvalMetric(asked).measure(case("so", name="a", metadata=about, **fields))
    expected = Sample("so", "[1.0]", "A list?", contexts, {"type": "array"}, about, "a")
    assert asked.samples == [expected]


def test_a_judge_says_which_model_and_how_many_tokens():
    metric = DeepEvalMetric(judge())
    metric.measure(case())
    assert (metric.score, metric.reason, metric.evaluation_model) == (1.0, "because", "scripted-1")
    assert (metric.input_tokens, metric.output_tokens) == (10, 5)


def test_it_is_awaited():
    async def both():
        awaited = Awaited()
        metrics = [DeepEvalMetric(awaited), DeepEvalMetric(awaited)]
        return await asyncio.gather(*[metric.a_measure(case()) for metric in metrics])

    assert asyncio.run(both()) == [1.0, 1.0]


def test_deepeval_sends_no_telemetry(tmp_path):
    code = """
    from llmeval_integrations import JsonValidity
    from llmeval_integrations.frameworks.deepeval import DeepEvalMetric
    from deepeval import assert_test, evaluate
    from deepeval.test_case import LLMTestCase
    case = LLMTestCase(input="A list?", actual_output="[1]")
    assert_test(case, [DeepEvalMetric(JsonValidity())])
    evaluate([case], [DeepEvalMetric(JsonValidity())])
    """
    assert silent_program(code, tmp_path) == []


def test_the_example_of_the_docstring():
    run_example(ours)["test_list"]()
