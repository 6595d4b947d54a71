"""Four models' calls beside the verdicts that the Berkeley leaderboard published on them."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from llmeval_integrations import InvalidReferenceError, ToolCalls

FOLDER = Path(__file__).parent.parent.parent / "shared" / "data" / "bfcl_verdicts"
pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the data is not here"),
    pytest.mark.once,
]

UNREADABLE = {"parallel_multiple_function_179"}
"""The answer has an argument where a call should stand, so that no model could be right."""

WE_ARE_RIGHT = {
    "parallel_multiple_function_67": "3 is 3.0 in JSON; they ask for the type of Python's answer",
    "parallel_multiple_function_75": "an argument is the default of its schema, spelled out",
    "parallel_multiple_function_83": "an argument is the default of its schema, spelled out",
    "parallel_function_84": "an argument whose default is expected is left out",
    "simple_263": "an argument that may be left out is null",
}
"""Records on which the verdicts differ, with the reason."""

_IGNORED = str.maketrans("", "", " ,./-_*^")


def is_same_text(output, reference):
    """Compare texts as the leaderboard does; all else as JSON."""
    if not (isinstance(output, str) and isinstance(reference, str)):
        return False
    one, other = (
        text.translate(_IGNORED).lower().replace("'", '"') for text in (output, reference)
    )
    return one == other


def as_calls(record):
    """Give the tools and the expected calls, with `_` for each `.` in a name as the models had."""
    tools = [{**tool, "name": tool["name"].replace(".", "_")} for tool in record["functions"]]
    names = [tool["name"] for tool in tools]
    answers = record["possible_answer"]
    expected = []
    for answer in answers if isinstance(answers, list) else [answers]:
        for given, arguments in answer.items():
            name = given.replace(".", "_")
            if name not in names:  # numbered, as the tool is expected more than once
                name = re.sub(r"[ _]\d+$", "", name)
            if name not in names:  # or without its module
                name = next((one for one in names if one.endswith(f"_{name}")), name)
            expected.append({"name": name, "arguments": arguments})
    return tools, expected


@cache
def verdicts():
    """Give each record's id, the published verdict, its error and ours; None for unreadable."""
    evaluator = ToolCalls(alternatives="listed", defaults={"compare": is_same_text})
    found = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            tools, expected = as_calls(record)
            made = record["result"]
            if isinstance(made, list):
                made = [
                    {"name": name, "arguments": its} for one in made for name, its in one.items()
                ]
            try:
                ours = evaluator(made, expected, variables={"tools": tools}).passed
            except InvalidReferenceError:
                ours = None
            error = str(record["published_error"])
            found.append((record["id"], record["published"], error, ours))
    return found


def test_every_record_is_read_or_listed():
    assert len(verdicts()) == 4_000
    assert {number for number, _, _, ours in verdicts() if ours is None} == UNREADABLE


def test_nearly_all_published_verdicts_are_ours():
    """They fail an object or array in an array where its own type is right (`type_error:nested`)."""
    comparable = [one for one in verdicts() if "type_error:nested" not in one[2]]
    different = [one for one in comparable if one[1] is not one[3]]
    assert len(comparable) == 3_983
    assert len(different) == 11  # 99.7 % agree
    assert {number for number, *_ in different} == UNREADABLE | WE_ARE_RIGHT.keys()
    assert not any(published for _, published, _, _ in different)


def test_what_they_fail_for_a_nested_type_is_right_but_once():
    nested = [ours for _, _, error, ours in verdicts() if "type_error:nested" in error]
    assert (nested.count(True), nested.count(False)) == (16, 1)
