"""Benchmarks are run by hand, so their imports are checked here."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_imports_of_a_benchmark_exist(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("llmeval_"):
            module = import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names)


def test_chart_and_table_show_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS[0].parent)
    summary = import_module("summary")
    rows = summary.read_rows(summary.RESULTS.read_text())
    assert summary.draw(rows) == summary.CHART.read_text()
    assert summary.write_page(summary.PAGE.read_text(), rows) == summary.PAGE.read_text()
