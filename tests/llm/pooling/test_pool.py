"""Works side by side: in order, within bounds, each for itself, and clean at the end."""

import asyncio
import signal
import subprocess
import sys
import threading
import time

import pytest
from pace import at_most, pace
from remote_model import Remote, question

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.client import Ask
from llmeval_integrations.llm.pooling.pool import Pool
from llmeval_integrations.llm.steps import Pause, Together


def said(client, text):
    return (yield Ask(client, question(text))).text


def pause(seconds, result=None):
    yield Pause(seconds)
    return result


def failing(error):
    raise error
    yield  # a work is a generator


def test_results_come_in_the_order_of_the_works_whoever_is_first():
    with Pool(4) as pool:
        assert pool.all(pause(0.05 / (n + 1), n) for n in range(20)) == list(range(20))


def test_what_a_work_raises_stands_in_its_place_and_spoils_no_other():
    error = ValueError("bad")
    with Pool(3) as pool:
        results = pool.all([pause(0.01, 1), failing(error), pause(0.01, 3)])
    assert results == [1, error, 3]


def test_so_many_calls_are_under_way_as_were_asked_for_and_no_more():
    client = Remote(seconds=0.02)
    with Pool(7) as pool:
        assert len(pool.all(said(client, str(n)) for n in range(50))) == 50
    assert client.most_under_way == 7


def test_the_calls_of_one_work_count_each():
    client = Remote(seconds=0.01)

    def many():
        return (yield Together([said(client, f"{n}") for n in range(20)]))

    with Pool(3) as pool:
        assert pool.all([many(), many()]) == [[str(n) for n in range(20)]] * 2
    assert client.most_under_way == 3


def test_works_are_taken_one_by_one_as_workers_are_free():
    taken = []

    def works():
        for number in range(100):
            taken.append(number)
            yield said(client, str(len(taken)))

    client = Remote(lambda text: f"{text} {len(taken)}", seconds=0.005)
    with Pool(5) as pool:
        results = [tuple(map(int, text.split())) for text in pool.all(works())]
    assert [number for number, _ in results] == list(range(1, 101))
    assert all(seen - number <= 10 for number, seen in results)


def test_a_work_that_pauses_leaves_its_place_to_others():
    client = Remote(seconds=0.01)

    def paused():
        yield Pause(1)
        return len(client.asked)

    with Pool(2) as pool:
        results = pool.all([paused(), paused(), *(said(client, str(n)) for n in range(20))])
    assert results[:2] == [20, 20]
    assert client.most_under_way == 2


def test_a_pool_serves_one_job_after_the_other_on_one_loop_and_closes_clients_on_it():
    first, second = Remote(seconds=0), Remote(seconds=0)
    with Pool(4) as pool:
        for _ in range(200):  # as often idle and busy again
            assert pool.all([said(first, "a")]) == ["A"]
        assert pool.all([]) == []
        assert pool.all([said(second, "b")] * 1) == ["B"]
        assert not first.closed_in
    assert len(first.loops) == 1
    assert first.closed_in == second.closed_in == [*first.loops]
    assert not any(thread.name == "llmeval-pool" for thread in threading.enumerate())


def test_jobs_that_were_begun_together_end_each_with_its_own_results():
    client = Remote(seconds=0.01)

    def works(size):
        return (said(client, f"{size}.{n}") for n in range(size))

    with Pool(4) as pool:
        jobs = [pool.start(works(size)) for size in range(9)]
        results = [pool.wait(job) for job in reversed(jobs)]
    assert results == [[f"{size}.{n}" for n in range(size)] for size in reversed(range(9))]


def test_it_works_within_a_running_loop():
    async def cell():
        with Pool(4) as pool:
            return pool.all(said(Remote(), text) for text in "ab")

    assert asyncio.run(cell()) == ["A", "B"]


def test_what_the_iterator_of_works_raises_is_raised():
    def works():
        yield pause(0.001)
        raise LookupError("no more samples")

    with Pool(2) as pool:
        with pytest.raises(LookupError, match="no more samples"):
            pool.all(works())
        assert pool.all([pause(0, "still there")]) == ["still there"]


def test_an_interrupt_within_a_work_is_the_callers():
    with Pool(2) as pool, pytest.raises(KeyboardInterrupt):
        pool.all([failing(KeyboardInterrupt()), pause(0.01)])


def test_a_call_that_is_cancelled_from_elsewhere_fails_alone():
    def cancelled(_text):
        raise asyncio.CancelledError

    with Pool(2) as pool:
        [lost, kept] = pool.all([said(Remote(cancelled), "a"), said(Remote(), "b")])
    assert (lost.kind, kept) == ("connection", "B")


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, "4", None, True])
def test_a_concurrency_that_makes_no_sense_is_named(concurrency):
    with pytest.raises(InvalidOptionError, match="is not a whole number of at least 1"):
        Pool(concurrency)


