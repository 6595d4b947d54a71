"""A result as a tree."""

from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import (
    InputError,
    JsonFields,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    Result,
    ToolCalls,
    ToolCallSchema,
    explain,
)

OUTPUT = {"vendor": "Acme", "items": [{"sku": "a", "price": 12.5}, {"sku": "b", "price": 1}]}
REFERENCE = {"vendor": "Acme", "items": [{"sku": "a", "price": 13}], "total": 13}


def printed(result, **options):
    file = StringIO()
    explain(result, Console(file=file, width=100, **options))
    return file.getvalue()


def test_every_field_has_its_branch_with_what_is_wrong_under_it():
    assert printed(JsonFields()(OUTPUT, REFERENCE)).splitlines() == [
        "failed, score 0.4444 (mismatch)",
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
        (Result(None, None, "warm", "So it reads", answered=True), ["no verdict (warm)", "└── So it reads"]),
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


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
CALLS = [
    call("weather", city="Paris", days="3", x=1),
    call("weathr"),
    call("weather", city="Rome"),
    "none",
]
EXPECTED = [
    call("weather", city="Rome"),
    call("weather", city="Oslo", days=3),
    call("clock"),
    call("clock"),
    call("radio", station=3),
]


def test_every_call_has_its_branch_with_the_arguments_that_are_wrong_under_it():
    assert printed(ToolCalls()(CALLS, EXPECTED)).splitlines()[3:] == [
        "├── weather  right  output[2]  reference[0]  score 1",
        "├── weather  wrong_arguments  output[0]  reference[1]  score 0.25",
        '│   ├── /city  mismatch  "Paris"  expected "Oslo"',
        '│   ├── /days  wrong_type  "3"  expected 3',
        "│   └── /x  extra  1",
        "├── weathr  wrong_name  expected clock  output[1]  reference[2]  score 0",
        "├── (no name)  unreadable  no tool call: 'none'  output[3]  reference[3]  score 0",
        "└── radio  missing  reference[4]  score 0",
        "    └── /station  missing  expected 3",
    ]


def test_every_call_has_its_branch_with_what_the_schema_has_against_it():
    schema = ToolCallSchema([{"name": "weather", "parameters": PARAMETERS}])
    assert printed(schema(CALLS)).splitlines()[2:] == [
        "├── weather  invalid",
        '│   ├── /days  type  "3" is not of type "integer"',
        "│   └── /x  additionalProperties  the tool declares no such argument",
        "├── weathr  invalid",
        "│   └── (the whole)  unknown_tool  there is no such tool",
        "├── weather  valid",
        "└── (no name)  invalid",
        "    └── (the whole)  unreadable  no tool call: 'none'",
    ]


def test_every_error_of_a_schema_is_listed():
    assert printed(JsonSchema(PARAMETERS)({"days": "3"})).splitlines()[2:] == [
        '├── (the whole)  required  "city" is a required property',
        '└── /days  type  "3" is not of type "integer"',
    ]


@pytest.mark.parametrize(
    ("result", "listed"),
    [
        (JsonFields()([{"a": n, "b": 1} for n in range(50)], [{"a": -1, "b": 1}] * 50), "/{}/a  mismatch  {}  "),
        (JsonMatch()(list(range(50)), [-1] * 50), "/{}  mismatch  {}  "),
        (JsonSchema({"items": {"type": "null"}})(list(range(50))), '/{}  type  {} is not of type "null"'),
        (ToolCalls()(CALLS[:1] * 50, EXPECTED[1:2] * 50), "output[{0}]  reference[{0}]"),
        (ToolCalls()(call("a", b=list(range(50))), call("a", b=[-1] * 50)), "/b/{}  mismatch  {}  "),
    ],
)  # fmt: skip
def test_the_whole_tree_is_printed_however_long(result, listed):
    text = printed(result)
    assert [n for n in range(50) if listed.format(n, n) not in text] == []


def nested(levels, value):
    for level in range(levels):
        value = {f"in{level}": value, "by": value if level == 0 else 0}
    return value


@pytest.mark.parametrize("levels", [9, 30, 150])
def test_the_whole_tree_is_printed_however_deep(levels):
    lines = printed(JsonFields()(nested(levels, 1), nested(levels, 2))).splitlines()
    text = "".join(line.lstrip("│ ├└─").rstrip() for line in lines).replace(" ", "")
    place = "".join(f"/in{level}" for level in reversed(range(levels)))
    assert max(map(len, lines)) <= 100
    assert text.count(f"{place}mismatch1expected2") == 1
    below = place.split("/")[9:] if levels > 8 else []
    assert f"{'/'.join(below)}1mismatch" in text
    by = [*below[:-1], "by"]
    assert f"{'/'.join(by)}1mismatch" in text


LONG = "x" * 1_000


@pytest.mark.parametrize(
    "result",
    [
        JsonFields()({"a": LONG}, {"a": "y"}),
        JsonSchema({"type": "null"})(LONG),
        ToolCalls()(call("a", b=LONG), call("a", b="y")),
        ToolCalls()(call(LONG), call("a")),
    ],
)
def test_long_values_are_cut(result):
    tree = printed(result, no_color=True).replace("\n", "")
    assert "x" * 300 not in tree.replace("│   ", "").replace(" ", "").replace(result.reason, "")


HOSTILE = "<script>[bold]\x1b[2J\u202e"


@pytest.mark.parametrize(
    "result",
    [
        JsonFields()({HOSTILE: HOSTILE}, {HOSTILE: 1}),
        JsonSchema({"properties": {HOSTILE: {"type": "null"}}})({HOSTILE: HOSTILE}),
        ToolCalls()(call(HOSTILE), call("a")),
        ToolCalls()([HOSTILE], call("a")),
        ToolCalls()(call("a", **{HOSTILE: HOSTILE}), call("a", **{HOSTILE: 1})),
        ToolCallSchema([{"name": "a", "parameters": PARAMETERS}])([call("a", **{HOSTILE: 1}), call(HOSTILE)]),
    ],
)  # fmt: skip
def test_what_a_model_wrote_acts_in_no_terminal_and_no_page(result):
    console = Console(file=StringIO(), width=200, record=True, force_terminal=True)
    explain(result, console)
    text = console.export_text(clear=False)
    assert "<script>[bold]" in text  # as it was written, no markup of ours
    assert "\x1b" not in text
    assert "\u202e" not in text
    html = console.export_html()
    assert "<script>" not in html
    assert "&lt;script&gt;[bold]" in html


@pytest.mark.parametrize(
    "metadata",
    [
        {"calls": 3, "errors": ["a", None], "fields": {"a": 0.5}, "differences": None},
        {"calls": [{}, {"name": None, "kind": 1}], "errors": [{}], "outcomes": [{}]},
        {"outcomes": {"a": 1}, "fields": ["a"]},
    ],
)
def test_metadata_that_means_something_else_does_no_harm(metadata):
    assert printed(Result(0.5, False, metadata=metadata)).startswith("failed, score 0.5")


@pytest.mark.parametrize("given", ["x", None, [Result(1.0)]])
def test_what_is_no_result_is_named(given):
    with pytest.raises(InputError) as raised:
        explain(given)
    assert f"expected a Result, got {given!r}" in str(raised.value)
    assert "explain(evaluator(output))" in str(raised.value)


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


@pytest.mark.once
def test_a_score_is_1_only_where_it_is():
    reference = dict.fromkeys(map(str, range(30_000)), "x")
    lines = printed(JsonFields()({**reference, "1": "y"}, reference)).splitlines()
    assert lines[0] == "failed, score 0.99997 (mismatch)"
    leaf = {"pointer": "/a", "field": "/a", "kind": "mismatch", "score": 0.99999}
    tree = printed(Result(0.5, False, metadata={"outcomes": [leaf]}))
    assert "score 0.99999" in tree
