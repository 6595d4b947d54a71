"""What tests of frameworks run in: no network, and a folder of their own."""

import pytest


@pytest.fixture
def nothing_leaves(monkeypatch, tmp_path):
    """Refuse every address, and fail at the end if there was any."""
    tried = []

    def refuse(*address, **_):
        tried.append(address)
        raise OSError("the network is not for tests")

    for name in ("socket.connect", "socket.connect_ex", "getaddrinfo"):
        monkeypatch.setattr(f"socket.{name}", refuse)
    monkeypatch.chdir(tmp_path)  # some write folders of their own
    yield
    assert tried == []
