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


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_fields_as_arrow_and_parquet_have_every_figure(name, people, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / f"fields.{name}"
    with path.open("wb") as file:
        load_format(name, "write_table").write_table(fields_table([people]), file)
    if name == "arrow":
        table = pyarrow.ipc.open_file(str(path)).read_all()
    else:
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
    assert table["precision"].to_pylist() == [1 / 2, 1.0]
    assert str(table.schema.field("recall").type) == "double"
    assert [json.loads(ids) for ids in table["examples"].to_pylist()] == [["old"], []]


def test_figures_that_an_earlier_version_did_not_write_are_empty(people):
    for field in people.summary["evaluators"]["json_fields"]["fields"].values():
        del field["matched"]
    assert [record["matched"] for record in as_csv(fields_table([people]))] == ["", ""]


def test_evaluators_without_fields_give_none(moods):
    assert as_csv(fields_table([moods])) == []


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "＋1", "－1", "＠A"]
)
def test_a_spreadsheet_takes_no_text_for_a_formula(text):
    run = evaluate([{"id": text, "output": "{}"}], [JsonValidity()])
    assert as_csv(rows_table([run]))[0]["id"] == f"'{text}"


@pytest.mark.parametrize(("name", "module"), [("arrow", "ipc"), ("parquet", "parquet")])
def test_arrow_and_parquet_hold_types_and_nulls(name, module, moods, people, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / f"rows.{name}"
    with path.open("wb") as file:
        load_format(name, "write_table").write_table(rows_table([moods, people]), file)
    if module == "ipc":
        table = pyarrow.ipc.open_file(str(path)).read_all()
    else:
        from pyarrow.parquet import read_table

        table = read_table(path)
    assert table.num_rows == 4 + 9
    assert table["passed"].to_pylist()[:4] == [True, False, None, None]
    assert str(table.schema.field("score").type) == "double"
    assert set(table["run"].to_pylist()) == {"moods", "people"}
    assert json.loads(table["metadata"].to_pylist()[-1])["offset"] == 9


def test_half_a_surrogate_pair_is_written_out(hostile, tmp_path):
    pytest.importorskip("pyarrow")
    with (tmp_path / "rows.parquet").open("wb") as file:
        load_format("parquet", "write_table").write_table(rows_table([hostile]), file)
    from pyarrow.parquet import read_table

    assert "\\ud800" in read_table(tmp_path / "rows.parquet")["id"].to_pylist()[0]


def test_an_empty_run_has_columns_and_no_records(tmp_path):
    run = evaluate([], [JsonValidity()])
    assert as_csv(rows_table([run])) == []
    pyarrow = pytest.importorskip("pyarrow")
    with (tmp_path / "rows.arrow").open("wb") as file:
        load_format("arrow", "write_table").write_table(rows_table([run]), file)
    assert pyarrow.ipc.open_file(str(tmp_path / "rows.arrow")).read_all().num_rows == 0


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
