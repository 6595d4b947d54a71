"""One loop for the process: any thread waits for it, any loop awaits it, a fork has its own."""

import asyncio
import os
from dataclasses import dataclass
from typing import Any

import pytest
from remote_model import Remote, Repeats

from llmeval_integrations import Result, Sample
from llmeval_integrations.judges.evaluator import JudgedEvaluator


def test_blocking_and_awaited_calls_agree_also_inside_a_running_loop():
    judge = Repeats(Remote(seconds=0))

    async def both():
        return judge("a").label, (await judge.aevaluate(Sample("a"))).label

    assert asyncio.run(both()) == ("A", "A")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_asks_on_a_loop_of_its_own():
    judge = Repeats(Remote(seconds=0))
    assert judge("a").label == "A"
    child = os.fork()
    if not child:
        os._exit(judge("b").label != "B")
    assert os.waitpid(child, 0)[1] == 0


def test_a_judge_that_would_wait_for_itself_is_told_how_to_ask_another():
    @dataclass(frozen=True)
    class Asks(JudgedEvaluator):
        other: Any

        async def judge(self, sample, ask):
            return Result(self.other(sample.output).score)

    with pytest.raises(RuntimeError, match=r"await judge\.result\(sample, ask\)"):
        Asks(Repeats(Remote()))("a")
