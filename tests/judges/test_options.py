"""An option that makes no sense is named where a judge is built."""

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError, StringDistance
from llmeval_integrations.judges import (
    Cascade,
    Classification,
    Judge,
    JudgedFields,
    JudgedToolCalls,
    OutputGenerator,
    Panel,
    PassFail,
    Preference,
    QuestionGenerator,
    Questionnaire,
    Rubric,
    Vote,
)

MODEL = Scripted(judgement())
ONE = PassFail(MODEL, "Is it short?")
SCHEMA = {"type": "object", "properties": {"summary": {}}}
SCALE = {1: "Rude.", 5: "Warm."}


def classify(choices, prompt="{output}"):
    return Classification("tone", MODEL, prompt, choices)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: PassFail(MODEL, ""), "question"),
        (lambda: PassFail(MODEL, "?", output="yaml"), "output"),
        (lambda: PassFail(MODEL, "?", prompt="{question}"), "shows the judge nothing"),
        (lambda: Questionnaire(MODEL, []), "questions"),
        (lambda: Questionnaire(MODEL, ["?"], calls="many"), "calls"),
        (lambda: Questionnaire(MODEL, ["?"], threshold=2), "threshold"),
        (lambda: Judge(MODEL, "{output}", int), "result_type"),
        (lambda: Judge(MODEL, "{output}", score="stars"), "score"),
        (lambda: Judge(MODEL, "Rate the text"), "judge: the prompt shows the judge nothing of"),
        (lambda: classify([]), "choices"),
        (lambda: classify(["a", "A"]), "choices"),
        (lambda: classify({"a": (1, 2)}), "choices"),
        (lambda: classify(["a", "b"], "Good?"), "^tone: the prompt shows .*write {output}"),
        (lambda: Rubric(MODEL, {1: "only"}, "?"), "rubric: anchors"),
        (lambda: Vote("pass_fail"), "vote: of"),
        (lambda: Vote(ONE, n=0), "vote: n"),
        (lambda: Panel([StringDistance()]), "panel: .* is not a judge"),
        (lambda: Cascade("exact_match"), "cascade: evaluators"),
        (lambda: PassFail(MODEL, "?", examples=[{"output": "x"}]), "the example"),
        (lambda: Preference(MODEL, on_disagreement="mean"), "on_disagreement"),
        (lambda: JudgedFields(MODEL, ["summary"]), "'summary' is not a path"),
        (lambda: JudgedFields(MODEL, ["/sumary"], SCHEMA), "no '/sumary'; did you mean '/summary'"),
        (lambda: JudgedToolCalls(MODEL, "body"), "judged_tool_calls: judged"),
        (lambda: JudgedToolCalls(MODEL, ["*/a"], calls=1), "judged_tool_calls: calls"),
        (lambda: QuestionGenerator(MODEL).generate("x", 3, "open"), "question_type"),
        (lambda: OutputGenerator(MODEL).generate_variations("x", "one prompt"), "prompts"),
    ],
)
def test_a_wrong_option_is_named(build, words):
    with pytest.raises(InvalidOptionError, match=words):
        build()
