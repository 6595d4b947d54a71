"""Sessions of pytest in which the plugin is tried."""

import json
import sys

import pytest

HEAD = """
import pytest
from llmeval_integrations import JsonMatch, JsonSchema, JsonValidity
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
"""


class Imports:
    """A plugin of the sessions in this process, which notes what they import."""

    def __init__(self):
        self.modules = {}

    def pytest_sessionfinish(self):
        self.modules |= sys.modules


@pytest.fixture(autouse=True)
def imports():
    """Keep what sessions import; pytester takes it away, and second classes would be made."""
    imports = Imports()
    yield imports
    for name, module in imports.modules.items():
        if name not in ("conftest", "test_it"):
            sys.modules.setdefault(name, module)


@pytest.fixture
def session(imports, pytester):
    """Write a test file and run it; gives pytest's result."""

    def session(code, *options, rows=()):
        (pytester.path / "test_it.py").write_text(f"{HEAD}{code}")
        (pytester.path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
        quiet = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:langsmith_plugin", *options)
        if "-n" in options:
            return pytester.runpytest_subprocess(*quiet)
        return pytester.runpytest_inprocess(*quiet, plugins=[imports])

    return session
