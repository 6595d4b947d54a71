"""Most tests look at the cases alone: outputs that grow to 128 kB take most of a check's time."""

import pytest

from llmeval_integrations.conformance import check


@pytest.fixture
def few_sizes(monkeypatch):
    """Let families of outputs grow to 2 kB."""
    monkeypatch.setattr(check, "_SIZES", (1_000, 2_000))
