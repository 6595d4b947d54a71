"""Sessions of pytest in which the plugin is tried."""

import json
from importlib import import_module

import pytest

# Pytester takes away what a session imports, and second classes would be made.
for name in ("json_fields", "json_match", "json_schema", "json_validity"):
    import_module(f"llmeval_integrations.evaluators.{name}")
for name in ("fixture", "tally"):
    import_module(f"llmeval_integrations.pytest_plugin.{name}")

HEAD = """
import pytest
from llmeval_integrations import JsonMatch, JsonSchema, JsonValidity
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
"""


@pytest.fixture
def session(pytester):
    """Write a test file and run it; gives pytest's result."""

    def session(code, *options, rows=()):
        (pytester.path / "test_it.py").write_text(f"{HEAD}{code}")
        (pytester.path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
        quiet = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:langsmith_plugin", *options)
        run = pytester.runpytest_subprocess if "-n" in options else pytester.runpytest_inprocess
        return run(*quiet)

    return session
