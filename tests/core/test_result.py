"""What an evaluator says: scored, or unscored with a reason."""

import copy
import pickle

import pytest

from llmeval_integrations import Result


@pytest.mark.parametrize(
    ("result", "scored", "says"),
    [
        (Result(True, True, "label", "fine"), True, None),
        (Result(0, False, None, "not JSON"), True, "failed: not JSON"),
        (Result(False, False, None, ""), True, "failed: score False"),
        (Result(0.5, None), True, "failed: score 0.5"),
        (Result.unscored("the judge is silent"), False, "unscored: the judge is silent"),
        (Result(None, None, "warm", "it is", answered=True), False, "no verdict: it is"),
    ],
    ids=str,
)
def test_expect_pass_gives_the_result_back_or_says_why_not(result, scored, says):
    assert result.scored is scored
    if says is None:
        assert result.assert_passes() is result
    else:
        with pytest.raises(AssertionError) as raised:
            result.assert_passes()
        assert str(raised.value) == says


def test_a_score_of_zero_is_a_score_and_an_unscored_result_has_none():
    assert Result(0, False).scored
    unscored = Result.unscored("no answer", label="timeout", seconds=5)
    assert unscored == Result(None, None, "timeout", "no answer", {"seconds": 5})
    assert unscored.is_unscored
    assert not Result(0, False).is_unscored
    assert not Result(None, None, "warm", answered=True).is_unscored


def test_results_share_no_metadata():
    one, other = Result(1), Result(1)
    one.metadata["a"] = 1
    assert other.metadata == {}


def test_a_result_cannot_be_changed_but_copied_compared_and_pickled():
    result = Result(0.5, False, "label", "reason", {"errors": [{"pointer": "/a"}]})
    with pytest.raises(AttributeError):
        result.score = 1
    for twin in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):  # noqa: S301
        assert twin == result
    copy.deepcopy(result).metadata["errors"].clear()
    assert result.metadata["errors"]
