"""What is kept of a sample that did not pass: what each evaluator saw of it."""

import json

import pytest

from llmeval_integrations import JsonMatch, JsonValidity, evaluate
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.parts import Job, evaluate_part
from llmeval_integrations.runs.stored import read_samples, seen_by

ROW = {
    "id": "q1",
    "output": '{"total": 12}',
    "reference": '{"total": 12.5}',
    "other": '{"total": 1,}',
    "gold": '{"total": 99}',
}
EVALUATORS = {"old": JsonMatch(), "new": JsonMatch(), "valid": JsonValidity()}
FIELDS = {"new.output": "other", "new.reference": "gold"}
OLD = {"output": '{"total": 12}', "reference": '{"total": 12.5}', "id": "q1"}
NEW = {"output": '{"total": 1,}', "reference": '{"total": 99}', "id": "q1"}


def kept(folder):
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]


def test_an_evaluator_with_columns_of_its_own_has_an_entry_of_its_own(tmp_path):
    evaluate([ROW], EVALUATORS, columns=FIELDS, out=tmp_path)
    assert kept(tmp_path) == [{"row": 0, **OLD, "evaluators": {"new": NEW}}]
    [sample] = read_samples(tmp_path)
    assert seen_by(sample, "new") == NEW
    assert seen_by(sample, "old")["output"] == seen_by(sample, "valid")["output"] == OLD["output"]


def test_without_columns_of_their_own_all_have_one_line(tmp_path):
    evaluate([ROW], EVALUATORS, columns={"reference": "gold"}, out=tmp_path)
    line = b'{"row":0,"output":"{\\"total\\": 12}","reference":"{\\"total\\": 99}","id":"q1"}\n'
    assert (tmp_path / "samples.jsonl").read_bytes() == line


def test_it_is_the_same_where_another_process_evaluates(tmp_path):
    evaluate([ROW], EVALUATORS, columns=FIELDS, out=tmp_path)
    job = Job("data.jsonl", EVALUATORS, columns_by_evaluator(FIELDS, EVALUATORS))
    [(place, line)] = evaluate_part(job, json.dumps(ROW).encode(), 1).failing
    assert (place, b'{"row":0,' + line) == (0, (tmp_path / "samples.jsonl").read_bytes())


def test_it_is_the_same_where_rows_are_done_again(tmp_path):
    rows = [ROW, {**ROW, "reference": None, "id": "q2"}]
    run = {"samples": rows, "evaluators": EVALUATORS, "columns": FIELDS, "out": tmp_path}
    evaluate(**run)
    before = (tmp_path / "samples.jsonl").read_bytes()
    assert before.count(b'"evaluators"') == 2
    evaluate(**run, resume=True, retry_errors=True)
    assert (tmp_path / "samples.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("lacking", "common", "own"),
    [("output", {"id": "q1"}, NEW), ("other", OLD, {"id": "q1"})],
)
def test_of_what_is_no_sample_to_an_evaluator_its_id_is_kept(tmp_path, lacking, common, own):
    row = {name: value for name, value in ROW.items() if name != lacking}
    evaluate([row], EVALUATORS, columns=FIELDS, out=tmp_path)
    assert kept(tmp_path) == [{"row": 0, **common, "evaluators": {"new": own}}]


def test_texts_that_utf_8_cannot_hold_are_kept_there_too(tmp_path):
    evaluate([{**ROW, "other": "\ud800"}], EVALUATORS, columns=FIELDS, out=tmp_path)
    assert kept(tmp_path)[0]["evaluators"]["new"] == {**NEW, "output": "\ud800"}


def test_of_a_pydantic_model_is_kept_what_it_dumps(tmp_path):
    pydantic = pytest.importorskip("pydantic")

    class Bill(pydantic.BaseModel):
        total: int = pydantic.Field(alias="sum")

    row = {"id": "q1", "output": Bill(sum=12), "reference": [Bill(sum=13)]}
    evaluate([row], [JsonMatch()], out=tmp_path)
    assert kept(tmp_path) == [
        {"row": 0, "output": {"sum": 12}, "reference": [{"sum": 13}], "id": "q1"}
    ]
