"""`llmeval list`: the evaluators, and everything about one."""

import pytest

from llmeval_integrations import list_evaluators
from llmeval_integrations.cli.evaluators import describe, read_docstring, read_options
from llmeval_integrations.core.catalog import evaluator_class


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
