"""DSPy: a metric for `Evaluate`, BootstrapFewShot and GEPA."""

import math

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import JsonEquality, Result

pytest.importorskip("dspy")

import dspy
from dspy.utils import DummyLM

from llmeval_integrations.frameworks import dspy as ours
from llmeval_integrations.frameworks.dspy import DspyMetric

pytestmark = pytest.mark.usefixtures("nothing_leaves")


def row(question="A list?", **fields):
    return dspy.Example(question=question, **fields).with_inputs("question")


def test_a_predictor_gets_feedback_and_a_trace_the_verdict():
    for kind, score, feedback in (
        ("yes", 1.0, "fixed passed with a score of 1.0"),
        ("number", 0.25, "fixed failed with a score of 0.25 (far_off): because"),
    ):
        fixed, pred = Fixed(RESULTS[kind]), dspy.Prediction(reasoning="so", answer="1")
        found = DspyMetric(fixed)(row(answer="[1]"), pred, [], "self", [])
        assert (found.score, found.feedback) == (score, feedback)
        assert fixed.samples[0].output == "1"  # the field with the reference's name
    alone = dspy.Prediction(answer="1")
    assert DspyMetric(fixed, value="passed")(row(), alone) == 0.0
    assert DspyMetric(Fixed(Result(0.25)))(row(), alone, trace=[]) is True


def test_a_program_is_evaluated_and_what_is_unscored_may_be_nan():
    def run(metric, failure_score=0):
        options = {"num_threads": 1, "failure_score": failure_score}
        rows = [row("one", answer="[1]"), row("two", answer="[2]")]
        return dspy.Evaluate(devset=rows, metric=DspyMetric(metric), **options)(program)

    program, unscored = dspy.Predict("question -> answer"), Fixed(RESULTS["unscored"])
    answers = {"one": "[1.0]", "two": "[3]", "A list?": "[1]"}
    with dspy.context(lm=DummyLM({key: {"answer": text} for key, text in answers.items()})):
        assert [score for *_, score in run(JsonEquality()).results] == [1.0, 0.0]
        assert run(unscored).score == 0
        assert math.isnan(run(unscored, math.nan).score)
        assert [demo.answer for demo in run_example(ours)["better"].demos] == ["[1]"]


class Scripted(DummyLM):
    """Replies with what a function makes of what it is told, and keeps that."""

    def __init__(self, reply):
        super().__init__([], follow_examples=True)
        self.reply, self.asked = reply, []

    def _use_example(self, messages):
        self.asked.append("\n".join(message["content"] for message in messages))
        return self.reply(self.asked[-1])


def test_gepa_reflects_on_the_reasons_and_keeps_the_better_instruction():
    def answer(said):
        return student._format_answer_fields({"answer": "[1]" if "brackets" in said else "1"})

    student = Scripted(answer)
    reflecting = Scripted(lambda _: '{"new_instruction": "Write brackets."}')
    rows = [row(question, answer="[1]") for question in ("one", "two", "three")]
    options = {"max_metric_calls": 15, "num_threads": 1, "seed": 1}
    optimiser = dspy.GEPA(metric=DspyMetric(JsonEquality()), reflection_lm=reflecting, **options)
    with dspy.context(lm=student):
        better = optimiser.compile(dspy.Predict("question -> answer"), trainset=rows, valset=rows)
        assert better(question="one").answer == "[1]"
    assert "Write brackets." in better.signature.instructions
    reason = JsonEquality()("1", "[1]").reason
    assert f"json_equality failed with a score of 0.0: {reason}" in reflecting.asked[0]
