"""DSPy: `Evaluate`, BootstrapFewShot and GEPA, on models that say what a test wants."""

import math
from copy import deepcopy

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example, sent  # noqa: F401

from llmeval_integrations import (
    ExactMatch,
    InputError,
    InvalidOptionError,
    JsonEditDistance,
    JsonEquality,
    JsonValidity,
    MissingFieldError,
    Result,
    Sample,
)

pytest.importorskip("dspy")

import dspy
from dspy.utils import DummyLM

from llmeval_integrations.frameworks import dspy as ours
from llmeval_integrations.frameworks.dspy import DspyMetric, UnscoredError

PROGRAM = "question -> answer"


class Scripted(DummyLM):
    """Replies with the text or fields that a function makes of all it is told, and remembers that."""

    def __init__(self, reply):
        super().__init__([], follow_examples=True)
        self.reply = reply
        self.asked = []

    def _use_example(self, messages):
        said = "\n".join(message["content"] for message in messages)
        self.asked.append(said)
        reply = self.reply(said)
        return reply if isinstance(reply, str) else self._format_answer_fields(reply)


@pytest.fixture(autouse=True)
def nothing_leaves(sent):  # noqa: F811
    yield
    assert sent == []


def row(question="A list?", **fields):
    return dspy.Example(question=question, **fields).with_inputs("question")


def asked(answers):
    """Give a model that answers by what the last question has in it."""
    return dspy.context(lm=DummyLM({key: {"answer": value} for key, value in answers.items()}))


# What a metric gives, in each of the ways in which DSPy calls it.


@pytest.mark.parametrize(
    ("kind", "score", "passed"),
    [("yes", 1.0, True), ("no", 0.0, False), ("number", 0.25, False), ("whole", 3.0, True)],
)
def test_a_score_for_evaluation_and_a_verdict_for_demonstrations(kind, score, passed):
    metric = DspyMetric(Fixed(RESULTS[kind]))
    given = metric(row(answer="[1]"), dspy.Prediction(answer="[1]"))
    assert (given, type(given)) == (score, float)
    assert metric(row(answer="[1]"), dspy.Prediction(answer="[1]"), trace=[]) is passed
    assert DspyMetric(metric.evaluator, value="passed")(row(), dspy.Prediction(answer="1")) == float(passed)  # fmt: skip


def test_without_a_verdict_a_score_above_zero_is_a_demonstration():
    for score in (0, 1):
        metric = DspyMetric(Fixed(Result(score)))
        assert metric(row(), dspy.Prediction(answer="1"), trace=[]) is bool(score)


@pytest.mark.parametrize(
    ("kind", "feedback"),
    [
        ("yes", "fixed passed with a score of 1.0"),
        ("no", "fixed failed with a score of 0.0: because"),
        ("number", "fixed failed with a score of 0.25 (far_off): because"),
    ],
)
def test_feedback_is_the_verdict_with_its_reason(kind, feedback):
    metric = DspyMetric(Fixed(RESULTS[kind]))
    given = metric(row(), dspy.Prediction(answer="1"), [], "self", [])
    assert (given.score, given.feedback) == (float(RESULTS[kind].score), feedback)


def test_unscored_is_never_a_number():
    metric = DspyMetric(Fixed(RESULTS["unscored"]))
    for further in [(), ([],), ([], "self", [])]:
        with pytest.raises(UnscoredError, match=r"fixed is unscored \(torn\): cannot tell"):
            metric(row(), dspy.Prediction(answer="1"), *further)


def test_fields_of_example_and_prediction_are_the_sample():
    fixed = Fixed(RESULTS["yes"])
    DspyMetric(fixed)(row(answer="[1]"), dspy.Prediction(answer="[2]"))
    gold = dspy.Example(question="?", topic="x", answer="[1]", note="y")
    pred = dspy.Prediction(reasoning="so", answer="[2]", documents=["a"])
    keys = {"output": "answer", "reference": "answer", "input": "question", "contexts": "documents"}
    for schema in ("note", "topic"):
        DspyMetric(fixed, schema=schema, **keys)(gold.with_inputs("question", "topic"), pred)
    assert fixed.samples == [
        Sample("[2]", "[1]", "A list?", variables={"question": "A list?"}),
        Sample("[2]", "[1]", "?", ["a"], "y", {"question": "?", "topic": "x"}),
        Sample("[2]", "[1]", "?", ["a"], "x", {"question": "?", "topic": "x"}),
    ]


@pytest.mark.parametrize(
    ("fields", "pred", "error", "message"),
    [
        ({}, {"answer": "1"}, MissingFieldError, "json_equality needs a reference"),
        ({"answer": "1"}, {"reasoning": "so", "reply": "1"}, InputError, r"one of \['reasoning', 'reply'\]; name it with output="),
        ({"answer": "1", "note": "2"}, {"answer": "1"}, InputError, "name it with reference="),
        ({"answer": "1"}, {}, MissingFieldError, "needs an output"),
    ],
)  # fmt: skip
def test_a_bad_call_raises(fields, pred, error, message):
    with pytest.raises(error, match=message):
        DspyMetric(JsonEquality())(row(**fields), dspy.Prediction(**pred))


