"""Rows and fields as CSV, Arrow and Parquet."""

import csv
import io
import json

import pytest

from llmeval_integrations import JsonValidity, evaluate
from llmeval_integrations.core.errors import MissingDependencyError, UnknownNameError
from llmeval_integrations.reports import formats, load_format
from llmeval_integrations.reports.tables import WRITERS, fields_table, rows_table, write_csv


def as_csv(table):
    out = io.BytesIO()
    write_csv(table, out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))


def test_formats_are_found_by_their_files():
    assert list(formats()) == ["html", "junit", "markdown"]
    with pytest.raises(UnknownNameError, match=r"'pdf'; there are html, junit, markdown"):
        load_format("pdf")


def test_every_row_and_every_field_is_a_record(moods, people):
    records = as_csv(rows_table([moods]))
    assert [record["id"] for record in records] == ["good", "bad", "raise", "unscored"]
    assert [record["score"] for record in records] == ["4.0", "3.0", "", ""]
    assert [record["passed"] for record in records] == ["true", "false", "", ""]
    assert records[2]["error"] == "InputError: the output asked for it"
    assert as_csv(fields_table([moods])) == []
    records = as_csv(fields_table([people]))
    told = [(record["field"], record["leaves"], record["match"]) for record in records]
    assert told == [("/age", "3", "1"), ("/name", "3", "2")]
    assert json.loads(records[0]["wrong_values"]) == [{"output": "63", "reference": "36", "count": 1}]  # fmt: skip
    figures = people.summary["evaluators"]["json_fields"]["fields"]["/age"]
    assert float(records[0]["f1"]) == figures["f1"]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "＋1", "－1", "＠A"]
)
def test_a_spreadsheet_takes_no_text_for_a_formula(text):
    run = evaluate([{"id": text, "output": "{}"}], [JsonValidity()])
    assert as_csv(rows_table([run]))[0]["id"] == f"'{text}"


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r\nb", "ends\r", 'a,"\r"'])
def test_a_line_break_of_any_kind_stays_in_its_cell(text):
    run = evaluate([{"id": text, "output": "{}"}] * 2, [JsonValidity()])
    assert [record["id"] for record in as_csv(rows_table([run]))] == [text, text]
    out = io.BytesIO()
    write_csv(rows_table([run]), out)
    assert out.getvalue().count(b"\n") == 3 + 2 * text.count("\n")


def as_arrow(name, table, path):
    """Write a table as Arrow or Parquet, and give it as pyarrow reads it."""
    pyarrow = pytest.importorskip("pyarrow")
    with path.open("wb") as file:
        WRITERS[name](table, file)
    if name == "arrow":
        return pyarrow.ipc.open_file(str(path)).read_all()
    return pytest.importorskip("pyarrow.parquet").read_table(path)


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_arrow_and_parquet_hold_types_nulls_and_half_of_a_surrogate_pair(name, moods, people, hostile, tmp_path):  # fmt: skip
    rows = as_arrow(name, rows_table([moods, people]), tmp_path / "rows")
    assert rows["passed"].to_pylist()[:4] == [True, False, None, None]
    assert str(rows.schema.field("score").type) == "double"
    assert set(rows["run"].to_pylist()) == {"moods", "people"}
    fields = as_arrow(name, fields_table([people]), tmp_path / "fields")
    assert fields["precision"].to_pylist() == [1 / 2, 1.0]
    assert as_arrow(name, rows_table([evaluate([], [JsonValidity()])]), tmp_path / "0").num_rows == 0  # fmt: skip
    assert (
        "\\ud800" in as_arrow(name, rows_table([hostile]), tmp_path / "evil")["id"].to_pylist()[0]
    )


def test_without_pyarrow_the_error_says_how_to_install_it(moods, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"llmeval-integrations\[parquet\]"):
        WRITERS["parquet"](rows_table([moods]), io.BytesIO())
