"""`llmeval list` and `test-evaluator`."""

import re
import sys

import pytest

from llmeval_integrations import list_evaluators
from llmeval_integrations.cli.describe import describe, read_docstring, read_options
from llmeval_integrations.cli.main import main
from llmeval_integrations.core.catalog import evaluator_class


def test_list_shows_the_question_of_every_evaluator_or_everything_about_one(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == list_evaluators()
    assert "json_validity               Does the output parse as JSON?" in printed
    assert main(["list", "json_match"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("json_match  needs reference\n")
    for said in (
        "strict_order: bool = true\n    Whether the order of array items counts.",
        "parsing: 'strict' | 'markdown' | 'lenient' = \"markdown\"",
    ):
        assert said in text


@pytest.mark.parametrize("name", list_evaluators())
def test_every_evaluator_describes_itself_and_each_of_its_options(name):
    kind = evaluator_class(name)
    assert "?" in read_docstring(kind)[0]
    for option in read_options(kind):
        assert option.documentation
        assert f"{option.name}: {option.type}" in describe(kind)


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
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_evaluators.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "own_evaluators"
    sys.modules.pop("own_evaluators", None)


def test_our_evaluator_is_tested_for_the_claim_of_its_name(capsys):
    line = ["test-evaluator", "json_match:strict_order=false,ignore_extra_keys=true"]
    assert main([*line, "--list-order", "any", "--extra-keys"]) == 0
    said = capsys.readouterr().out
    assert re.match(r"json_match as json_match: no finding in \d+ cases", said)
    assert main(line) == 1
    assert "items in another order" in capsys.readouterr().out


def test_another_evaluator_is_imported_from_the_current_folder(own_module, capsys):
    claim = ["--claims", "json_equality"]
    assert main(["test-evaluator", f"{own_module}:equal", *claim]) == 1
    assert "true and 1" in capsys.readouterr().out
    assert main(["test-evaluator", f"{own_module}:Right", *claim]) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exact_match"], "name what the evaluator claims"),
        (["json_matc"], "did you mean 'json_match'"),
        (["no_such_module:thing", "--claims", "json_match"], "no_such_module"),
        (["own_evaluators:Needy", "--claims", "json_match"], "more"),
        (["json:__name__", "--claims", "json_match"], "is not an evaluator"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(arguments, says, own_module, capsys):
    assert main(["test-evaluator", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("llmeval test-evaluator: error: ")
    assert says in error
    assert error.count("\n") == 1
