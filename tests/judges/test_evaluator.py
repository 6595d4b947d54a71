"""What every judge has: calls and options that are checked before anything is asked."""

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import (
    InvalidOptionError,
    MissingFieldError,
    Sample,
    StringDistance,
    judges,
)
from llmeval_integrations.llm.session import Session


@pytest.mark.parametrize(
    "around", [lambda judge: judge, judges.Vote, lambda judge: judges.Panel([judge])]
)
def test_a_sample_that_lacks_a_field_raises_before_anything_is_asked(around):
    client = Scripted("a")
    with pytest.raises(MissingFieldError, match="reference"):
        around(judges.Correctness(client)).evaluate_many([*[Sample("a", "a")] * 4, Sample("b")])
    assert client.requests == []


def test_a_bad_call_leaves_a_session_open_that_serves_others():
    judge = judges.Correctness(Scripted(judgement()))
    with Session():
        with pytest.raises(MissingFieldError, match="reference"):
            judge("a")
        assert judge("a", "a").label == "Pass"


# --- options ----------------------------------------------------------------------------------------

MODEL = Scripted(judgement())
ONE = judges.PassFail(MODEL, "Is it short?")
SCHEMA = {"type": "object", "properties": {"summary": {}}}


def classify(choices, prompt="{output}", **options):
    return judges.Classification("tone", MODEL, prompt, choices, **options)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: judges.PassFail(MODEL, ""), "question"),
        (lambda: judges.PassFail(MODEL, "?", prompt="{question}"), "shows the judge nothing"),
        (lambda: judges.ScoreTable(fail_low=-0.1), "score_table: fail_low="),
        (lambda: judges.Questionnaire(MODEL, []), "questions"),
        (lambda: judges.Questionnaire(MODEL, ["?"], calls="many"), "calls"),
        (lambda: judges.Questionnaire(MODEL, ["?"], threshold=2), "threshold"),
        (lambda: judges.Judge(MODEL, "{output}", int), "result_type"),
        (lambda: judges.Judge(MODEL, "{output}", score="stars"), "score"),
        (lambda: judges.Judge(MODEL, "Rate it"), "judge: the prompt shows the judge nothing of"),
        (lambda: classify([]), "choices"),
        (lambda: classify(["a", "A"]), "choices"),
        (lambda: classify({"a": (1, 2)}), "choices"),
        (lambda: classify(["a", "b"], "Good?"), "^tone: the prompt shows .*write {output}"),
        (lambda: classify(["a", "b"], threshold=0.5), "tone: threshold=0.5 .* no label has a"),
        (lambda: judges.Rubric(MODEL, {1: "only"}, "?"), "rubric: anchors"),
        (lambda: judges.Rubric(MODEL, {1: "bad", 2.5: "", 5: "good"}, "?"), "rubric: anchors"),
        (lambda: judges.Vote("pass_fail"), "vote: of"),
        (lambda: judges.Vote(ONE, n=0), "vote: n"),
        (lambda: judges.Panel([StringDistance()]), "panel: .* is not a judge"),
        (lambda: judges.Cascade("exact_match"), "cascade: evaluators"),
        (lambda: judges.PassFail(MODEL, "?", examples=[{"output": "x"}]), "the example"),
        (lambda: judges.Preference(MODEL, on_disagreement="mean"), "on_disagreement"),
        (lambda: judges.JudgedFields(MODEL, ["summary"]), "'summary' is not a path"),
        (lambda: judges.JudgedFields(MODEL, ["/sumary"], SCHEMA), "did you mean '/summary'"),
        (lambda: judges.JudgedToolCalls(MODEL, "body"), "judged_tool_calls: judged"),
        (lambda: judges.JudgedToolCalls(MODEL, ["*/a"], calls=1), "judged_tool_calls: calls"),
        (lambda: judges.QuestionGenerator(MODEL).generate("x", 3, "open"), "question_type"),
        (lambda: judges.QuestionGenerator(MODEL).generate("x", 0), "num_questions=0"),
        (lambda: judges.OutputGenerator(MODEL).generate_batch("x", -1), "num_responses=-1"),
        (lambda: judges.OutputGenerator(MODEL).generate_variations("x", "one prompt"), "prompts"),
        (lambda: judges.OutputGenerator(MODEL).generate_batch("x", 2, (1, 3)), "temperature"),
    ],
)
def test_a_wrong_option_is_named(build, words):
    with pytest.raises(InvalidOptionError, match=words):
        build()
