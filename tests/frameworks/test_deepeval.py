"""DeepEval: `assert_test`, awaited and not, and `evaluate`."""

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example, silent_program

from llmeval_integrations import JsonEquality, JsonValidity, MissingFieldError, Sample

pytest.importorskip("deepeval")

from deepeval import assert_test, evaluate
from deepeval.evaluate import DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase

from llmeval_integrations.frameworks import deepeval as ours
from llmeval_integrations.frameworks.deepeval import DeepEvalMetric

pytestmark = pytest.mark.usefixtures("nothing_leaves")


def case(output="[1]", expected="[1.0]", **fields):
    return LLMTestCase(input="A list?", actual_output=output, expected_output=expected, **fields)


@pytest.mark.parametrize("run_async", [True, False])
@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        (JsonEquality(), r"json_equality \(score: 0.0, .*, error: None, reason: /0 2, expected 1"),
        (Fixed(RESULTS["unscored"]), r"fixed \(score: None, .*, error: cannot tell, reason: None"),
    ],
)
def test_assert_test_fails_with_the_reason(evaluator, message, run_async):
    with pytest.raises(AssertionError, match=message):
        assert_test(case("[2]"), [DeepEvalMetric(evaluator)], run_async=run_async)
    assert_test(case(), [DeepEvalMetric(JsonEquality())], run_async=run_async)


def test_the_test_case_gives_the_fields():
    asked, about = Fixed(RESULTS["yes"]), {"tone": "dry", "schema": {"type": "array"}}
    for contexts in ({"context": ["c"]}, {"context": ["a"], "retrieval_context": ["c"]}):
        DeepEvalMetric(asked).measure(case("so", name="a", metadata=about, **contexts))
    assert asked.samples == [Sample("so", "[1.0]", "A list?", ["c"], about["schema"], about, "a")] * 2  # fmt: skip


def test_a_missing_field_is_our_error_and_one_that_deepeval_skips():
    lacking, metrics = case(expected=None), [DeepEvalMetric(JsonEquality()), DeepEvalMetric(JsonValidity())]  # fmt: skip
    with pytest.raises(MissingFieldError, match="json_equality needs a reference"):
        assert_test(lacking, metrics)
    quiet = DisplayConfig(show_indicator=False, print_results=False)
    skips = ErrorConfig(skip_on_missing_params=True)
    [found] = evaluate([lacking], metrics, display_config=quiet, error_config=skips).test_results
    assert [each.name for each in found.metrics_data] == ["json_validity"]


def test_a_judge_says_which_model_and_how_many_tokens():
    metric = DeepEvalMetric(judge())
    metric.measure(case())
    assert (metric.score, metric.reason, metric.evaluation_model) == (1.0, "because", "scripted-1")
    assert (metric.input_tokens, metric.output_tokens) == (10, 5)


def test_deepeval_sends_no_telemetry(tmp_path):
    code = """
    from llmeval_integrations import JsonValidity
    from llmeval_integrations.frameworks.deepeval import DeepEvalMetric
    from deepeval import assert_test
    from deepeval.test_case import LLMTestCase
    assert_test(LLMTestCase(input="A list?", actual_output="[1]"), [DeepEvalMetric(JsonValidity())])
    """
    assert silent_program(code, tmp_path) == []


def test_the_example_of_the_docstring():
    run_example(ours)["test_list"]()
