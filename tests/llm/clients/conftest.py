import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec

import pytest
from server import ModelServer
from vendors import VENDORS, Vendor

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.request import JudgeRequest

KEY = "sk-0123456789"


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
    for task in asyncio.all_tasks(loop):  # ended as `asyncio.run` does
        task.cancel()
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
    loop.close()


@pytest.fixture
def question():
    """Make a request of one user message: `question("Where?", schema=…)`."""

    def make(text="Where?", **fields):
        return JudgeRequest((Message("user", text),), **fields)

    return make


def _installed(package):
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.package)
def vendor(request, monkeypatch):
    if not _installed(request.param.package):
        pytest.skip(f"{request.param.package} is not installed")
    for name in [*os.environ]:
        if name.startswith(("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")):
            monkeypatch.delenv(name)
    return request.param


@dataclass
class Case:
    """One vendor's client before its server, asked by blocking calls or by awaited ones."""

    vendor: Vendor
    server: ModelServer
    ask: Callable

    def client(self, **options):
        fields = {"base_url": self.server.url + self.vendor.root, "api_key": KEY, "retries": 0}
        return load_client(self.vendor.model, **{**fields, **options})

    def error(self, client, wanted):
        with pytest.raises(ClientError) as caught:
            self.ask(client, wanted)
        return caught.value


@pytest.fixture
def case(vendor, server, ask):
    server.plays(vendor.said())
    return Case(vendor, server, ask)
