"""What an evaluator says: scored, or unscored with a reason."""

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
    assert result.is_unscored is bool(says and says.startswith("unscored"))
    if says is None:
        assert result.assert_passes() is result
    else:
        with pytest.raises(AssertionError) as raised:
            result.assert_passes()
        assert str(raised.value) == says
