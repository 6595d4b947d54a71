"""Benchmarks are run by hand, so that a name which moved is found here first."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_benchmark_imports_what_there_is(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("llmeval_"):
            module = import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names)


def test_the_chart_shows_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS[0].parent)
    chart = import_module("chart")
    assert chart.draw(chart.read_bars(chart.RESULTS.read_text())) == chart.CHART.read_text()
