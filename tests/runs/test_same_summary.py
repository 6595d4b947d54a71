"""A summary is the same in memory, in its file, after a resume and by way of another process."""

import json
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest

from llmeval_integrations import JsonFields, evaluate
from llmeval_integrations.cli.main import main
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.interrupting import Interrupted
from llmeval_integrations.runs.parts import Answer, Job, evaluate_part
from llmeval_integrations.runs.stored import read_run

IDS = [
    (date(2024, 1, 2), "2024-01-02"),
    (datetime(2024, 1, 2, 3, tzinfo=timezone.utc), "2024-01-02T03:00:00Z"),
    (time(3, 4), "03:04:00"),
    (timedelta(days=1), "P1D"),
    (Decimal("1.5"), 1.5),
    (b"abc", "YWJj"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ((1, "a"), [1, "a"]),
    (complex(1, 2), "(1+2j)"),
    ("\ud800", "\ud800"),
    (10**5_000, "1" + "0" * 5_000),
    (True, True),
    (7, 7),
]


def row(id):
    return {"id": id, "output": '{"a": 1}', "reference": '{"a": 2}'}


def examples(summary):
    return summary["evaluators"]["json_fields"]["fields"]["/a"]["examples"]


@pytest.mark.parametrize(("id", "stored"), IDS, ids=[str(place) for place in range(len(IDS))])
def test_an_example_is_called_as_its_row_is(tmp_path, id, stored):
    rows = [row("first"), row(id), row(id)]
    run = evaluate(rows, [JsonFields()], out=tmp_path)
    assert examples(run.summary) == ["first", stored]
    assert examples(evaluate(rows, [JsonFields()]).summary) == ["first", stored]
    assert [row.id for row in run.rows] == ["first", stored, stored]
    written = (tmp_path / "summary.json").read_text()
    assert json.loads(written) == run.summary
    (tmp_path / "summary.json").unlink()
    assert read_run(tmp_path).summary == run.summary
    evaluate(rows, [JsonFields()], out=tmp_path, resume=True)
    assert (tmp_path / "summary.json").read_text() == written


def test_ids_of_parquet_have_a_summary(tmp_path, capsys):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist([row(date(2024, 1, 2)), row(date(2024, 1, 3))])
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "data.parquet")
    call = ["run", str(tmp_path / "data.parquet"), "-e", "json_fields", "--json"]
    assert main([*call, "--out", str(tmp_path / "run")]) == 0
    told = capsys.readouterr().out
    assert told == (tmp_path / "run" / "summary.json").read_text()
    assert examples(json.loads(told)) == ["2024-01-02", "2024-01-03"]


def test_a_number_that_no_float_holds_is_a_text_there(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"id": 1e400, "output": "{}", "reference": {"a": 1}}')
    evaluate(tmp_path / "data.jsonl", [JsonFields()], columns={"id": "id"}, out=tmp_path / "run")
    [example] = examples(json.loads((tmp_path / "run" / "summary.json").read_text()))
    assert example == "1E+400"


def test_a_run_that_is_broken_off_has_its_summary_with_any_id(tmp_path):
    def stop(samples, _share):
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        evaluate([row(date(2024, 1, 2))], [JsonFields()], out=tmp_path, on_progress=stop)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["interrupted"], examples(summary)) == (True, ["2024-01-02"])


ODD = b'{"id": "\\ud800", "output": "{\\"a\\": 5}", "reference": {"a": 7.25}}\n'


def test_what_utf_8_cannot_hold_changes_no_number_beside_it(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_bytes(ODD)
    evaluate(path, [JsonFields()], out=tmp_path / "run")
    before = (tmp_path / "run" / "summary.json").read_text()
    assert '"reference": "7.25"' in before
    (tmp_path / "run" / "summary.json").unlink()
    evaluate(path, [JsonFields()], out=tmp_path / "run", resume=True)
    assert (tmp_path / "run" / "summary.json").read_text() == before


def test_another_process_tells_such_numbers_as_they_are():
    evaluators = {"json_fields": JsonFields()}
    answer = evaluate_part(Job("", evaluators, columns_by_evaluator({}, evaluators)), ODD, 1)
    assert Answer.unpacked(answer.packed()).counted == answer.counted
