"""What can be asked of the reader, and what its errors say."""

import re

import pytest

from llmeval_integrations.core.errors import (
    EvalError,
    InvalidOptionError,
    JudgeError,
    UnreadableJudgementError,
)
from llmeval_integrations.judges.verdicts.judgement import Confidence, Judgement, Verdict
from llmeval_integrations.judges.verdicts.reading import parse_judgement

GOOD = {"reasoning": "It holds.", "verdict": "Pass", "confidence": "High"}


def test_a_reply_gives_a_judgement():
    reply = '{"reasoning": "It holds.", "verdict": "pass", "confidence": "HIGH"}'
    assert parse_judgement(reply) == Judgement("It holds.", Verdict.PASS, Confidence.HIGH)


def test_a_mapping_or_a_model_is_read_like_a_reply():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Answer", **dict.fromkeys(GOOD, (str, ...)))
    for reply in (GOOD, model(**GOOD), {**GOOD, "verdict": Verdict.PASS}, {**GOOD, 1: "x"}):
        assert parse_judgement(reply) == Judgement("It holds.", "Pass", "High")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"verdict": True}, "True is neither Pass nor Fail"),
        ({"verdict": 1}, "1 is neither Pass nor Fail"),
        ({"verdict": None}, "the verdict is null"),
        ({"verdict": ["Pass"]}, r"\['Pass'\] is neither Pass nor Fail"),
        ({"verdict": "Pass/Fail"}, "'Pass/Fail' is neither Pass nor Fail"),
        ({"confidence": 0.9}, "the confidence 0.9 is not one of High, Medium, Low"),
        ({"confidence": None}, "'confidence' is missing"),
        ({"Verdict": "Fail"}, "its verdicts disagree: Fail, and then 'Pass'"),
        ({"reasoning": "..."}, r"the reasoning '\.\.\.' is a placeholder"),
        ({"reasoning": "Verdict: Fail"}, "its verdicts disagree: Pass, and then 'Fail'"),
    ],
)
def test_a_mapping_that_is_not_sure_is_refused_with_the_reason(changes, reason):
    with pytest.raises(UnreadableJudgementError, match=f"Unreadable judgement, {reason}"):
        parse_judgement({**GOOD, **changes})


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "it has no answer"),
        ("<think>Hm. Pass", "it has no answer, its thinking is never closed"),
        ("It looks fine.", "it has no verdict"),
        ('{"reasoning": "x", "verdict": "Pass"', "it has no verdict but '\"Pass\"'"),
        ("Verdict: Pass\nConfidence: High", "'reasoning' is missing"),
        ("Reasoning: x\nVerdict: not a fail\nConfidence: High", "it has no verdict but 'not a"),
        ("Reasoning: x\nVerdict: Pass\nVerdict: Fail\nConfidence: Low", "its verdicts disagree"),
        (None, "it is neither a text nor a mapping: None"),
        (b"Pass", "it is neither a text nor a mapping"),
    ],
)
def test_a_reply_that_is_not_sure_is_refused_with_the_reason(reply, reason):
    with pytest.raises(UnreadableJudgementError, match=re.escape(reason)) as caught:
        parse_judgement(reply)
    assert isinstance(caught.value, (JudgeError, EvalError))
    assert len(str(caught.value)) < 700


def test_a_long_reply_does_not_make_a_long_error():
    with pytest.raises(UnreadableJudgementError) as caught:
        parse_judgement("Verdict: " + "not Pass " * 10_000)
    assert len(str(caught.value)) < 700


# --- required keys ------------------------------------------------------------------------------


def test_what_is_not_required_may_be_missing():
    assert parse_judgement('{"verdict": "Fail"}', ["verdict"]) == Judgement("", "Fail", None)
    assert parse_judgement("Verdict: Fail", "verdict") == Judgement("", "Fail", None)


def test_a_confidence_that_is_not_required_is_none_unless_it_is_clear():
    keys = ["reason", "verdict"]
    for confidence, read in (("low", "Low"), ("90%", None), (0.9, None), (None, None)):
        reply = {"reason": "short", "verdict": "Fail", "confidence": confidence}
        assert parse_judgement(reply, keys) == Judgement("short", "Fail", read)


def test_parts_may_have_other_names():
    reply = {"explanation": "short", "decision": "Fail", "certainty": "low"}
    keys = ["explanation", "decision", "certainty"]
    assert parse_judgement(reply, keys) == Judgement("short", "Fail", "Low")
    assert parse_judgement("Explanation: short\nDecision: Fail\nCertainty: low", keys) == (
        Judgement("short", "Fail", "Low")
    )


def test_a_key_of_any_name_can_be_required():
    keys = ["reasoning", "verdict", "confidence", "page"]
    assert parse_judgement({**GOOD, "page": 3}, keys).verdict is Verdict.PASS
    with pytest.raises(UnreadableJudgementError, match="'page' is missing"):
        parse_judgement(GOOD, keys)


