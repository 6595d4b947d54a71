"""DSPy: `Evaluate`, BootstrapFewShot and GEPA, on models that say what a test wants."""

import math

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import (
    JsonEquality,
    Result,
    Sample,
)

pytest.importorskip("dspy")

import dspy
from dspy.utils import DummyLM

from llmeval_integrations.frameworks import dspy as ours
from llmeval_integrations.frameworks.dspy import DspyMetric

pytestmark = pytest.mark.usefixtures("nothing_leaves")

PROGRAM = "question -> answer"


class Scripted(DummyLM):
    """Replies with what a function makes of what it is told, and keeps that."""

    def __init__(self, reply):
        super().__init__([], follow_examples=True)
        self.reply, self.asked = reply, []

    def _use_example(self, messages):
        self.asked.append("\n".join(message["content"] for message in messages))
        reply = self.reply(self.asked[-1])
        return reply if isinstance(reply, str) else self._format_answer_fields(reply)


def row(question="A list?", **fields):
    return dspy.Example(question=question, **fields).with_inputs("question")


def asked(answers):
    """Give a model that answers by what the last question has in it."""
    return dspy.context(lm=DummyLM({key: {"answer": value} for key, value in answers.items()}))


@pytest.mark.parametrize(
    ("kind", "score", "passed", "feedback"),
    [
        ("yes", 1.0, True, "fixed passed with a score of 1.0"),
        ("no", 0.0, False, "fixed failed with a score of 0.0: because"),
        ("number", 0.25, False, "fixed failed with a score of 0.25 (far_off): because"),
        ("whole", 3.0, True, "fixed passed with a score of 3.0: three"),
    ],
)
def test_a_score_a_verdict_where_it_is_traced_and_feedback(kind, score, passed, feedback):
    metric, pred = DspyMetric(Fixed(RESULTS[kind])), dspy.Prediction(answer="1")
    assert (metric(row(), pred), metric(row(), pred, trace=[])) == (score, passed)
    given = metric(row(), pred, [], "self", [])
    assert (given.score, given.feedback) == (score, feedback)
    assert DspyMetric(metric.evaluator, value="passed")(row(), pred) == float(passed)
    assert DspyMetric(Fixed(Result(score)))(row(), pred, trace=[]) is bool(score)


def test_fields_of_example_and_prediction_are_the_sample():
    fixed = Fixed(RESULTS["yes"])
    DspyMetric(fixed)(row(answer="[1]"), dspy.Prediction(reasoning="so", answer="[2]"))
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


ROWS = [row("one", answer="[1]"), row("two", answer="[2]"), row("three", answer="[3]")]
ANSWERS = {"one": "[1.0]", "two": "[3]", "three": "[3]"}


def test_a_program_is_evaluated_and_what_is_unscored_may_be_nan():
    def run(evaluator, **options):
        metric = DspyMetric(evaluator)
        return dspy.Evaluate(devset=ROWS, metric=metric, num_threads=1, **options)(
            dspy.Predict(PROGRAM)
        )

    with asked(ANSWERS):
        assert [score for *_, score in run(JsonEquality()).results] == [1.0, 0.0, 1.0]
        assert run(Fixed(RESULTS["unscored"])).score == 0
        assert math.isnan(run(Fixed(RESULTS["unscored"]), failure_score=math.nan).score)


def test_gepa_reflects_on_the_reasons_and_keeps_the_better_instruction():
    student = Scripted(lambda said: {"answer": "[1]" if "brackets" in said else "1"})
    reflecting = Scripted(lambda _: '{"new_instruction": "Write brackets."}')
    rows = [row(question, answer="[1]") for question in ("one", "two", "three")]
    metric = DspyMetric(JsonEquality())
    options = {"max_metric_calls": 15, "num_threads": 1, "seed": 1}
    optimiser = dspy.GEPA(metric=metric, reflection_lm=reflecting, **options)
    with dspy.context(lm=student):
        better = optimiser.compile(dspy.Predict(PROGRAM), trainset=rows, valset=rows)
        assert dspy.Evaluate(devset=rows, metric=metric)(better).score == 100
    assert "Write brackets." in better.signature.instructions
    reason = JsonEquality()("1", "[1]").reason
    assert f"json_equality failed with a score of 0.0: {reason}" in reflecting.asked[0]


def test_the_example():
    with asked({"A list?": "[1]"}):
        names = run_example(ours)
    assert [demo.answer for demo in names["better"].demos] == ["[1]"]
