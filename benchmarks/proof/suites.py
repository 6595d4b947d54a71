"""JSONTestSuite and JSON-Schema-Test-Suite: every case of both."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from llmeval_integrations import JsonSchema, JsonValidity
from llmeval_integrations.core.errors import EvalError
from proof.part import Part, source_files

PARSING = (
    "Nicolas Seriot's JSONTestSuite, in the source distribution of pyjson5 on PyPI: "
    "`pip download --no-deps --no-binary :all: pyjson5`."
)
SCHEMAS = (
    "JSON-Schema-Test-Suite, in the source distribution of jsonschema on PyPI: "
    "`pip download --no-deps --no-binary :all: jsonschema`. Without optional cases, and those "
    "that need a server."
)
DRAFTS = {
    "draft4": "4",
    "draft6": "6",
    "draft7": "7",
    "draft2019-09": "2019-09",
    "draft2020-12": "2020-12",
}
REMOTE = "localhost:1234"
"""Stands in schemas that refer to a server of the suite."""


def run_parsing(folder: Path) -> Part:
    """Compare JsonValidity with each case that must be accepted or refused."""
    part = Part("JSONTestSuite", PARSING, ("expected", "cases", "as expected"))
    valid = JsonValidity(parsing="strict")
    counts: Counter[tuple[str, bool]] = Counter()
    for path, content in source_files(folder, "pyjson5", "JSONTestSuite/test_parsing"):
        name = Path(path).name
        expected = {"y": True, "n": False}.get(name[0])
        if expected is None or not name.endswith(".json"):
            continue  # either answer is right
        part.records += 1
        try:
            passed = valid(content.decode("utf-8")).passed
        except UnicodeDecodeError:
            passed = False  # no text at all
        counts["accepted" if expected else "refused", passed is expected] += 1
        if passed is not expected:
            why = "; a name twice in an object is a defect" * ("duplicated" in name)
            part.exceptions.append(f"{name}: {'accepted' if passed else 'refused'}{why}")
    for word in ("accepted", "refused"):
        right, wrong = counts[word, True], counts[word, False]
        part.rows.append((word, str(right + wrong), str(right)))
    if not part.records:
        part.missing = f"no pyjson5-*.tar.gz in {folder.name}"
    return part


def run_schemas(folder: Path) -> Part:
    """Compare JsonSchema with each case of each draft."""
    part = Part("JSON-Schema-Test-Suite", SCHEMAS, ("draft", "cases", "as expected"))
    counts: dict[str, list[int]] = {draft: [0, 0] for draft in DRAFTS}
    for path, content in source_files(folder, "jsonschema", "json/tests"):
        draft, _, name = path.partition("/")
        if draft not in DRAFTS or "/" in name or not name.endswith(".json"):
            continue
        for group in json.loads(content):
            if REMOTE in json.dumps(group["schema"]):
                continue
            for case in group["tests"]:
                part.records += 1
                counts[draft][0] += 1
                passed = _passed(group["schema"], DRAFTS[draft], case["data"])
                counts[draft][1] += passed is case["valid"]
                if passed is not case["valid"]:
                    part.exceptions.append(
                        f"{draft}, {name}, {group['description']}, {case['description']}: "
                        f"{passed}, expected {case['valid']}"
                    )
    part.rows = [(draft, str(cases), str(right)) for draft, (cases, right) in counts.items()]
    if not part.records:
        part.missing = f"no jsonschema-*.tar.gz in {folder.name}"
    return part


def _passed(schema: Any, draft: str, value: Any) -> Any:
    try:
        return JsonSchema(schema, draft=draft, parsing="strict")(json.dumps(value)).passed
    except EvalError as error:
        return f"{type(error).__name__}: {str(error)[:120]}"
