"""The server of the page: whom it answers, and what it says where a browser goes away."""

import contextlib
import http.client
import socket
import struct
import threading

import pytest

from llmeval_integrations.reports.server import Server


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


def test_it_answers_under_each_name_of_this_machine_and_under_no_other(moods):
    with serving(Server([str(moods.out)])) as port:
        for host, status in (
            ("127.0.0.1", 200),
            ("LocalHost", 200),
            (f"127.0.0.1:{port}", 200),
            ("localhost:8080", 200),
            (f"evil.example:{port}", 403),
            ("localhost.evil.example", 403),
            (f"evil.example:localhost:{port}", 403),
            (None, 403),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.putrequest("GET", "/", skip_host=True)
            if host is not None:
                connection.putheader("Host", host)
            connection.endheaders()
            assert (host, connection.getresponse().status) == (host, status)
            connection.close()


@pytest.mark.parametrize("error", [None, ValueError("it is ours")])
def test_nothing_is_said_of_a_browser_that_goes_away_alone(moods, capsys, error):
    server = Server([str(moods.out)])
    server.daemon_threads = False  # every request has ended where it is closed
    asked, left, page = threading.Event(), threading.Event(), server.page()

    def make():
        asked.set()
        assert left.wait(60)
        if error is not None:
            raise error
        return page

    server.page = make
    with serving(server) as port:
        browser = socket.create_connection(("127.0.0.1", port))
        browser.sendall(b"GET / HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port)
        assert asked.wait(60)
        browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        browser.close()
        left.set()
    said = capsys.readouterr().err
    assert ("ValueError: it is ours" in said) if error else (said == "")
