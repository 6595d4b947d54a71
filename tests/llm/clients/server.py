"""A model's server that plays a script over real HTTP, and remembers what it was asked.

    def test_something(server):                     # the fixture of conftest.py
        server.plays(answer({"error": "busy"}, 429, {"retry-after": "0"}), chat("Paris"))
        client = load_client("openai:gpt-4o", base_url=server.url + "/v1", api_key="sk-1")
        assert ask(client, "Where?") == "Paris"
        assert [request.path for request in server.requests] == ["/v1/chat/completions"] * 2

Plays are used one a request, in order; the last one serves all further requests. A function of
the request that returns a play is a play too: `server.plays(lambda request: chat(request.path))`.

    chat("text")                      an answer of OpenAI's shape; see its options
    answer(body, status, headers)     any body: JSON, text or bytes
    chat("text", delay=9)             comes after so many seconds, or when the test is over
    chat("text", drip=0.1)            one byte each so many seconds
    DROPPED                           the connection is closed without an answer
    CUT                               the body ends before its announced length
    GARBAGE                           200, and the body is not JSON
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """What came over the wire."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By names in lower case."""
    body: Any
    """The JSON value, bytes where it is none; None where there is no body."""
    connection: tuple[str, int]
    """The asker's address and port: the same for requests over one connection."""


@dataclass(frozen=True)
class Play:
    """What is answered to one request."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """The seconds before anything is sent."""
    drip: float = 0.0
    """The seconds before each byte, where they are sent one by one."""
    sent: int | None = None
    """How many bytes of the body are sent before the connection is closed; None for all."""
    dropped: bool = False
    """Whether the connection is closed without an answer."""


def answer(
    body: Any, status: int = 200, headers: Mapping[str, str] | None = None, **more: Any
) -> Play:
    """Give a play with this body; `more` are fields of Play."""
    text = body if isinstance(body, (str, bytes)) else json.dumps(body)
    raw = text.encode() if isinstance(text, str) else text
    return Play(raw, status, {"content-type": "application/json", **(headers or {})}, **more)


def chat(
    text: str | None = "Paris",
    *,
    finish: str = "stop",
    usage: Any = None,
    calls: Sequence[Any] = (),
    tool: str = "answer",
    refusal: str | None = None,
    **more: Any,
) -> Play:
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
GARBAGE = answer("<html>busy</html>", headers={"content-type": "text/html"})
CUT = replace(chat(), sent=40)

Script = Play | Callable[[Request], Play]


class ModelServer:
    """Plays its script on a port of its own; a context that stops it at the end."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: list[Script] = [chat()]
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.model_server = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def last(self) -> Request:
        """The latest request."""
        return self.requests[-1]

    def plays(self, *script: Script) -> None:
        """Set the script anew and forget what was asked."""
        self.script, self.requests = list(script), []

    def takes(self, request: Request) -> Play:
        """Remember a request and give what is answered."""
        with self._lock:
            self.requests.append(request)
            play = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return play if isinstance(play, Play) else play(request)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._http.shutdown()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512
    model_server: ModelServer

    def handle_error(self, *_: object) -> None:
        """Say nothing: an asker that gave up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_POST(self) -> None:
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

    def _send(self, play: Play) -> None:
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

    def log_message(self, *_: object) -> None:
        """Say nothing."""
