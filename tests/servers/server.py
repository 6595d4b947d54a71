"""A model's server that plays a script over real HTTP, and remembers what it was asked.

    server.plays(answer({"error": "busy"}, 429, {"retry-after": "0"}), chat("Paris"))
    client = load_client("openai:gpt-4o", base_url=server.url + "/v1", api_key="sk-1")
    assert ask(client, "Where?") == "Paris"
    assert [request.path for request in server.requests] == ["/v1/chat/completions"] * 2

Each request takes the next play; the last one serves all further requests. A function of the
request that returns a play is a play too.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """One request; the names of headers are in lower case, and the body is JSON if it can be."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    connection: tuple[str, int]


@dataclass(frozen=True)
class Play:
    """The response to one request."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds before the response
    drip: float = 0.0  # seconds before each byte
    sent: int | None = None  # bytes of the body before the connection is closed; None for all
    dropped: bool = False  # whether the connection is closed without a response


def answer(body, status=200, headers=None, **more):
    """Give a play with this body; `more` are fields of Play."""
    text = body if isinstance(body, str) else json.dumps(body)
    return Play(
        text.encode(), status, {"content-type": "application/json", **(headers or {})}, **more
    )


def chat(text="Paris", *, finish="stop", usage=None, calls=(), tool="answer", refusal=None, **more):
    """Answer as OpenAI does; calls of a tool are given by their arguments, or whole."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    if calls:
        function = {"id": "c1", "type": "function"}
        message["tool_calls"] = [
            {**function, "function": {"name": tool, "arguments": call}}
            if isinstance(call, str)
            else call
            for call in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    body = {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "answering-model",
        "choices": [choice],
        "usage": usage or {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return answer(body, **more)


DROPPED = Play(dropped=True)
CUT = replace(chat(), sent=40)


class ModelServer:
    """Plays its script on a port of its own; a context that stops it at the end."""

    def __init__(self):
        self.requests = []
        self.script = [chat()]
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.model_server = self
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def last(self):
        return self.requests[-1]

    def plays(self, *script):
        """Set the script anew and forget what was asked."""
        self.script, self.requests = list(script), []

    def takes(self, request):
        with self._lock:
            self.requests.append(request)
            play = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return play if isinstance(play, Play) else play(request)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self._http.shutdown()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def handle_error(self, *_):
        """Say nothing: an asker that gave up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        server = self.server.model_server
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        is_json = "json" in headers.get("content-type", "")
        body = json.loads(raw) if raw and is_json else raw or None
        play = server.takes(
            Request(self.command, self.path, headers, body, self.client_address[:2])
        )
        if play.delay and server.over.wait(play.delay):
            return
        if play.dropped or play.sent is not None:
            self.close_connection = True
        if not play.dropped:
            self._send(play)
        if self.close_connection:
            self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_POST

    def _send(self, play):
        lines = {"content-length": str(len(play.body)), **play.headers}
        head = f"HTTP/1.1 {play.status} Status\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in lines.items()
        )
        raw = head.encode() + b"\r\n" + play.body[: play.sent]
        size = 1 if play.drip else len(raw)
        for start in range(0, len(raw), size):
            if play.drip and self.server.model_server.over.wait(play.drip):
                return
            self.wfile.write(raw[start : start + size])

    def log_message(self, *_):
        """Say nothing."""
