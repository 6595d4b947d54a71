"""The Berkeley leaderboard: every published verdict on four models' calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llmeval_integrations import InvalidReferenceError, ToolCalls
from proof.part import Part

ORIGIN = (
    "Four models' native calls with the leaderboard's own verdicts (HuanzhiMao/BFCL-Result, "
    "2024-08-11; cases of ShishirPatil/gorilla, Apache-2.0): `bfcl_verdicts/*.jsonl`. Texts are "
    "compared as the leaderboard does."
)
NESTED = "type_error:nested"
REASONS = {
    "parallel_multiple_function_67": "3 is 3.0 in JSON; the leaderboard asks for Python's type",
    "parallel_multiple_function_75": "an argument is the default of its schema, spelled out",
    "parallel_multiple_function_83": "an argument is the default of its schema, spelled out",
    "parallel_function_84": "an argument whose default is expected is left out",
    "simple_56": "an argument is the default of its schema, spelled out",
    "simple_263": "an argument that may be left out is null",
    "parallel_multiple_function_179": "the answer has an argument where a call should stand, so no "
    "model could be right",
}
"""Why the published verdict on a record is wrong."""

_IGNORED = str.maketrans("", "", " ,./-_*^")


def is_same_text(output: Any, reference: Any) -> bool:
    """Compare texts as the leaderboard does; all else as JSON."""
    if not (isinstance(output, str) and isinstance(reference, str)):
        return False
    one, other = (
        text.translate(_IGNORED).lower().replace("'", '"') for text in (output, reference)
    )
    return one == other


EVALUATOR = ToolCalls(alternatives="listed", defaults={"compare": is_same_text})


def as_calls(record: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the tools and the expected calls, with `_` for each `.` as the models had it."""
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


def verdict(record: Mapping[str, Any]) -> bool | None:
    """Return our verdict on a record; None where its answer cannot be read."""
    tools, expected = as_calls(record)
    made = record["result"]
    if isinstance(made, list):
        made = [{"name": name, "arguments": its} for one in made for name, its in one.items()]
    try:
        return EVALUATOR(made, expected, variables={"tools": tools}).passed
    except InvalidReferenceError:
        return None


def run(folder: Path) -> Part:
    """Compare all verdicts."""
    columns = ("model", "records", "same verdict", f"published as {NESTED}", "other")
    part = Part("Berkeley Function Calling Leaderboard", ORIGIN, columns)
    paths = sorted(folder.glob("bfcl_verdicts/*.jsonl"))
    if not paths:
        part.missing = f"no bfcl_verdicts/*.jsonl in {folder.name}"
    for path in paths:
        same = nested = others = 0
        for line in path.open(encoding="utf-8"):
            record = json.loads(line)
            ours, error = verdict(record), str(record["published_error"])
            part.records += 1
            if ours is record["published"]:
                same += 1
                continue
            nested += NESTED in error
            others += NESTED not in error
            reason = REASONS.get(record["id"], "not explained")
            if NESTED in error:
                reason = "the object or array in an array has the type that its schema gives"
            said = {True: "right", False: "wrong", None: "not judged"}
            part.exceptions.append(
                f"{path.stem}, {record['id']}: {said[ours]}, published as "
                f"{said[record['published']]}; {reason}"
            )
        counts = (same + nested + others, same, nested, others)
        part.rows.append((path.stem, *(f"{count:,}" for count in counts)))
    return part
