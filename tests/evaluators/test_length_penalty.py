"""What too short and too long a text costs."""

import asyncio
from itertools import product

import pytest

from llmeval_integrations import InvalidOptionError, LengthPenalty


@pytest.mark.parametrize("bounds", [(11, 10), (1, 0), (2000, 1000)])
def test_bounds_that_leave_no_length_are_refused(bounds):
    with pytest.raises(InvalidOptionError, match="min_length"):
        LengthPenalty(*bounds)


def test_numbers_of_numpy_become_pythons():
    np = pytest.importorskip("numpy")
    penalty = LengthPenalty(max_length=np.int64(20), penalty_rate=np.float32(0.5))
    assert penalty == LengthPenalty(max_length=20, penalty_rate=0.5)
    assert (type(penalty.max_length), type(penalty.penalty_rate)) == (int, float)
    with pytest.raises(InvalidOptionError, match="not a whole number"):
        LengthPenalty(max_length=np.float32(20))


def test_equal_to_openjudge():
    peer = pytest.importorskip("openjudge.graders.format.length_penalty")
    options = [
        {},
        {"min_length": 0, "max_length": 5, "penalty_rate": 0.3},
        {"min_length": 7, "max_length": 7, "penalty_rate": 1},
    ]
    texts = ["é\n😀", *("x" * length for length in (1, 5, 6, 7, 8, 9, 10, 11, 1000, 1001, 5000))]
    for chosen, text in product(options, texts):
        grader = peer.LengthPenaltyGrader(**chosen)
        theirs = asyncio.run(grader.aevaluate(response=text))
        ours = LengthPenalty(**chosen)(text)
        said = (theirs.score, theirs.reason, theirs.metadata)
        assert (ours.score, ours.reason, ours.metadata) == said
        too_short = ours.reason.startswith("Too short")
        label = None if ours.score == 0 else "too_short" if too_short else "too_long"
        assert (ours.passed, ours.label) == (label is None, label)
