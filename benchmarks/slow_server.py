"""A model's server that answers every chat after the same time, at little cost of its own.

`with SlowServer({"us": message}) as server:` runs it as a process of its own, which answers with
that message to whoever asks at `server.url("us")`. It speaks just enough of HTTP/1.1 and of
OpenAI's chat completions for their SDK. A request that holds the word FAIL gets an error that
does not pass.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

LATENCY = 0.05
"""Seconds between a request and its answer."""


def response(status: str, body: dict[str, Any]) -> bytes:
    """Write an HTTP response."""
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(text)}"
    return head.encode() + b"\r\n\r\n" + text


def completion(message: dict[str, Any]) -> dict[str, Any]:
    """Write an answer of OpenAI's shape."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge",
        "choices": [choice],
        "usage": {"prompt_tokens": 200, "completion_tokens": 30, "total_tokens": 230},
    }


FAILURE = response("400 Bad Request", {"error": {"message": "this output is not judged"}})


class Connection(asyncio.Protocol):
    """One connection; its requests come one after the other."""

    def __init__(self, answers: dict[bytes, bytes]) -> None:
        self.answers = answers
        self.received = bytearray()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(body) >= length:
            side = bytes(head.split(b"/", 2)[1])
            answer = FAILURE if b"FAIL" in body else self.answers[side]
            self.received = body[length:]
            asyncio.get_running_loop().call_later(LATENCY, self.transport.write, answer)


async def serve(messages: dict[str, Any]) -> None:
    """Listen, print the port, and answer until the process is ended."""
    answers = {
        side.encode(): response("200 OK", completion(message)) for side, message in messages.items()
    }
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(answers), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class SlowServer:
    """The server as a process of its own; what it answers, by side."""

    def __init__(self, messages: dict[str, dict[str, Any]]) -> None:
        self.messages = messages

    def __enter__(self) -> Self:
        command = [sys.executable, __file__, json.dumps(self.messages)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        return self

    def url(self, side: str) -> str:
        """Return the base URL of a side."""
        return f"http://127.0.0.1:{self.port}/{side}/v1"

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


if __name__ == "__main__":
    asyncio.run(serve(json.loads(sys.argv[1])))
