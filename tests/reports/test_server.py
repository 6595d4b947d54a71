"""The server of the page: whom it answers, and what it says where a browser goes away."""

import contextlib
import http.client
import socket
import struct
import threading

import pytest

from llmeval_integrations.reports.server import Server


class Slow(Server):
    """Makes the page once it is told to, and has ended every request where it is closed."""

    daemon_threads = False
    wrong = None

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.asked, self.told = threading.Event(), threading.Event()

    def page(self):
        self.asked.set()
        assert self.told.wait(60)
        if self.wrong is not None:
            raise self.wrong
        return super().page()


@contextlib.contextmanager
def serving(server):
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server(moods):
    return Slow([str(moods.out)])


def test_it_answers_under_each_name_of_this_machine_and_under_no_other(server):
    server.told.set()
    with serving(server) as port:
        for host, status in (
            ("127.0.0.1", 200),
            ("localhost", 200),
            ("LocalHost", 200),
            (f"127.0.0.1:{port}", 200),
            ("localhost:8080", 200),
            ("evil.example", 403),
            (f"evil.example:{port}", 403),
            ("localhost.evil.example", 403),
            (f"evil.example:localhost:{port}", 403),
            ("", 403),
            (None, 403),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.putrequest("GET", "/", skip_host=True)
            if host is not None:
                connection.putheader("Host", host)
            connection.endheaders()
            assert (host, connection.getresponse().status) == (host, status)
            connection.close()


def leave(port, server):
    """Ask for the page, and go away while it is being made."""
    browser = socket.create_connection(("127.0.0.1", port))
    browser.sendall(b"GET / HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port)
    assert server.asked.wait(60)
    browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    browser.close()
    server.told.set()


def test_nothing_is_said_of_a_browser_that_goes_away(server, capsys):
    with serving(server) as port:
        leave(port, server)
    assert capsys.readouterr() == ("", "")


def test_what_else_goes_wrong_is_said(server, capsys):
    server.wrong = ValueError("it is ours")
    with serving(server) as port:
        leave(port, server)
    assert "ValueError: it is ours" in capsys.readouterr().err
