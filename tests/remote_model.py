"""A model that is awaited like one over the network, in memory, and watches how it is asked."""

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from llmeval_integrations import Result
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm.backoff import tried_again
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply, Usage
from llmeval_integrations.llm.request import JudgeRequest
from llmeval_integrations.llm.steps import Call


class Remote(Client):
    """Takes `seconds` for each call and says what `says(text)` gives or raises."""

    def __init__(self, says=str.upper, *, seconds=0.01, retries=0, **identity):
        self.says = says
        self.seconds = seconds
        self.retries = retries
        self.asked = []
        self.under_way = self.most_under_way = 0
        self.loops = set()
        self.closed_in = []
        self._identity = {"client": "remote", "name": "remote-1", **identity}

    def identity(self):
        return self._identity

    def answer(self, request):
        return (yield from tried_again(partial(self._called, request), self.retries))

    def _called(self, request):
        text = "\n".join(message.text for message in request.messages)
        return (
            yield Call(
                lambda asynchronous: self._acall if asynchronous else self._call, {"text": text}, 30
            )
        )

    async def _acall(self, text):
        self.loops.add(asyncio.get_running_loop())
        self._begin(text)
        try:
            await asyncio.sleep(self.seconds)
            return self._said(text)
        finally:
            self.under_way -= 1

    def _call(self, text):
        self._begin(text)
        time.sleep(self.seconds)
        self.under_way -= 1
        return self._said(text)

    def _begin(self, text):
        self.asked.append(text)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)

    def _said(self, text):
        said = self.says(text)
        if isinstance(said, JudgeReply):
            return said
        return JudgeReply(said, usage=Usage(10, 5), model="remote-1")

    async def aclose(self):
        self.closed_in.append(asyncio.get_running_loop())


def question(text, **fields):
    return JudgeRequest((Message("user", text),), **fields)


@dataclass(frozen=True)
class Repeats(JudgedEvaluator):
    """What does the model say to the output?"""

    client: Any

    def judge(self, sample):
        reply = yield question(str(sample.output))
        return Result(1.0, True, reply.text)
