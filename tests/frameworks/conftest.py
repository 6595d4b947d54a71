"""What tests of frameworks run in: no network, and a folder of their own."""

import socket

import pytest


@pytest.fixture
def sent(monkeypatch):
    """Give the addresses that somebody has tried to reach; none is reached."""
    tried = []

    def refuse(*address, **_):
        tried.append(address[-1] if isinstance(address[0], socket.socket) else address[:2])
        raise OSError("the network is not for tests")

    for name in ("socket.connect", "socket.connect_ex", "getaddrinfo"):
        monkeypatch.setattr(f"socket.{name}", refuse)
    return tried


@pytest.fixture
def nothing_leaves(sent, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some write folders of their own
    yield
    assert sent == []
