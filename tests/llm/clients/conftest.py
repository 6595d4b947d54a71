import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import pytest
from server import ModelServer
from vendors import SDKS, VENDORS, Vendor, ask_client

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.messages import Message, Request


@pytest.fixture(autouse=True)
def _no_key_in_the_environment(monkeypatch):
    for name in [*os.environ]:
        if name.startswith(("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")):
            monkeypatch.delenv(name)


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


@pytest.fixture
def ask():
    """Ask a client as a judge does, with the retries between."""
    return ask_client


@pytest.fixture
def question():
    """Make a request of one user message: `question("Where?", schema=…)`."""

    def make(text="Where?", **fields):
        return Request((Message("user", text),), **fields)

    return make


@dataclass
class Case:
    """One client before its server."""

    vendor: Vendor
    server: ModelServer
    ask: Callable

    def client(self, **options):
        return self.vendor.load(self.server.url, **options)

    def error(self, client, wanted):
        with pytest.raises(ClientError) as caught:
            self.ask(client, wanted)
        return caught.value


def _case(vendor, server, ask):
    try:
        found = find_spec(vendor.package)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{vendor.package} is not installed")
    server.plays(vendor.said())
    return Case(vendor, server, ask)


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.name)
def case(request, server, ask):
    """Each client."""
    return _case(request.param, server, ask)


@pytest.fixture(params=SDKS, ids=lambda vendor: vendor.name)
def sdk(request, server, ask):
    """Each client on a vendor's own package."""
    return _case(request.param, server, ask)
