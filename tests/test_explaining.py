"""A result as a tree."""

from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import JsonFields, JsonMatch, JsonValidity, Result, explain

OUTPUT = {"vendor": "Acme", "items": [{"sku": "a", "price": 12.5}, {"sku": "b", "price": 1}]}
REFERENCE = {"vendor": "Acme", "items": [{"sku": "a", "price": 13}], "total": 13}


def printed(result, **options):
    file = StringIO()
    explain(result, Console(file=file, width=100, **options))
    return file.getvalue()


def test_every_field_has_its_branch_with_what_is_wrong_under_it():
    assert printed(JsonFields()(OUTPUT, REFERENCE)).splitlines() == [
        "failed, score 0.3333 (mismatch)",
        "├── /items/0/price 12.5, expected 13; /items/1 extra (2 fields); /total missing",
        "├── vendor  1 match",
        "├── items",
        "│   └── *",
        "│       ├── sku  1 match  1 extra",
        '│       │   └── /items/1/sku  extra  "b"',
        "│       └── price  1 mismatch  1 extra",
        "│           ├── /items/0/price  mismatch  12.5  expected 13",
        "│           └── /items/1/price  extra  1",
        "└── total  1 missing",
        "    └── /total  missing  expected 13",
    ]


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        (JsonMatch()('{"a": 1}', '{"a": 2}'), ["failed, score 0 (mismatch)", "├── /a 1, expected 2", "└── a", "    └── /a  mismatch  1  expected 2"]),
        (JsonValidity()("{}"), ["passed, score 1", "└── Valid JSON"]),
        (JsonFields()("1", "2"), ["failed, score 0 (mismatch)", "├── the whole 1, expected 2", "└── (the whole)  mismatch  1  expected 2"]),
        (Result.unscored("The judge was cut", label="cut"), ["unscored (cut)", "└── The judge was cut"]),
        (Result(0.5), ["no verdict, score 0.5"]),
    ],
)  # fmt: skip
def test_other_results(result, lines):
    assert printed(result).splitlines() == lines


def test_colours_where_there_is_a_terminal_and_nothing_that_acts_in_it():
    result = JsonFields()({"[red]a\x1b[2J": "\x1b]0;title\x07"}, {"[red]a\x1b[2J": "x"})
    plain = printed(result)
    assert "\x1b" not in plain
    assert "\x07" not in plain
    assert "[red]a\\x1b[2J" in plain
    assert "\x1b[31m" in printed(result, force_terminal=True, color_system="standard")


def test_long_values_and_long_lists_are_cut():
    result = JsonFields()([{"a": "x" * 1_000}] * 50, [{"a": "y"}] * 50)
    text = printed(result)
    assert "and 30 more" in text
    assert "x" * 300 not in text.replace("\n", "")


def test_a_notebook_shows_it_as_html():
    nbformat = pytest.importorskip("nbformat").v4
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cell = (
        "from llmeval_integrations import *; explain(JsonFields()({'a': '<b>1</b>'}, {'a': '2'}))"
    )
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    html = notebook.cells[0].outputs[0].data["text/html"]
    assert "mismatch" in html
    assert "&lt;b&gt;1&lt;/b&gt;" in html
