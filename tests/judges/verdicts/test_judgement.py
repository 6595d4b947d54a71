"""A judgement: words out of a few, in any case, and nothing else."""

import json
import pickle

import msgspec
import pytest

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.judges.verdicts.judgement import Confidence, Judgement, Verdict


@pytest.mark.parametrize("text", ["Pass", "pass", "PASS", " pAsS\n"])
def test_a_verdict_is_taken_in_any_case(text):
    assert Verdict(text) is Verdict.PASS


@pytest.mark.parametrize("text", ["High", "high", "HIGH "])
def test_a_confidence_is_taken_in_any_case(text):
    assert Confidence(text) is Confidence.HIGH


@pytest.mark.parametrize("value", ["", "Passed", "pass/fail", "P", True, 1, None, 0.5, ["Pass"]])
def test_what_is_no_verdict_is_named_with_what_would_be(value):
    with pytest.raises(InvalidOptionError, match="is not one of Pass, Fail"):
        Verdict(value)


def test_words_are_texts():
    assert Verdict.FAIL == "Fail"
    assert (str(Verdict.FAIL), f"{Verdict.FAIL:>6}") == ("Fail", "  Fail")
    assert json.dumps([Verdict.PASS, Confidence.LOW]) == '["Pass", "Low"]'
    assert [level.value for level in Confidence] == ["High", "Medium", "Low"]


def test_a_judgement_takes_words_and_gives_them_back():
    judgement = Judgement("because", "pass", "HIGH")
    assert judgement == Judgement("because", Verdict.PASS, Confidence.HIGH)
    assert (judgement.verdict, judgement.confidence) == ("Pass", "High")
    assert Judgement("", "Fail").confidence is None
    assert pickle.loads(pickle.dumps(judgement)) == judgement  # noqa: S301
    assert msgspec.json.decode(msgspec.json.encode(judgement), type=Judgement) == judgement


@pytest.mark.parametrize(("verdict", "confidence"), [("maybe", "High"), ("Pass", "95%")])
def test_a_judgement_takes_no_other_words(verdict, confidence):
    with pytest.raises(InvalidOptionError):
        Judgement("because", verdict, confidence)


def test_a_judgement_stays_as_it_is():
    with pytest.raises(AttributeError):
        Judgement("because", "Pass").verdict = Verdict.FAIL