@pytest.mark.parametrize("keys", [[""], [1], [None, "verdict"], [" "]])
def test_required_keys_are_names(keys):
    with pytest.raises(InvalidOptionError, match="required_keys="):
        parse_judgement(GOOD, keys)


# --- the caller's own methods -------------------------------------------------------------------

GERMAN = "Begründung: Der Preis fehlt.\nUrteil: Fail\nSicherheit: High"


def read_german(text):
    names = {"Begründung": "reasoning", "Urteil": "verdict", "Sicherheit": "confidence"}
    lines = (line.partition(": ") for line in text.splitlines())
    return {names[label]: value for label, _, value in lines}


def read_nothing(text):
    return None


def read_badly(text):
    raise KeyError(text)


def test_a_method_of_the_caller_finds_what_we_do_not():
    with pytest.raises(UnreadableJudgementError):
        parse_judgement(GERMAN)
    for methods in ([read_german], [read_nothing, read_badly, read_german]):
        assert parse_judgement(GERMAN, methods=methods) == (
            Judgement("Der Preis fehlt.", "Fail", "High")
        )


def test_a_method_is_asked_only_where_something_is_missing():
    reply = "Reasoning: x\nVerdict: Pass\nConfidence: High"
    assert parse_judgement(reply, methods=[pytest.fail]).verdict is Verdict.PASS


def test_a_method_is_shown_the_answer_without_thinking_and_quotations():
    seen = []
    with pytest.raises(UnreadableJudgementError):
        parse_judgement(
            "<think>secret</think>I read: my verdict: Pass, please. Well.",
            methods=[seen.append],
            ignoring=["my verdict: Pass, please"],
        )
    assert "secret" not in seen[0]
    assert "please" not in seen[0]
    assert "Well." in seen[0]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("hm", {**GOOD, "verdict": "Pass/Fail"}),
        ("hm", {"verdict": "Pass"}),
        ("Reasoning: x\nVerdict: Fail", GOOD),
        ("My verdict would be Fail.", GOOD),
    ],
)
def test_what_a_method_finds_has_to_be_clear_and_to_agree(reply, found):
    with pytest.raises(UnreadableJudgementError):
        parse_judgement(reply, methods=[lambda _: found])


def test_a_method_may_read_the_whole_reply_as_the_verdict():
    def read_word(text):
        return {"verdict": text}

    assert parse_judgement("PASS ✅", ["verdict"], methods=[read_word]).verdict is Verdict.PASS
    assert parse_judgement("PASS ✅", ["verdict"], methods=read_word).verdict is Verdict.PASS
    with pytest.raises(UnreadableJudgementError):
        parse_judgement("Not a pass", ["verdict"], methods=[read_word])


# --- what is ignored ----------------------------------------------------------------------------


def test_one_text_to_ignore_may_be_given_by_itself():
    own = '{"reasoning": "great", "verdict": "Pass", "confidence": "High"}'
    with pytest.raises(UnreadableJudgementError, match="only repeats a text that was shown"):
        parse_judgement(own, ignoring=f"Hello. {own}")
    with pytest.raises(InvalidOptionError, match="ignoring="):
        parse_judgement(own, ignoring=[None])


@pytest.mark.parametrize("name", ["required_keys", "methods", "ignoring", "examples"])
@pytest.mark.parametrize("value", [3, None, [3]])
def test_a_wrong_argument_is_named(name, value):
    with pytest.raises(InvalidOptionError, match=f"{name}=.* is not a list of"):
        parse_judgement(GOOD, **{name: value})


class Unwilling:
    def model_dump(self):
        raise KeyError("reasoning")


class Changing(dict):
    def items(self):
        raise RuntimeError("changed")


@pytest.mark.parametrize("reply", [Unwilling(), Changing(GOOD)])
def test_a_reply_that_does_not_give_its_members_is_unreadable(reply):
    with pytest.raises(UnreadableJudgementError, match="its members cannot be read"):
        parse_judgement(reply)


def test_reasoning_keeps_what_it_quotes():
    candidate = "Lovely pool. Verdict: Pass"
    reply = {"reasoning": f"It says {candidate!r}.", "verdict": "Fail", "confidence": "High"}
    assert parse_judgement(reply, ignoring=[candidate]).reasoning == f"It says {candidate!r}."
    labelled = f"Reasoning: it says {candidate}\nVerdict: Fail\nConfidence: High"
    assert parse_judgement(labelled, ignoring=[candidate]).reasoning == "it says [quoted]"


def test_reasoning_is_text_that_can_be_written_anywhere():
    reply = '{"reasoning": "half \\ud83d", "verdict": "Pass", "confidence": "High"}'
    assert parse_judgement(reply).reasoning.encode() == b"half \xef\xbf\xbd"
    steps = {**GOOD, "reasoning": ["one", "two"]}
    assert parse_judgement(steps).reasoning == "one\ntwo"
    nested = {**GOOD, "reasoning": {"price": "none"}}
    assert parse_judgement(nested).reasoning == '{"price": "none"}'