def test_judges_are_metrics():
    assert DspyMetric(judge())(row(), dspy.Prediction(answer="1")) == 1.0
    with pytest.raises(UnscoredError, match="unreadable"):
        DspyMetric(judge("neither"))(row(), dspy.Prediction(answer="1"))


def test_options_are_checked():
    with pytest.raises(InvalidOptionError, match="value='both' is not 'score' or 'passed'"):
        DspyMetric(JsonValidity(), value="both")
    with pytest.raises(InvalidOptionError, match="'json_validity' is not an Evaluator"):
        DspyMetric("json_validity")


def test_the_output_is_the_field_that_is_called_like_the_reference():
    metric = DspyMetric(JsonEquality())
    said = dspy.Prediction(reasoning="It asks for a list.", answer="[1]")
    assert metric(row(answer="[1.0]"), said) == 1.0
    assert (
        DspyMetric(JsonEquality(), reference="answer")(row(answer="[2]", level="easy"), said) == 0
    )
    with pytest.raises(InputError, match="reasoning"):
        metric(row(gold="[1]"), said)


def test_a_chain_of_thought_is_evaluated():
    replies = {"A list?": {"reasoning": "It asks for one.", "answer": "[1]"}}
    with dspy.context(lm=DummyLM(replies)):
        program = dspy.ChainOfThought(PROGRAM)
        assert (
            dspy.Evaluate(devset=[row(answer="[1.0]")], metric=DspyMetric(JsonEquality()))(
                program
            ).score
            == 100.0
        )


def test_it_can_have_a_name_of_its_own():
    assert DspyMetric(JsonEquality(), name="equal").__name__ == "equal"


def test_it_can_be_copied_and_has_the_evaluators_name():
    metric = deepcopy(DspyMetric(ExactMatch()))
    assert (metric.__name__, metric.evaluator) == ("exact_match", ExactMatch())


# DSPy's own runners.

ROWS = [row("one", answer="[1]"), row("two", answer="[2]"), row("three", answer="[3]")]
ANSWERS = {"one": "[1.0]", "two": "[3]", "three": "[3]"}


def test_a_program_is_evaluated():
    with asked(ANSWERS):
        found = dspy.Evaluate(devset=ROWS, metric=DspyMetric(JsonEquality()))(dspy.Predict(PROGRAM))
    assert found.score == 66.67
    assert [score for *_, score in found.results] == [1.0, 0.0, 1.0]


def test_what_is_unscored_is_the_failure_score_which_may_be_nan():
    class Torn(JsonEquality):
        def check(self, sample):
            return Result.unscored("torn") if sample.output == "[3]" else super().check(sample)

    def run(**options):
        evaluate = dspy.Evaluate(devset=ROWS, metric=DspyMetric(Torn()), num_threads=1, **options)
        return evaluate(dspy.Predict(PROGRAM))

    with asked(ANSWERS):
        assert run().score == 33.33
        found = run(failure_score=math.nan)
    assert math.isnan(found.score)
    assert [math.isnan(score) for *_, score in found.results] == [False, True, True]


def test_demonstrations_are_what_passed():
    optimiser = dspy.BootstrapFewShot(metric=DspyMetric(JsonEditDistance()), max_labeled_demos=0)
    with asked(ANSWERS):
        better = optimiser.compile(dspy.Predict(PROGRAM), trainset=ROWS)
    assert [(demo.question, demo.answer) for demo in better.demos] == [("one", "[1.0]"), ("three", "[3]")]  # fmt: skip


def test_what_is_unscored_is_no_demonstration():
    metric = DspyMetric(Fixed(RESULTS["unscored"]))
    optimiser = dspy.BootstrapFewShot(metric=metric, max_labeled_demos=0)
    with asked(ANSWERS):
        assert optimiser.compile(dspy.Predict(PROGRAM), trainset=ROWS).demos == []


def test_gepa_reflects_on_the_reasons_and_keeps_the_better_instruction():
    student = Scripted(lambda said: {"answer": "[1]" if "brackets" in said else "1"})
    reflecting = Scripted(lambda _: '{"new_instruction": "Write brackets."}')
    rows = [row(question, answer="[1]") for question in ("one", "two", "three")]
    optimiser = dspy.GEPA(
        metric=DspyMetric(JsonEquality()),
        reflection_lm=reflecting,
        max_metric_calls=15,
        num_threads=1,
        seed=1,
    )
    with dspy.context(lm=student):
        better = optimiser.compile(dspy.Predict(PROGRAM), trainset=rows, valset=rows)
        assert dspy.Evaluate(devset=rows, metric=DspyMetric(JsonEquality()))(better).score == 100
    assert "Write brackets." in better.signature.instructions
    reason = JsonEquality()("1", "[1]").reason
    assert f"json_equality failed with a score of 0.0: {reason}" in reflecting.asked[0]


def test_the_example():
    with asked({"A list?": "[1]"}):
        names = run_example(ours)
    assert [demo.answer for demo in names["better"].demos] == ["[1]"]
