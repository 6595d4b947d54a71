"""Real outputs of six models: what is no JSON has a name, and every patch mends its mismatch."""

import json
import pathlib
from collections import Counter

import pytest

from llmeval_integrations import (
    JsonMatch,
    JsonValidity,
)

FOLDER = pathlib.Path(__file__).parents[2] / "shared/data/sob"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the benchmark's data is not here")


@pytest.fixture(scope="module")
def records():
    return [
        json.loads(line)
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def test_what_does_not_parse_is_neither_lost_nor_without_a_name(records):
    results = JsonValidity("strict").evaluate_many(
        [{"output": record["output"]} for record in records]
    )
    assert Counter(result.label for result in results) == {
        None: 1173, "prose_around": 58, "code_fence": 9, "prose": 6, "invalid_escape": 4, "truncated": 2,
        "unescaped_quote": 1, "trailing_comma": 1,
    }  # fmt: skip


@pytest.mark.once
def test_every_mismatch_comes_with_a_patch_that_mends_it(records):
    jsonpatch = pytest.importorskip("jsonpatch")
    evaluators = [
        JsonMatch(strict_order, ignore)
        for strict_order in (True, False)
        for ignore in (True, False)
    ]
    for record in records[::5]:
        for evaluator in evaluators:
            result = evaluator(record["output"], record["reference"])
            if "patch" in result.metadata:
                mended = jsonpatch.apply_patch(
                    json.loads(record["output"]), result.metadata["patch"]
                )
                assert evaluator(mended, record["reference"]).passed
