"""A local server for the page of runs, which loads itself again if their files have changed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import EvalError, InputError
from llmeval_integrations.reports import html
from llmeval_integrations.runs.directory import RESULTS, SUMMARY
from llmeval_integrations.runs.load import read_run

_LOOPBACK: Final = "127.0.0.1"


class Server(ThreadingHTTPServer):
    """Answers `/` with the page and `/version` with the state of its files.

    Raises InputError if a directory contains no run, or if the port is not available.
    """

    daemon_threads = True

    def __init__(self, directories: Sequence[str], port: int = 0) -> None:
        self._directories = [Path(directory) for directory in directories]
        for directory in directories:
            read_run(directory)
        try:
            super().__init__((_LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(f"port {port}: {error}; --port sets another port") from error
        self.address = f"http://{_LOOPBACK}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing if a browser closed the connection early."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def version(self) -> str:
        """Describe the state of the files by their sizes and times."""
        files = [folder / name for folder in self._directories for name in (RESULTS, SUMMARY)]
        states = (file.stat() for file in files if file.exists())
        return " ".join(f"{state.st_size}-{state.st_mtime_ns}" for state in states)

    def page(self) -> bytes:
        """Write the page."""
        out = BytesIO()
        version = self.version()  # what changes from now on has another version
        html.write([read_run(path) for path in self._directories], out, version=version)
        return out.getvalue()


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Answer, unless another site's name points to this server (DNS rebinding)."""
        # Any port is allowed: a browser leaves 80 out, and a tunnel may end at another port.
        host = self.headers.get("Host", "").partition(":")[0]
        if host.lower() not in (_LOOPBACK, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN, "this server answers to 127.0.0.1 only")
        elif self.path == "/version":
            self._answer(self.server.version().encode(), "text/plain")
        elif self.path == "/":
            try:
                self._answer(self.server.page(), "text/html")
            except (EvalError, OSError) as error:
                self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, explain=str(error))
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, body: bytes, media_type: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{media_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log no single requests; the base class would print each to stderr."""
