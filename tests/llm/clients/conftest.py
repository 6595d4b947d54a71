import os

import pytest
from server import ModelServer
from vendors import SDKS, VENDORS, Case


@pytest.fixture(autouse=True)
def _no_key_in_the_environment(monkeypatch):
    for name in [*os.environ]:
        if name.startswith(("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")):
            monkeypatch.delenv(name)


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


def _case(vendor, server):
    pytest.importorskip(vendor.package)
    server.plays(vendor.said())
    return Case(vendor, server)


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.name)
def case(request, server):
    """Each client."""
    return _case(request.param, server)


@pytest.fixture(params=SDKS, ids=lambda vendor: vendor.name)
def sdk(request, server):
    """Each client on a vendor's own package."""
    return _case(request.param, server)
