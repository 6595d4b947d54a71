"""`llmeval test-evaluator`: ours by name, anyone's by module, findings as a table or as JSON."""

import json
import re
import sys

import pytest

from llmeval_integrations.cli.main import main

MODULE = """
import json

def equal(output, reference):
    return json.loads(output) == json.loads(reference)

class Right:
    def evaluate_strings(self, *, prediction, reference=None):
        from llmeval_integrations import JsonEquality
        return {"score": JsonEquality()(prediction, reference).score}

class Needy:
    def __init__(self, more):
        pass

class shelf:
    right = Right()
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_evaluators.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "own_evaluators"
    sys.modules.pop("own_evaluators", None)


def test_one_of_ours_is_checked_for_what_it_is_called(capsys):
    assert main(["test-evaluator", "json_match"]) == 0
    assert capsys.readouterr().out.startswith("json_match as json_match: no finding in 136 cases")


def test_options_and_rules_are_taken(capsys):
    line = ["test-evaluator", "json_match:strict_order=false,ignore_extra_keys=true"]
    assert main([*line, "--list-order", "any", "--extra-keys"]) == 0
    assert main(line) == 1
    assert "items turned" in capsys.readouterr().out


def test_findings_are_a_table_and_exit_code_1(capsys):
    assert main(["test-evaluator", "json_equality:parsing=lenient"]) == 1
    out = capsys.readouterr().out
    assert int(re.search(r"(\d+) findings", out)[1]) >= 16  # more where the machine stands still
    assert "cut object" in out


def test_anyones_is_imported_from_where_one_stands(own_module, capsys):
    claim = ["--claims", "json_equality"]
    assert main(["test-evaluator", f"{own_module}:equal", *claim]) == 1
    assert "true and 1" in capsys.readouterr().out
    assert main(["test-evaluator", f"{own_module}:Right", *claim]) == 0
    assert main(["test-evaluator", f"{own_module}:shelf.right", *claim]) == 0


def test_findings_come_as_json(own_module, capsys):
    main(["test-evaluator", f"{own_module}:equal", "--claims", "json_equality", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["evaluator"], found["claim"], found["cases"]) == ("equal", "json_equality", 132)
    assert {"case", "kind", "expected", "got", "why", "severity"} <= found["findings"][0].keys()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exact_match"], "say what"),
        (["json_matc"], "did you mean 'json_match'"),
        (["json_match", "--claims", "json"], "there are json_equality"),
        (["json_match:parsing=loose"], "parsing"),
        (["no_such_module:thing", "--claims", "json_match"], "no_such_module"),
        (["json:nothing", "--claims", "json_match"], "nothing"),
        (["own_evaluators:Needy", "--claims", "json_match"], "more"),
        (["json:__name__", "--claims", "json_match"], "cannot be called"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(arguments, says, own_module, capsys):
    assert main(["test-evaluator", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("llmeval test-evaluator: error: ")
    assert says in error
    assert error.count("\n") == 1
