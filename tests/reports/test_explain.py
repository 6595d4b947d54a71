"""A result as a tree."""

from io import StringIO

import pytest
from msgspec.structs import replace
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


def printed(result):
    file = StringIO()
    explain(result, Console(file=file, width=100))
    return file.getvalue()


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


CALLS = [call("weather", city="Paris", days="3", x=1), call("weathr"), "none"]
EXPECTED = [call("weather", city="Oslo", days=3), call("clock"), call("radio", station=3)]
SCHEMA = {"required": ["city"], "properties": {"days": {"type": "integer"}}}
TREES = [
    (
        JsonGrounded()({"total": 30, "vendor": "Acme", "ok": True}, input="In 30 days"),
        """\
failed, score 0.5 (ungrounded)
├── not in the source: /vendor "Acme"
├── total
│   └── /total  number  30  source[3:5]
├── vendor
│   └── /vendor  ungrounded  "Acme"
└── ok
    └── /ok  open  true""",
    ),
    (
        replace(ToolCalls()(CALLS, EXPECTED), reason=None),
        """\
failed, score 0.08333 (unreadable)
├── weather  wrong_arguments  output[0]  reference[0]  score 0.25
│   ├── /city  mismatch  "Paris"  expected "Oslo"
│   ├── /days  wrong_type  "3"  expected 3
│   └── /x  extra  1
├── weathr  wrong_name  expected clock  output[1]  reference[1]  score 0
└── (no name)  unreadable  not a tool call: 'none'  output[2]  reference[2]  score 0""",
    ),
    (
        replace(JsonSchema(SCHEMA)({"days": "3"}), reason=None),
        """\
failed, score 0 (required)
├── (the whole)  required  "city" is a required property
└── /days  type  "3" is not of type "integer\"""",
    ),
    (JsonValidity()("{}"), "passed, score 1\n└── Valid JSON"),
    (Result(None, None, "warm", "So it reads", answered=True), "no verdict (warm)\n└── So it reads"),
    # Another evaluator may use the same names for something else.
    (Result(0.5, False, metadata={"calls": 3, "errors": ["a", None], "fields": {"a": 0.5}, "differences": None}), "failed, score 0.5"),
    (Result(0.5, False, metadata={"calls": [{}], "errors": [{}], "outcomes": [{}]}), "failed, score 0.5\n├── (the whole)\n├── (the whole)\n└── (no name)  invalid"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "tree"), TREES)
def test_the_tree_of_a_result(result, tree):
    assert [line.rstrip() for line in printed(result).splitlines()] == tree.splitlines()


def test_the_whole_tree_is_printed_however_deep_and_long():
    ours, theirs = 1, 2
    for level in range(150):
        ours, theirs = {f"in{level}": ours}, {f"in{level}": theirs}
    lines = printed(JsonFields()(ours, theirs)).splitlines()
    text = "".join(line.lstrip("│ ├└─").rstrip() for line in lines).replace(" ", "")
    place = "".join(f"/in{level}" for level in reversed(range(150)))
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
    assert not {"\x1b", "\u202e"} & {*text}
    assert "<script>" not in console.export_html()
    result = make(LONG)
    tree = printed(result).replace("\n", "").replace(result.reason, "")
    assert "x" * 300 not in tree.replace("│", "").replace(" ", "")


def test_only_a_result_is_explained():
    with pytest.raises(InputError, match="expected a Result, got 'x'"):
        explain("x")
