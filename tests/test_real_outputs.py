"""The published figures of a benchmark, reproduced for every record of its real outputs."""

import json
import pathlib
from collections import Counter

import pytest

from llmeval_integrations import (
    JsonEditDistance,
    JsonEquality,
    JsonMatch,
    JsonObject,
    JsonSchema,
    JsonValidity,
    Sample,
)
from llmeval_integrations.cli.main import main

FOLDER = pathlib.Path(__file__).parents[2] / "shared/data/sob"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the benchmark's data is not here")

EXCEPTIONS: dict[str, dict[tuple[str, str], str]] = {
    # figure: (record, model): why we say something else. There are none.
    "json_parse_success": {},
    "schema_compliance": {},
    "strict_json_em": {},
}


@pytest.fixture(scope="module")
def records():
    return [
        json.loads(line)
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def differing(records, figure, samples, evaluator):
    """List the records for which the evaluator does not say what was published."""
    results = evaluator.evaluate_many(samples)
    return {
        (record["id"], record["model"])
        for record, result in zip(records, results)
        if (record["published"][figure] == 1.0) is not result.passed
    }


def test_there_are_1254_records_of_six_models(records):
    assert len(records) == 1_254
    assert set(Counter(record["model"] for record in records).values()) == {209}


@pytest.mark.parametrize(
    "evaluator",
    [JsonValidity("strict"), JsonObject("strict"), JsonValidity(), JsonObject("markdown")],
    ids=repr,
)
def test_json_parse_success(records, evaluator):
    # The whole output has to be an object or an array; arrays do not occur.
    samples = [Sample(record["output"]) for record in records]
    exceptions = EXCEPTIONS["json_parse_success"]
    assert differing(records, "json_parse_success", samples, evaluator) == set(exceptions)


def test_what_does_not_parse_is_neither_lost_nor_without_a_name(records):
    results = JsonValidity("strict").evaluate_many(
        [{"output": record["output"]} for record in records]
    )
    assert Counter(result.label for result in results) == {
        None: 1173, "prose_around": 58, "code_fence": 9, "prose": 6, "invalid_escape": 4, "truncated": 2,
        "unescaped_quote": 1, "trailing_comma": 1,
    }  # fmt: skip


@pytest.mark.parametrize("parsing", ["strict", "markdown"])
def test_schema_compliance(records, parsing):
    exceptions = EXCEPTIONS["schema_compliance"]
    samples = [Sample(record["output"], record["schema"]) for record in records]
    evaluator = JsonSchema(draft="7", parsing=parsing)
    assert differing(records, "schema_compliance", samples, evaluator) == set(exceptions)
    as_text = [Sample(record["output"], json.dumps(record["schema"])) for record in records]
    assert differing(records, "schema_compliance", as_text, evaluator) == set(exceptions)


def test_conformity_is_1_exactly_where_the_schema_is_complied_with(records):
    for record in records:
        result = JsonSchema(draft="7")(record["output"], record["schema"])
        schema_score = result.metadata.get("schema_score", 0.0)
        assert 0.0 <= schema_score <= 1.0
        assert (schema_score == 1.0) is (record["published"]["schema_compliance"] == 1.0)


def same_sorted_text(output, reference):
    """Compare as the benchmark does: two texts with sorted keys, in which 1 is not 1.0."""
    return json.dumps(output, sort_keys=True) == json.dumps(reference, sort_keys=True)


@pytest.mark.parametrize(
    "evaluator",
    [
        JsonEquality(operator=same_sorted_text, parsing="strict"),
        JsonEquality(operator=same_sorted_text),
        JsonEditDistance(
            # A figure for each pair would take time and say no more.
            string_distance=lambda output, reference: float(output != reference),
            canonicalize=lambda value: json.dumps(value, sort_keys=True),
        ),
    ],
    ids=["equality", "equality, markdown", "edit distance"],
)
def test_strict_json_em(records, evaluator):
    exceptions = EXCEPTIONS["strict_json_em"]
    samples = [Sample(record["output"], record["reference"]) for record in records]
    assert differing(records, "strict_json_em", samples, evaluator) == set(exceptions)


@pytest.mark.once
@pytest.mark.parametrize(
    "evaluator", [JsonEquality(), JsonMatch(), JsonEquality(parsing="lenient")], ids=repr
)
def test_json_equality_finds_no_1_that_is_1_0_among_them(records, evaluator):
    samples = [Sample(record["output"], json.dumps(record["reference"])) for record in records]
    assert differing(records, "strict_json_em", samples, evaluator) == set()


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


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.jsonl")), ids=lambda file: file.stem)
def test_the_main_job_gives_the_published_rates(file, tmp_path):
    figures = {
        "parses": "json_parse_success",
        "json_schema": "schema_compliance",
        "json_equality": "strict_json_em",
    }
    call = ["run", str(file), "-q", "--out", str(tmp_path / "run")]
    call += ["-e", "parses=json_object", "-e", "json_schema:draft=7,parsing=strict"]
    call += ["-e", "json_equality:parsing=strict", "-e", "json_match", "-e", "length_penalty"]
    assert main(call) == 0
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    published = [json.loads(line)["published"] for line in file.read_text("utf-8").splitlines()]
    for name, figure in figures.items():
        found = summary["evaluators"][name]
        assert (found["n"], found["scored"], found["errors"]) == (209, 209, 0)
        assert found["pass_rate"] == sum(row[figure] for row in published) / 209
    assert len((tmp_path / "run/results.jsonl").read_text("utf-8").splitlines()) == 5 * 209