class Blocking(Remote):
    """A model without awaitable calls, which the event loop's threads have to make."""

    async def _acall(self, text):
        return await asyncio.to_thread(self._call, text)


class AllTogether(Blocking):
    """One that answers nobody until 24 ask."""

    together = threading.Barrier(24, timeout=30)

    def _call(self, text):
        self.together.wait()
        return super()._call(text)


def test_models_that_can_only_block_are_asked_side_by_side_too():
    client = AllTogether()
    with Pool(24) as pool:  # an event loop's own threads are few on few cores
        assert len(pool.all(said(client, str(n)) for n in range(24))) == 24


def test_an_interrupt_does_not_wait_for_calls_that_cannot_be_stopped():
    with at_most(1, time.perf_counter), pytest.raises(KeyboardInterrupt), Pool(2) as pool:
        pool.all([said(Blocking(seconds=2), "a"), failing(KeyboardInterrupt())])


INTERRUPTED = """
import sys, time
sys.path[:0] = {paths!r}
from remote_model import Remote, question
from llmeval_integrations.llm.client import Ask
from llmeval_integrations.llm.pooling.pool import Pool

def said(n):
    return (yield Ask(client, question(str(n)))).text

client = Remote(seconds=60)
print("begun", flush=True)
try:
    with Pool(8) as pool:
        pool.all(map(said, range(1000)))
except KeyboardInterrupt:
    print("interrupted", client.under_way, len(client.closed_in), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to one process")
def test_ctrl_c_ends_all_calls_and_closes_the_clients():
    code = INTERRUPTED.format(paths=[path for path in sys.path if "tests" in path])
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "begun\n"
    time.sleep(0.5)
    with at_most(10, time.perf_counter):
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=20)
        assert (output, errors) == ("interrupted 0 1\n", "")


class RateLimited:
    """Answers so many calls in each tenth of a second, on a slow machine in longer, and no more."""

    def __init__(self, calls, retry_after=None):
        self.calls, self.seconds = calls, 0.1 * pace(clock=time.perf_counter)
        self.retry_after = self.seconds if retry_after is None else retry_after
        self.pushed_back, self._in_window = 0, {}

    def __call__(self, text):
        window = int(time.monotonic() / self.seconds)
        self._in_window[window] = self._in_window.get(window, 0) + 1
        if self._in_window[window] > self.calls:
            self.pushed_back += 1
            raise ClientError("slow down", kind="rate_limited", retry_after=self.retry_after)
        return text


@pytest.mark.nightly
def test_a_server_that_limits_the_rate_answers_all_in_the_end():
    limited = RateLimited(20)
    client = Remote(limited, seconds=0.005, retries=1)
    with Pool(32) as pool:
        results = pool.all(said(client, str(n)) for n in range(200))
    assert results == [str(n) for n in range(200)]
    assert 0 < limited.pushed_back < 200


def test_a_server_that_pushes_everybody_back_is_not_asked_for_ever():
    client = Remote(RateLimited(0, retry_after=0.01), retries=1)
    with Pool(8) as pool:
        results = pool.all(said(client, str(n)) for n in range(16))
    assert {result.kind for result in results} == {"rate_limited"}
    assert len(client.asked) == 32  # each as often as its client tries


def test_a_pause_that_is_too_long_is_a_refusal():
    client = Remote(RateLimited(0, retry_after=3600), retries=1)
    with Pool(8) as pool:
        [result] = pool.all([said(client, "a")])
    assert (result.kind, len(client.asked)) == ("rate_limited", 1)


def test_one_server_that_pushes_back_slows_no_other():
    slow = Remote(RateLimited(0, retry_after=0.5), name="slow", retries=1)
    fast = Remote(name="fast")
    with Pool(8) as pool:
        pushed_back = pool.start(said(slow, str(n)) for n in range(4))
        with at_most(0.4, time.perf_counter):
            pool.all(said(fast, str(n)) for n in range(4))
        assert {result.kind for result in pool.wait(pushed_back)} == {"rate_limited"}


def test_clients_of_one_server_share_its_bound():
    clients = [Remote(seconds=0.02, temperature=n) for n in range(3)]

    def together():
        return (yield Together([said(client, "a") for client in clients]))

    with Pool(2) as pool:
        pool.all([together(), together()])
    began = sum(client.most_under_way for client in clients)
    assert began <= 4
