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


def _cases(vendors):
    @pytest.fixture(params=vendors, ids=lambda vendor: vendor.name)
    def case(request, server):
        pytest.importorskip(request.param.package)
        server.plays(request.param.said())
        return Case(request.param, server)

    return case


case = _cases(VENDORS)
sdk = _cases(SDKS)  # on the vendors' own packages
