"""A result as a tree."""

import re
from io import StringIO
from pathlib import Path

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


def printed(result):
    file = StringIO()
    explain(result, Console(file=file, width=100))
    return file.getvalue()


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


CALLS = [call("weather", city="Paris", days="3", x=1), call("weathr"), "none"]
EXPECTED = [call("weather", city="Oslo", days=3), call("clock"), call("radio", station=3)]
SCHEMA = {"required": ["city"], "properties": {"days": {"type": "integer"}}}
HOSTILE, LONG = "<b>[bold]\x1b[2J\u202e", "x" * 1_000
FRAME = re.compile(r"[\n│├└─ ]+")
RESULTS = [
    JsonGrounded()({"total": 30, "vendor": "Acme", "ok": True}, input="In 30 days"),
    ToolCalls()(CALLS, EXPECTED),
    JsonSchema(SCHEMA)({"days": "3"}),
    # No text of a model acts: no markup, no escape sequence.
    ToolCalls()(call(HOSTILE, b=HOSTILE), call("a")),
    JsonValidity()("{}"),
    Result(None, None, "warm", "So it reads", answered=True),
    # Another evaluator may use the same names for something else.
    Result(0.5, False, metadata={"calls": 3, "errors": ["a", None], "fields": {"a": 0.5}, "differences": None}),
    Result(0.5, False, metadata={"calls": [{}], "errors": [{}], "outcomes": [{}]}),
]  # fmt: skip


def test_the_trees_of_results_are_those_in_the_file_beside():
    trees = Path(__file__).parent / "golden" / "trees.txt"
    found = "\n".join(map(printed, RESULTS))
    assert [line.rstrip() for line in found.splitlines()] == trees.read_text("utf-8").splitlines()


def test_the_whole_tree_is_printed_however_deep_and_long_and_texts_are_cut():
    ours, theirs = 1, 2
    for level in range(150):
        ours, theirs = {f"in{level}": ours}, {f"in{level}": theirs}
    deep = printed(JsonFields()(ours, theirs))
    place = "".join(f"/in{level}" for level in reversed(range(150)))
    assert max(map(len, deep.splitlines())) <= 100
    assert FRAME.sub("", deep).count(f"{place}mismatch1expected2") == 1
    whole = printed(JsonMatch()([*range(50), LONG], [-1] * 51))
    assert all(f"/{n}  mismatch  {n}  " in whole for n in range(50))
    for text in (whole, printed(ToolCalls()(call(LONG, b=LONG), call("a")))):
        assert "x" * 100 < max(re.findall("x+", FRAME.sub("", text))) < "x" * 300


def test_only_a_result_is_explained():
    with pytest.raises(InputError, match="expected a Result, got 'x'"):
        explain("x")
