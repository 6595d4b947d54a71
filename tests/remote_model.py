"""A model in memory that is awaited like a remote one, and records its requests."""

import asyncio
from dataclasses import dataclass
from typing import Any

from llmeval_integrations import Result
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Reply, Usage


class Remote(Client):
    """Takes `seconds` for each call; `says(text)` gives a text, a Reply, or an error to raise."""

    def __init__(self, says=str.upper, *, seconds=0.01, retries=0, **identity):
        self.says = says
        self.seconds = seconds
        self.retries = retries
        self.asked = []
        self.under_way = self.most_under_way = 0
        self._identity = {"client": "remote", "name": "remote-1", **identity}

    def identity(self):
        return self._identity

    async def complete(self, request):
        self.asked.append(request.text)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.seconds)
            said = self.says(request.text)
        finally:
            self.under_way -= 1
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        return Reply(said, usage=Usage(10, 5), model="remote-1")


def question(text="Where?", **fields):
    return Request((Message("user", text),), **fields)


@dataclass(frozen=True)
class Repeats(JudgedEvaluator):
    """What does the model say to the output?"""

    model: Any

    async def judge(self, sample, ask):
        reply = await ask(str(sample.output))
        return Result(1.0, True, reply.text)
