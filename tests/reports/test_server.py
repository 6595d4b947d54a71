"""The server of the page answers to this machine only."""

import http.client
import threading

from llmeval_integrations.reports.server import Server


def test_finished_runs_are_compared_and_a_run_under_way_is_not(moods, people):
    runs = [str(moods.out), str(people.out)]
    for expected in (True, False):
        with Server(runs) as server:
            assert (b"Not compared: " in server.page()) is expected
        (moods.out / "summary.json").unlink(missing_ok=True)


def test_the_server_answers_to_the_names_of_this_machine_only(moods):
    with Server([str(moods.out)]) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        port = server.server_port
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
        server.shutdown()
