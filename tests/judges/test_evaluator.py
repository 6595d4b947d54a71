"""What every judge has: failures, accounts, and options that are checked where it is built."""

from dataclasses import dataclass
from typing import Any

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import (
    InvalidOptionError,
    MissingFieldError,
    Result,
    Sample,
    StringDistance,
    judges,
)
from llmeval_integrations.core.errors import ClientError, UnreadableJudgementError
from llmeval_integrations.llm.reply import Reply
from llmeval_integrations.llm.session import Session


@dataclass(frozen=True)
class Echo(judges.JudgedEvaluator):
    """Does the model say the output again?"""

    model: Any
    times: int = 1

    async def judge(self, sample, ask):
        said = []
        for number in range(self.times):
            reply = await ask.draw(number)(sample.output)
            said.append(reply.text)
        return Result(said.count(sample.output) / self.times, all(said), None, ", ".join(said))


def test_each_request_is_answered_and_counted():
    client = Scripted("a", "b", "a", "a")
    result = Echo(client, 4)("a")
    assert (result.score, result.reason) == (0.75, "a, b, a, a")
    assert result.metadata["judge"]["calls"] == 4
    assert result.metadata["judge"]["output_tokens"] == 20


@pytest.mark.parametrize(
    ("failure", "label"),
    [
        (ClientError("no reply", kind="timeout"), "timeout"),
        (ClientError("spent", kind="budget"), "budget"),
        (Reply("no", "refused"), "refused"),
        (Reply("aaa", "length"), "cut"),
        (UnreadableJudgementError("what?"), "unreadable"),
    ],
)
def test_a_failure_in_the_middle_is_unscored_and_keeps_the_account(failure, label):
    result = Echo(Scripted("a", failure), 2)("a")
    assert (result.score, result.passed, result.label) == (None, None, label)
    assert result.reason
    assert result.metadata["judge"]["calls"] >= 1


@pytest.mark.parametrize(
    "around", [lambda judge: judge, judges.Vote, lambda judge: judges.Panel([judge])]
)
def test_a_bad_call_raises_before_anything_is_asked(around):
    client = Scripted("a")
    judge = around(judges.PassFail(client, "Is it?", prompt="Judge {output} on {topic}"))
    samples = [Sample("a", variables={"topic": "x"}) for _ in range(4)]
    with pytest.raises(MissingFieldError, match="topic"):
        judge.evaluate_many([*samples, Sample("b")])
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
SCALE = {1: "Rude.", 5: "Warm."}


def classify(choices, prompt="{output}", **options):
    return judges.Classification("tone", MODEL, prompt, choices, **options)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: judges.PassFail(MODEL, ""), "question"),
        (lambda: judges.PassFail(MODEL, "?", output="yaml"), "output"),
        (lambda: judges.PassFail(MODEL, "?", prompt="{question}"), "shows the judge nothing"),
        (lambda: judges.Questionnaire(MODEL, []), "questions"),
        (lambda: judges.Questionnaire(MODEL, ["?"], calls="many"), "calls"),
        (lambda: judges.Questionnaire(MODEL, ["?"], threshold=2), "threshold"),
        (lambda: judges.Judge(MODEL, "{output}", int), "result_type"),
        (lambda: judges.Judge(MODEL, "{output}", score="stars"), "score"),
        (
            lambda: judges.Judge(MODEL, "Rate the text"),
            "judge: the prompt shows the judge nothing of",
        ),
        (lambda: classify([]), "choices"),
        (lambda: classify(["a", "A"]), "choices"),
        (lambda: classify({"a": (1, 2)}), "choices"),
        (lambda: classify(["a", "b"], "Good?"), "^tone: the prompt shows .*write {output}"),
        (
            lambda: classify(["a", "b"], threshold=0.5),
            "tone: threshold=0.5 .* no label has a score",
        ),
        (lambda: judges.Rubric(MODEL, {1: "only"}, "?"), "rubric: anchors"),
        (lambda: judges.Rubric(MODEL, {1: "bad", 2.5: "", 5: "good"}, "?"), "rubric: anchors"),
        (lambda: judges.Vote("pass_fail"), "vote: of"),
        (lambda: judges.Vote(ONE, n=0), "vote: n"),
        (lambda: judges.Panel([StringDistance()]), "panel: .* is not a judge"),
        (lambda: judges.Cascade("exact_match"), "cascade: evaluators"),
        (lambda: judges.PassFail(MODEL, "?", examples=[{"output": "x"}]), "the example"),
        (lambda: judges.Preference(MODEL, on_disagreement="mean"), "on_disagreement"),
        (lambda: judges.JudgedFields(MODEL, ["summary"]), "'summary' is not a path"),
        (
            lambda: judges.JudgedFields(MODEL, ["/sumary"], SCHEMA),
            "no '/sumary'; did you mean '/summary'",
        ),
        (lambda: judges.JudgedToolCalls(MODEL, "body"), "judged_tool_calls: judged"),
        (lambda: judges.JudgedToolCalls(MODEL, ["*/a"], calls=1), "judged_tool_calls: calls"),
        (lambda: judges.QuestionGenerator(MODEL).generate("x", 3, "open"), "question_type"),
        (lambda: judges.OutputGenerator(MODEL).generate_variations("x", "one prompt"), "prompts"),
    ],
)
def test_a_wrong_option_is_named(build, words):
    with pytest.raises(InvalidOptionError, match=words):
        build()
