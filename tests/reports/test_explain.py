"""A result as a tree."""

from io import StringIO

import pytest
from rich.console import Console

from llmeval_integrations import (
    InputError,
    JsonFields,
    JsonGrounded,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    Result,
    ToolCalls,
    explain,
)

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}


def printed(result, **options):
    file = StringIO()
    explain(result, Console(file=file, width=100, **options))
    return file.getvalue()


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


CALLS = [call("weather", city="Paris", days="3", x=1), call("weathr"), "none"]
EXPECTED = [call("weather", city="Oslo", days=3), call("clock"), call("radio", station=3)]


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        (
            JsonGrounded()({"total": 30, "vendor": "Acme", "ok": True}, input="In 30 days"),
            [
                "failed, score 0.5 (ungrounded)",
                '├── not in the source: /vendor "Acme"',
                "├── total",
                "│   └── /total  number  30  source[3:5]",
                "├── vendor",
                '│   └── /vendor  ungrounded  "Acme"',
                "└── ok",
                "    └── /ok  open  true",
            ],
        ),
        (
            ToolCalls()(CALLS, EXPECTED),
            [
                "failed, score 0.08333 (unreadable)",
                *(None,) * 2,
                "├── weather  wrong_arguments  output[0]  reference[0]  score 0.25",
                '│   ├── /city  mismatch  "Paris"  expected "Oslo"',
                '│   ├── /days  wrong_type  "3"  expected 3',
                "│   └── /x  extra  1",
                "├── weathr  wrong_name  expected clock  output[1]  reference[1]  score 0",
                "└── (no name)  unreadable  not a tool call: 'none'  output[2]  reference[2]  score 0",
            ],
        ),
        (
            JsonSchema(PARAMETERS)({"days": "3"}),
            [
                *(None,) * 2,
                '├── (the whole)  required  "city" is a required property',
                '└── /days  type  "3" is not of type "integer"',
            ],
        ),
        (JsonValidity()("{}"), ["passed, score 1", "└── Valid JSON"]),
        (Result(None, None, "warm", "So it reads", answered=True), ["no verdict (warm)", "└── So it reads"]),
    ],
)  # fmt: skip
def test_the_tree_of_a_result(result, lines):
    found = printed(result).splitlines()
    assert [None if each is None else line for line, each in zip(found, lines)] == lines
    assert len(found) == len(lines)


def nested(levels, value):
    for level in range(levels):
        value = {f"in{level}": value}
    return value


def test_the_whole_tree_is_printed_however_deep_and_long():
    levels = 150
    lines = printed(JsonFields()(nested(levels, 1), nested(levels, 2))).splitlines()
    text = "".join(line.lstrip("│ ├└─").rstrip() for line in lines).replace(" ", "")
    place = "".join(f"/in{level}" for level in reversed(range(levels)))
    assert max(map(len, lines)) <= 100
    assert text.count(f"{place}mismatch1expected2") == 1
    text = printed(JsonMatch()(list(range(50)), [-1] * 50))
    assert all(f"/{n}  mismatch  {n}  " in text for n in range(50))


LONG, HOSTILE = "x" * 1_000, "<script>[bold]\x1b[2J\u202e"


@pytest.mark.parametrize(
    "make",
    [
        lambda text: JsonFields()({"a": text}, {"a": 1}),
        lambda text: ToolCalls()(call(text, b=text), call("a")),
    ],
)
def test_text_of_a_model_is_cut_and_does_not_act(make):
    console = Console(file=StringIO(), width=200, record=True, force_terminal=True)
    explain(make(HOSTILE), console)
    text = console.export_text(clear=False)
    assert "<script>[bold]" in text  # as it was written, no markup of ours
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<script>" not in console.export_html()
    result = make(LONG)
    tree = printed(result).replace("\n", "").replace(result.reason, "")
    assert "x" * 300 not in tree.replace("│", "").replace(" ", "")


@pytest.mark.parametrize(
    "metadata",
    [
        {"calls": 3, "errors": ["a", None], "fields": {"a": 0.5}, "differences": None},
        {"calls": [{}, {"name": None, "kind": 1}], "errors": [{}], "outcomes": [{}]},
    ],
)
def test_other_metadata_of_the_same_names_does_no_harm(metadata):
    assert printed(Result(0.5, False, metadata=metadata)).startswith("failed, score 0.5")


def test_only_a_result_is_explained():
    with pytest.raises(InputError, match="expected a Result, got 'x'"):
        explain("x")
