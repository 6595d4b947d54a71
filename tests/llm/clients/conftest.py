import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import pytest
from server import ModelServer
from vendors import VENDORS, Vendor, ask_client

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request

KEY = "sk-0123456789"


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
    """One vendor's client before its server."""

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
