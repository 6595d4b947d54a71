"""Sessions of pytest in which the plugin is tried."""

import json

import pytest
import rich.console
import rich.tree  # noqa: F401 - else a session in this process loads it, and takes it away again

HEAD = """
import pytest
from llmeval_integrations import JsonMatch, JsonSchema, JsonValidity
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
"""


@pytest.fixture
def session(pytester):
    """Write a test file and run it; gives pytest's result."""

    def session(code, *options, rows=(), folder="."):
        path = pytester.path / folder
        path.mkdir(exist_ok=True)
        (path / "test_it.py").write_text(f"{HEAD}{code}")
        (path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
        quiet = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:langsmith_plugin")
        run = pytester.runpytest_subprocess if "-n" in options else pytester.runpytest_inprocess
        return run(*quiet, *options)

    return session
