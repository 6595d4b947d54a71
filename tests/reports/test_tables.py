"""Rows and fields as CSV, Arrow and Parquet."""

import csv
import io
import json

import pytest

from llmeval_integrations import JsonValidity, evaluate
from llmeval_integrations.core.errors import MissingDependencyError, UnknownNameError
from llmeval_integrations.reports import formats, load_format
from llmeval_integrations.reports.tables import fields_table, rows_table


def as_csv(table):
    out = io.BytesIO()
    load_format("csv", "write_table").write_table(table, out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))


def test_formats_are_found_by_their_files():
    assert list(formats("write")) == ["csv", "html", "junit", "markdown"]
    assert list(formats("write_table")) == ["arrow", "csv", "parquet"]
    with pytest.raises(UnknownNameError, match=r"'pdf'; there are csv, html, junit, markdown"):
        load_format("pdf")


def test_every_row_is_a_record(moods):
    records = as_csv(rows_table([moods]))
    assert [record["id"] for record in records] == ["good", "bad", "raise", "unscored"]
    assert [record["score"] for record in records] == ["4.0", "3.0", "", ""]
    assert [record["passed"] for record in records] == ["true", "false", "", ""]
    assert [record["unscored"] for record in records] == ["false", "false", "false", "true"]
    assert records[2]["error"] == "InputError: row 3: the output asked for it"


def test_every_field_is_a_record(people):
    records = as_csv(fields_table([people]))
    assert [(record["field"], record["leaves"], record["match"]) for record in records] == [
        ("/age", "3", "1"),
        ("/name", "3", "2"),
    ]
    wrong = json.loads(records[0]["wrong_values"])
    assert wrong == [{"output": "63", "reference": "36", "count": 1}]
    assert json.loads(records[0]["examples"]) == ["old"]
    figures = people.summary["evaluators"]["json_fields"]["fields"]["/age"]
    assert set(figures) < set(records[0])
    for name in ("matched", "output_leaves", "reference_leaves", "precision", "recall", "f1"):
        assert float(records[0][name]) == figures[name]


def test_evaluators_without_fields_give_none(moods):
    assert as_csv(fields_table([moods])) == []


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "＋1", "－1", "＠A"]
)
def test_a_spreadsheet_takes_no_text_for_a_formula(text):
    run = evaluate([{"id": text, "output": "{}"}], [JsonValidity()])
    assert as_csv(rows_table([run]))[0]["id"] == f"'{text}"


def as_arrow(name, table, path):
    """Write a table as Arrow or Parquet, and give it as pyarrow reads it."""
    pyarrow = pytest.importorskip("pyarrow")
    with path.open("wb") as file:
        load_format(name, "write_table").write_table(table, file)
    if name == "arrow":
        return pyarrow.ipc.open_file(str(path)).read_all()
    return pytest.importorskip("pyarrow.parquet").read_table(path)


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_arrow_and_parquet_hold_types_nulls_and_every_figure(name, moods, people, tmp_path):
    rows = as_arrow(name, rows_table([moods, people]), tmp_path / "rows")
    assert rows.num_rows == 4 + 9
    assert rows["passed"].to_pylist()[:4] == [True, False, None, None]
    assert str(rows.schema.field("score").type) == "double"
    assert set(rows["run"].to_pylist()) == {"moods", "people"}
    assert json.loads(rows["metadata"].to_pylist()[-1])["offset"] == 9
    fields = as_arrow(name, fields_table([people]), tmp_path / "fields")
    assert fields["precision"].to_pylist() == [1 / 2, 1.0]
    assert [json.loads(ids) for ids in fields["examples"].to_pylist()] == [["old"], []]
    empty = evaluate([], [JsonValidity()])
    assert as_arrow(name, rows_table([empty]), tmp_path / "empty").num_rows == 0


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_half_a_surrogate_pair_is_written_out(name, hostile, tmp_path):
    table = as_arrow(name, rows_table([hostile]), tmp_path / "rows")
    assert "\\ud800" in table["id"].to_pylist()[0]


def test_without_pyarrow_the_error_says_how_to_install_it(moods, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"llmeval-integrations\[parquet\]"):
        load_format("parquet", "write_table").write_table(rows_table([moods]), io.BytesIO())


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r\nb", "ends\r", "ends\r\n", 'a,"\r"'])
def test_a_line_break_of_any_kind_stays_in_its_cell(text):
    run = evaluate([{"id": text, "output": "{}"}] * 2, [JsonValidity()])
    assert [record["id"] for record in as_csv(rows_table([run]))] == [text, text]
    for write, what in (("write_table", rows_table([run])), ("write", [run])):
        out = io.BytesIO()
        getattr(load_format("csv", write), write)(what, out)
        assert out.getvalue().count(b"\n") == 3 + 2 * text.count("\n")
        assert out.getvalue().endswith(b"}\n")
