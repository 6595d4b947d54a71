"""Rows come in chunks, and the garbage collector leaves those alone."""

import gc

import pytest

from llmeval_integrations import Result
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.chunks import MOST_ROWS, in_chunks, seldom_collected
from llmeval_integrations.runs.reading.source import Source


class Thresholds(Evaluator):
    """Says from how many objects on the collector looks."""

    def check(self, sample):
        if sample.output == "bad":
            raise KeyboardInterrupt
        return Result(gc.get_threshold()[0])


@pytest.fixture(autouse=True)
def threshold():
    before = gc.get_threshold()
    gc.set_threshold(300, 7, 7)
    yield 300, 7, 7
    gc.set_threshold(*before)


def test_chunks_grow_to_so_many_rows_where_they_are_quick():
    source = Source("numbers", records=iter(enumerate(range(1_000))))
    sizes = [len(chunk) for chunk in in_chunks(source)]
    assert sizes[:5] == [8, 16, 32, 64, 128]
    assert (max(sizes), sum(sizes)) == (MOST_ROWS, 1_000)


def test_the_collector_is_as_before_when_a_run_is_over(threshold):
    run = evaluate([{"output": "good"}], [Thresholds()])
    assert [row.score for row in run.rows] == [50_000]
    assert gc.get_threshold() == threshold
    with pytest.raises(KeyboardInterrupt):
        evaluate([{"output": "bad"}], [Thresholds()])
    assert gc.get_threshold() == threshold


def test_rubbish_is_still_collected():
    """What refers to itself is found in the end, however long a run takes."""

    class Rubbish:
        alive = 0

        def __init__(self):
            self.itself = self
            Rubbish.alive += 1

        def __del__(self):
            Rubbish.alive -= 1

    with seldom_collected():
        most = 0
        for _ in range(200_000):
            Rubbish()
            most = max(most, Rubbish.alive)
    assert 300 < most < 60_000


def test_a_collector_that_is_off_stays_off():
    gc.set_threshold(0)
    with seldom_collected():
        assert gc.get_threshold()[0] == 0
