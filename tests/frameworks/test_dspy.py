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

PROGRAM = "question -> answer"


def row(question="A list?", **fields):
    return dspy.Example(question=question, **fields).with_inputs("question")


def answers(texts):
    """Give a context with a model that answers by what the last question has in it."""
    return dspy.context(lm=DummyLM({key: {"answer": text} for key, text in texts.items()}))


@pytest.mark.parametrize(
    ("kind", "score", "passed", "feedback"),
    [
        ("yes", 1.0, True, "fixed passed with a score of 1.0"),
        ("no", 0.0, False, "fixed failed with a score of 0.0: because"),
        ("number", 0.25, False, "fixed failed with a score of 0.25 (far_off): because"),
    ],
)
def test_a_predictor_gets_feedback_and_a_trace_the_verdict(kind, score, passed, feedback):
    fixed, pred = Fixed(RESULTS[kind]), dspy.Prediction(reasoning="so", answer="1")
    found = DspyMetric(fixed)(row(answer="[1]"), pred, [], "self", [])
    assert (found.score, found.feedback) == (score, feedback)
    assert fixed.samples[0].output == "1"  # the field with the reference's name
    alone = dspy.Prediction(answer="1")
    assert DspyMetric(fixed, value="passed")(row(), alone) == float(passed)
    assert DspyMetric(Fixed(Result(score)))(row(), alone, trace=[]) is bool(score)


def test_a_program_is_evaluated_and_what_is_unscored_may_be_nan():
    rows = [row("one", answer="[1]"), row("two", answer="[2]")]

    def run(evaluator, **options):
        options = {"devset": rows, "metric": DspyMetric(evaluator), "num_threads": 1, **options}
        return dspy.Evaluate(**options)(dspy.Predict(PROGRAM))

    with answers({"one": "[1.0]", "two": "[3]"}):
        assert [score for *_, score in run(JsonEquality()).results] == [1.0, 0.0]
        assert run(Fixed(RESULTS["unscored"])).score == 0
        assert math.isnan(run(Fixed(RESULTS["unscored"]), failure_score=math.nan).score)
    with answers({"A list?": "[1]"}):
        names = run_example(ours)
    assert [demo.answer for demo in names["better"].demos] == ["[1]"]


class Scripted(DummyLM):
    """Replies with what a function makes of what it is told, and keeps that."""

    def __init__(self, reply):
        super().__init__([], follow_examples=True)
        self.reply, self.asked = reply, []

    def _use_example(self, messages):
        self.asked.append("\n".join(message["content"] for message in messages))
        reply = self.reply(self.asked[-1])
        return reply if isinstance(reply, str) else self._format_answer_fields(reply)


def test_gepa_reflects_on_the_reasons_and_keeps_the_better_instruction():
    student = Scripted(lambda said: {"answer": "[1]" if "brackets" in said else "1"})
    reflecting = Scripted(lambda _: '{"new_instruction": "Write brackets."}')
    rows = [row(question, answer="[1]") for question in ("one", "two", "three")]
    equal = DspyMetric(JsonEquality())
    options = {"max_metric_calls": 15, "num_threads": 1, "seed": 1}
    optimiser = dspy.GEPA(metric=equal, reflection_lm=reflecting, **options)
    with dspy.context(lm=student):
        better = optimiser.compile(dspy.Predict(PROGRAM), trainset=rows, valset=rows)
        assert dspy.Evaluate(devset=rows, metric=equal)(better).score == 100
    assert "Write brackets." in better.signature.instructions
    reason = JsonEquality()("1", "[1]").reason
    assert f"json_equality failed with a score of 0.0: {reason}" in reflecting.asked[0]
