"""A model that says what a test wants, so that what a judge makes of it is seen."""

import json
from collections.abc import Callable

from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.reply import JudgeReply, Usage


class Scripted(Client):
    """Replies with each text in turn, the last one ever after; remembers what it was asked.

    A reply is a text, an object that is written as JSON, a JudgeReply, an error that is raised,
    or a function of the request that gives one of these.
    """

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    def identity(self):
        return {"client": "scripted"}

    def answer(self, request):
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Callable):
            reply = reply(request)
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, JudgeReply):
            text = reply if isinstance(reply, str) else json.dumps(reply)
            reply = JudgeReply(text, usage=Usage(10, 5), model="scripted-1")
        return reply
        yield  # the work of a client is a generator

    @property
    def said(self):
        """All that the last request says."""
        return "\n".join(message.text for message in self.requests[-1].messages)


def judgement(verdict="Pass", confidence="High", reasoning="because"):
    return {"reasoning": reasoning, "verdict": verdict, "confidence": confidence}
