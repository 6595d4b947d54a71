"""Help, the starter file, and the list of evaluators."""

import re

import pytest

from llmeval_integrations import __version__, list_evaluators
from llmeval_integrations.cli.evaluators import describe, read_docstring, read_options
from llmeval_integrations.core.catalog import evaluator_class


def test_help_fits_a_screen_and_has_groups_and_examples(llmeval):
    code, text, _ = llmeval("--help")
    lines = text.splitlines()
    assert (code, len(lines) <= 44, max(map(len, lines)) <= 80) == (0, True, True)
    listed = text.split("COMMAND\n")[1].split("\n\n")[0]
    commands = [line.split()[0] for line in listed.splitlines() if line[4:5].strip()]
    assert len(commands) == 13
    assert all(f"  llmeval {name}" in text.split("examples:")[1] for name in commands)
    lines = llmeval("run --help")[1].splitlines()
    assert len(lines) <= 56
    heads = [line for line in lines if re.fullmatch(r"\w.*:", line)][1:]
    assert heads == ["options:", "what is evaluated:", "where the run is kept:", "when the run fails:", "judges:", "how it runs:"]  # fmt: skip
    assert llmeval("--version") == (0, f"llmeval {__version__}\n", "")
    assert llmeval("") == (0, text, "")


def test_a_starter_file_runs_and_show_prints_the_run_again(llmeval):
    assert llmeval("init")[1].endswith("next: llmeval run eval.yaml\n")
    code, out, _ = llmeval("run eval.yaml")
    table, _, steps = out.partition("written: ")
    assert (code, "33.3 % of 3 samples pass json_fields" in table) == (0, True)
    assert steps.startswith("runs/first/results.jsonl and summary.json\nnext: llmeval view runs/first")  # fmt: skip
    assert llmeval("show runs/first") == (0, table, "")


def test_list_shows_the_question_of_every_evaluator_or_everything_about_one(llmeval):
    code, out, _ = llmeval("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list_evaluators()
    assert "json_validity               Does the output parse as JSON?\n" in out
    code, out, _ = llmeval("list json_match")
    assert out.startswith("json_match  needs reference\n")
    for said in (
        "strict_order: bool = true\n    Whether the order of array items counts.",
        "parsing: 'strict' | 'markdown' | 'lenient' = \"markdown\"",
    ):
        assert said in out


@pytest.mark.parametrize("name", list_evaluators())
def test_every_evaluator_describes_itself_and_each_of_its_options(name):
    kind = evaluator_class(name)
    assert "?" in read_docstring(kind)[0]
    for option in read_options(kind):
        assert option.documentation
        assert f"{option.name}: {option.type}" in describe(kind)
