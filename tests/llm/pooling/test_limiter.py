"""A server that pushes back gets fewer calls, soon more again, and nobody is passed over."""

import asyncio
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.llm.pooling.limiter import Limiter


def run(test):
    asyncio.run(asyncio.wait_for(test(), 5))


async def settled():
    for _ in range(5):
        await asyncio.sleep(0)


def test_no_more_begin_than_there_are_places_and_who_waits_longest_is_next():
    async def test():
        limiter, begun = Limiter(2), []

        async def caller(number):
            await limiter.acquire()
            begun.append(number)

        callers = [asyncio.ensure_future(caller(number)) for number in range(6)]
        for expected in range(2, 7):
            await settled()
            assert begun == list(range(expected))
            assert limiter.under_way == 2
            limiter.release(answered=True)
        await asyncio.gather(*callers)

    run(test)


def test_a_newcomer_does_not_pass_those_who_wait():
    async def test():
        limiter = Limiter(1)
        await limiter.acquire()
        waiting = asyncio.ensure_future(limiter.acquire())
        await settled()
        limiter.release()
        newcomer = asyncio.ensure_future(limiter.acquire())
        await settled()
        assert (waiting.done(), newcomer.done()) == (True, False)
        limiter.release()
        await newcomer

    run(test)


@pytest.mark.parametrize(
    ("most", "halvings", "limit"), [(32, 1, 16), (32, 3, 4), (3, 1, 1.5), (3, 2, 1), (1, 5, 1)]
)
def test_the_bound_is_halved_down_to_one(most, halvings, limit):
    async def test():
        limiter = Limiter(most)
        for era in range(halvings):
            limiter.slower(era, 0)
        assert limiter.limit == limit

    run(test)


def test_calls_that_were_under_way_together_halve_the_bound_once():
    async def test():
        limiter = Limiter(32)
        eras = [await limiter.acquire() for _ in range(32)]
        for era in eras:
            limiter.slower(era, 0)
        assert limiter.limit == 16
        for _ in eras:
            limiter.release()
        await asyncio.sleep(0.001)
        limiter.slower(await limiter.acquire(), 0)
        assert limiter.limit == 8

    run(test)


def test_each_round_of_answers_brings_one_more_place_up_to_the_most():
    async def test():
        limiter = Limiter(8)
        limiter.slower(0, 0)
        limiter.slower(1, 0)
        await asyncio.sleep(0.001)
        rounds = []
        for _ in range(12):
            places = int(limiter.limit)
            rounds.append(places)
            for _ in range(places):
                await limiter.acquire()
            assert limiter.under_way == places
            for _ in range(places):
                limiter.release(answered=True)
        assert rounds == sorted(rounds)
        assert all(after - before <= 1 for before, after in itertools.pairwise(rounds))
        assert rounds[-1] == limiter.limit == 8

    run(test)


def test_a_failed_call_brings_no_place():
    async def test():
        limiter = Limiter(8)
        limiter.slower(0, 0)
        await asyncio.sleep(0.001)
        await limiter.acquire()
        limiter.release()
        assert limiter.limit == 4

    run(test)


def test_nobody_begins_before_the_pause_is_over():
    async def test():
        limiter, loop = Limiter(4), asyncio.get_running_loop()
        limiter.slower(0, 0.1)
        began = loop.time()
        await asyncio.gather(limiter.acquire(), limiter.acquire())
        assert 0.09 < loop.time() - began < 2
        assert limiter.under_way == 2

    run(test)


@pytest.mark.parametrize("pauses", [(0.02, 0.1), (0.1, 0.02)])
def test_of_the_pauses_that_a_wave_is_told_the_longest_holds(pauses):
    async def test():
        limiter, loop = Limiter(4), asyncio.get_running_loop()
        eras = [await limiter.acquire() for _ in pauses]
        began = loop.time()
        for era, seconds in zip(eras, pauses):
            limiter.slower(era, seconds, asked=seconds)
            limiter.release()
        assert (limiter.limit, limiter.era) == (2, 1)
        await asyncio.gather(limiter.acquire(), limiter.acquire())
        assert 0.09 < loop.time() - began < 2
        assert limiter.under_way == 2

    run(test)


def test_who_is_pushed_back_after_the_others_have_gone_on_stops_them_and_halves_nothing():
    async def test():
        limiter, loop = Limiter(4), asyncio.get_running_loop()
        first, last = [await limiter.acquire() for _ in range(2)]
        limiter.slower(first, 0)
        limiter.release()
        await limiter.acquire()
        began = loop.time()
        limiter.slower(last, 0.2, asked=0.1)
        limiter.release()
        assert limiter.limit == 2
        await limiter.acquire()
        assert 0.09 < loop.time() - began < 2

    run(test)


def test_a_wave_that_is_told_no_time_pauses_once():
    async def test():
        limiter = Limiter(4)
        eras = [await limiter.acquire() for _ in range(3)]
        for era, seconds in zip(eras, (0.01, 3600, 3600)):
            limiter.slower(era, seconds)
            limiter.release()
        await limiter.acquire()

    run(test)


def test_a_caller_who_gives_up_leaves_the_place_to_the_next():
    async def test():
        limiter = Limiter(1)
        await limiter.acquire()
        first, second = (asyncio.ensure_future(limiter.acquire()) for _ in range(2))
        await settled()
        first.cancel()
        await settled()
        limiter.release()
        await second
        third, fourth = (asyncio.ensure_future(limiter.acquire()) for _ in range(2))
        await settled()
        limiter.release()
        third.cancel()  # it has just been let in, and does not know yet
        await fourth
        assert limiter.under_way == 1

    run(test)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 6),
    st.lists(st.sampled_from(["answered", "failed", "slower", "cancelled"]), max_size=40),
)
def test_whatever_happens_the_bound_holds_and_everybody_has_a_turn(most, fates):
    async def test():
        limiter, seen = Limiter(most), []

        async def caller(fate):
            era = await limiter.acquire()
            seen.append(limiter.under_way)
            try:
                await asyncio.sleep(0)
                if fate == "slower":
                    limiter.slower(era, 0)
            finally:
                limiter.release(answered=fate == "answered")

        callers = [asyncio.ensure_future(caller(fate)) for fate in fates]
        await asyncio.sleep(0)
        for fate, task in zip(fates, callers):
            if fate == "cancelled":
                task.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        assert limiter.under_way == 0
        assert max(seen, default=0) <= most
        assert len(seen) >= sum(fate != "cancelled" for fate in fates)

    run(test)
