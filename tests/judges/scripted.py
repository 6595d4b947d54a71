"""A model that says what a test wants, so that what a judge makes of it is seen."""

import json

from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.reply import Reply, Usage


class Scripted(Client):
    """Replies with each text in turn, the last one ever after; remembers what it was asked.

    A reply is a text, an object that is written as JSON, a Reply, an error that is raised,
    or a function of the request that gives one of these.
    """

    name = "scripted-1"
    retries = 0

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    def identity(self):
        return {"client": "scripted", "name": self.name}

    async def complete(self, request):
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        reply = reply(request) if callable(reply) else reply
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, Reply):
            text = reply if isinstance(reply, str) else json.dumps(reply)
            reply = Reply(text, usage=Usage(10, 5), model="scripted-1")
        return reply

    @property
    def said(self):
        """All that the last request says."""
        return "\n".join(message.text for message in self.requests[-1].messages)


def judgement(verdict="Pass", confidence="High", reasoning="because"):
    return {"reasoning": reasoning, "verdict": verdict, "confidence": confidence}


def judgements(*verdicts):
    return {f"question_{number}": judgement(verdict) for number, verdict in enumerate(verdicts, 1)}
