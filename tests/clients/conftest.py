import asyncio

import pytest
from server import ModelServer

from llmeval_integrations.asking.messages import Message
from llmeval_integrations.asking.request import JudgeRequest


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


@pytest.fixture(params=["sync", "async"])
def ask(request):
    """Ask a client, once by its blocking call and once by its awaited one, all in one loop."""
    if request.param == "sync":
        yield lambda client, wanted: client.ask(wanted)
        return
    loop, asked = asyncio.new_event_loop(), []

    def awaited(client, wanted):
        asked.append(client)
        return loop.run_until_complete(client.aask(wanted))

    yield awaited
    for client in asked:
        loop.run_until_complete(client.aclose())
    loop.close()


@pytest.fixture
def question():
    """Make a request of one user message: `question("Where?", schema=…)`."""

    def make(text="Where?", **fields):
        return JudgeRequest((Message("user", text),), **fields)

    return make
