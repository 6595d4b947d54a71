"""A headless Chromium, driven through its own pipe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
    "--window-size=1280,900",
)

_COMPLAINTS = (
    "Log.entryAdded",
    "Runtime.exceptionThrown",
    "Runtime.consoleAPICalled",
    "Page.javascriptDialogOpening",
)
_TEXTS = ".map(each => each.textContent.trim().replace(/\\s+/g, ' '))"


class Page:
    """One page, with what it asked for and what it complained about."""

    def __init__(self, process: subprocess.Popen, write: int, read: int) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._process = process
        self._write, self._read = write, read
        self._rest = b""
        self._number = 0
        self._session = None
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        attached = self.do("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.do(f"{domain}.enable")

    def do(self, method: str, **parameters: Any) -> Any:
        """Send a command and wait for what it gives."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        self.do("Page.navigate", url=address)
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """Give what an expression of JavaScript comes to."""
        result = self.do(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """Give the texts of all elements, without white space around them."""
        return self.run(f"[...document.querySelectorAll({selector!r})]{_TEXTS}")

    def rows(self, selector: str) -> list[list[str]]:
        """Give the texts of the cells of all rows of a table."""
        rows = f"[...document.querySelectorAll({selector + ' tr'!r})]"
        return self.run(f"{rows}.map(row => [...row.cells]{_TEXTS})")

    def click(self, selector: str, number: int = 0) -> None:
        """Click on one of the elements, the first if none is named."""
        self.run(f"document.querySelectorAll({selector!r})[{number}].click()")

    def choose(self, name: str, value: str) -> None:
        """Set a field of a form, as a person does."""
        field = f"document.querySelector('[name={name}]')"
        event = "new Event('input', {bubbles: true})"
        self.run(f"{field}.value = {value!r}; {field}.dispatchEvent({event})")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 20)
            assert more, "Chromium has ended"
            self._rest += more
        line, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(line)
        method = message.get("method")
        if method == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        elif method in _COMPLAINTS:
            self.complaints.append(json.dumps(message))
        return message


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Start Chromium with a profile of its own, and end it."""
    to_child, from_us = os.pipe()
    from_child, to_us = os.pipe()
    command = [str(CHROMIUM), *_FLAGS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(  # Chromium reads and writes the descriptors 3 and 4
        ["/bin/bash", "-c", f'exec "$0" "$@" 3<&{to_child} 4>&{to_us}', *command],
        pass_fds=(to_child, to_us),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_child)
    os.close(to_us)
    try:
        yield Page(process, from_us, from_child)
    finally:
        process.kill()
        process.wait()
        os.close(from_us)
        os.close(from_child)
