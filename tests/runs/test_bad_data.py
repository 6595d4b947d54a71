"""What cannot be read is a row with an error, or stops before a run begins."""

import gzip
from collections import OrderedDict
from dataclasses import dataclass
from importlib.util import find_spec

import pytest

from llmeval_integrations import (
    Evaluator,
    ExactMatch,
    InputError,
    JsonMatch,
    JsonValidity,
    MissingDependencyError,
    Result,
)
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.reading.opening import open_source

BAD_LINES = [
    (b"{", "not JSON: Expecting property name enclosed in double quotes at column 2"),
    (b'{"output": "cut off', "not JSON: Unterminated string starting at column 12"),
    (b'{"output": 1} {"output": 2}', "not JSON: Extra data at column 15"),
    (b"[1, 2]", "expected a JSON object, got [1, 2]"),
    (b"null", "expected a JSON object, got None"),
    (b'{"output": "\xff"}', "byte 13 is not UTF-8"),
    (b'{"output": ' + b"[" * 100_000, "not JSON that can be read: nested too deep"),
    (
        b'{"output": 1e99999999999999999999}',
        "not JSON that can be read: a number beyond all bounds",
    ),
    (b'{"answer": "1"}', "nothing in column 'output', only in 'answer'"),
    (b"{}", "nothing in column 'output', nor in any other"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_a_bad_line_is_an_error_row_for_every_evaluator_and_the_run_goes_on(
    tmp_path, line, message
):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(
        b'{"output": "1", "reference": "1"}\n' + line + b'\n{"output": "3", "reference": "3"}'
    )
    rows = list(evaluate(path, [JsonValidity(), JsonMatch()]).rows)
    assert [row.passed for row in rows] == [True, True, None, None, True, True]
    assert [row.error for row in rows[2:4]] == [f"InputError: line 2: {message}"] * 2
    assert [row.id for row in rows[2:4]] == [2, 2]
    assert [row.evaluator for row in rows[2:4]] == ["json_validity", "json_match"]


def test_items_of_an_array_that_are_no_objects_are_error_rows(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('[{"output": "1"}, 7, {"output": "2"}]')
    rows = list(evaluate(path, [JsonValidity()]).rows)
    assert [row.passed for row in rows] == [True, None, True]
    assert rows[1].error == "InputError: item 2: expected a JSON object, got 7"


BAD_CSV = [
    (b"output,reference\n1,1\n2,2,2\n3,3\n", 3, "3 cells under a header of 2"),
    (
        b"output,reference\n1,1\n\xff,2\n3,3\n",
        3,
        "bytes that are not UTF-8; save the file as UTF-8",
    ),
    (b'output,reference\n1,1\n"2"x,2\n3,3\n', 3, "not CSV: ',' expected after '\"'"),
    (b'output,reference\n1,1\n3,3\n"2,2', 4, "not CSV: a quote that opens here is never closed"),
    (b"reference,output\n1,1\n2\n3,3\n", 3, "nothing in column 'output', only in 'reference'"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD_CSV)
def test_a_bad_line_of_csv_is_an_error_row(tmp_path, text, line, message):
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    rows = list(evaluate(path, [JsonMatch()]).rows)
    assert sorted(row.passed is True for row in rows) == [False, True, True]
    [bad] = [row for row in rows if row.error]
    assert (bad.id, bad.error) == (line - 1, f"InputError: line {line}: {message}")


@pytest.mark.parametrize(("suffix", "sign"), [("csv", ","), ("tsv", "\t")])
def test_rows_behind_a_quote_that_is_never_closed_are_told(tmp_path, suffix, sign):
    lines = [f"id{sign}output", *(f"r{row}{sign}[{row}]" for row in range(30))]
    lines[11] = f'r10{sign}"[1'
    lines[21] = f'r20{sign}"[1'
    path = tmp_path / f"rows.{suffix}"
    path.write_text("\n".join(lines))
    records = dict(open_source(path).records)
    errors = {number: str(row) for number, row in records.items() if isinstance(row, InputError)}
    assert "in line 22; is a quote that opens here never closed?" in errors[11, 12]
    assert [row["id"] for row in records.values() if isinstance(row, dict)] == [
        f"r{row}" for row in [*range(10), *range(21, 30)]
    ]
    path.write_text("\n".join(lines[:20]))
    records = list(open_source(path).records)
    assert str(records[-1][1]) == (
        "not CSV: a quote that opens here is never closed; lines 12 to 20 are read as one row"
    )


def test_a_quote_that_the_next_row_seems_to_close_costs_both_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('output,id\n"[1,a\n"[2]",b\n"[\n3]",c\n"[4]",d\n')
    rows = list(evaluate(path, [JsonValidity()]).rows)
    assert [row.id for row in rows] == ["row 1", "c", "d"]
    assert [row.passed for row in rows] == [None, True, True]
    assert rows[0].error.endswith("in line 3; is a quote that opens here never closed?")


UNREADABLE = [
    ("missing.jsonl", None, "No such file or directory"),
    ("rows.json", b'{\n"data": []\n}', "expected an array of objects, got {'data': []}"),
    ("rows.json", b"[1, 2", "not JSON: Expecting ',' delimiter at column 6"),
    ("rows.json", b"", "not JSON: Expecting value at column 1"),
    ("rows.jsonl", '{"output": 1}'.encode("utf-16"), "is UTF-16; save it as UTF-8"),
    ("rows.csv", "output\n1".encode("utf-16"), "is UTF-16; save it as UTF-8"),
    (
        "rows.jsonl",
        gzip.compress(b'{"output": 1}', mtime=0),
        "compressed (gzip); unpack it first",
    ),
    (
        "rows.json",
        gzip.compress(b'[{"output": 1}]', mtime=0),
        "compressed (gzip); unpack it first",
    ),
    ("rows.csv", gzip.compress(b"output\n1", mtime=0), "compressed (gzip); unpack it first"),
    ("rows.csv", b"output,id,output\n1,2,3", "two columns are called 'output'"),
    ("rows.csv", b"output,,output,\n1,2,3,4", "two columns are called 'output'"),
    ("rows.csv", b",,\n1,2,3", "the header names no column; it has to be the first row"),
    ("rows.csv", b"id\toutput\na\t1", "'id\\toutput' is one column; is the format tsv?"),
    ("rows.tsv", b"id,output\na,1", "the header 'id,output' is one column; is the format csv?"),
    ("rows.tsv", b"id;output\na;1", "the header 'id;output' is one column; is the format csv?"),
    ("rows.csv", b'"output"x\n1', "the header is not CSV"),
    ("rows.csv", b'"output\n1', "the header is not CSV: a quote that opens here is never closed"),
    ("rows.parquet", b"not parquet", "is not Parquet"),
    (
        "rows.xlsx",
        b"",
        "'.xlsx' tells no format; say which it is, one of jsonl, json, csv, tsv, parquet",
    ),
]


@pytest.mark.parametrize(("name", "content", "message"), UNREADABLE)
def test_what_cannot_be_read_at_all_stops_before_a_run_begins(tmp_path, name, content, message):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        evaluate(tmp_path / name, [JsonValidity()], out=tmp_path / "run")
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="needs an environment without pyarrow")
def test_parquet_without_its_library_says_what_to_install(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        MissingDependencyError, match=r"pip install 'llmeval-integrations\[parquet\]'"
    ):
        evaluate(tmp_path / "rows.parquet", [JsonValidity()])


def test_a_directory_is_no_data(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        evaluate(tmp_path, [JsonValidity()])


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ({"output": "1"}, "got a dict; put it in a list"),
        (None, "got a NoneType"),
        (b"{}", "got a bytes"),
        (7, "got a int"),
    ],
)
def test_what_holds_no_samples_is_refused(samples, message):
    with pytest.raises(InputError, match=message):
        evaluate(samples, [JsonValidity()])


def test_a_format_is_for_files():
    with pytest.raises(InputError, match="format='csv' is for files, and the samples are a list"):
        evaluate([], [JsonValidity()], format="csv")
    with pytest.raises(InputError, match="format='xml' is not one of jsonl"):
        evaluate("-", [JsonValidity()], format="xml")


def test_an_item_that_is_no_sample_is_an_error_row():
    rows = evaluate(["{}", {"output": "{}"}, None], [JsonValidity()]).rows
    assert [row.error for row in rows] == [
        "InputError: row 1: expected a Sample or a mapping, got '{}'",
        None,
        "InputError: row 3: expected a Sample or a mapping, got None",
    ]


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["1", "2"]], columns=["output", "output"])
    with pytest.raises(InputError, match="two columns of the DataFrame share a name"):
        evaluate(frame, [JsonValidity()])


def test_an_error_in_the_callers_iterator_is_the_callers():
    def samples():
        yield {"output": "1"}
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        evaluate(samples(), [JsonValidity()])


@dataclass(frozen=True)
class Says(Evaluator):
    """What does the output say?"""

    def check(self, sample):
        return sample.output()


class Undecided:
    def __bool__(self):
        raise ValueError("both")


class Speechless(Exception):  # noqa: N818
    def __str__(self):
        raise RuntimeError


def speechless():
    raise Speechless


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda: Result(1.0, Undecided()), "ValueError: both"),
        (lambda: Result(1.0, True, metadata=[1]), "TypeError: the metadata [1] are not a mapping"),
        (speechless, "Speechless: row 2: Speechless()"),
        (lambda: 1, "TypeError: row 2: expected a Result, got 1"),
    ],
)
def test_an_evaluator_that_says_what_nobody_can_use_spoils_no_other_row(tmp_path, answer, error):
    samples = [{"output": lambda: Result(1.0, True)}, {"output": answer}]
    run = evaluate(samples, [Says()], out=tmp_path / "run")
    first, second = run.rows
    assert (first.passed, first.error) == (True, None)
    assert second.error == error
    assert run.summary["evaluators"]["says"]["errors"] == 1


@pytest.mark.parametrize(
    ("result", "row"),
    [
        (Result(1.0, True, metadata=None), (1.0, True, {}, False)),
        (Result(1.0, 1, metadata=OrderedDict(a=1)), (1.0, True, {"a": 1}, False)),
        (Result(None, False), (None, None, {}, True)),
        (Result(None, True, answered=True), (None, True, {}, False)),
        (Result.unscored("nobody knows"), (None, None, {}, True)),
    ],
)
def test_a_result_is_kept_as_it_was_meant(tmp_path, result, row):
    run = evaluate([{"output": lambda: result}], [Says()], out=tmp_path / "run")
    [found] = run.rows
    assert (found.score, found.passed, found.metadata, found.unscored) == row
    assert run.summary["evaluators"]["says"]["pass_rate"] == found.passed


def test_a_dataset_of_pyarrow_is_no_table():
    dataset = pytest.importorskip("pyarrow.dataset")
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="expected a path, an iterable of samples or a DataFrame"):
        evaluate(dataset.dataset(pa.table({"output": ["1"]})), [JsonValidity()])


def unreadable(kind):
    """Give a column of pyarrow whose second cell has no form in Python."""
    pa = pytest.importorskip("pyarrow")
    if kind == "text":
        ends = b"".join(end.to_bytes(4, "little") for end in (0, 2, 3))
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"{}\xff")]
        return pa.Array.from_buffers(pa.string(), 2, buffers)
    cells = {
        "time": (pa.int64(), 10**18, pa.timestamp("ms")),
        "date": (pa.int32(), 10**7, pa.date32()),
        "zone": (pa.int64(), 1, pa.timestamp("ms", "Nowhere/Land")),
    }
    stored, cell, kind = cells[kind]
    return pa.array([None, cell], stored).cast(kind)


@pytest.mark.parametrize("form", ["table", "parquet"])
@pytest.mark.parametrize("kind", ["time", "date", "zone", "text"])
def test_a_cell_that_python_has_no_form_for_is_an_error_where_it_is_looked_at(tmp_path, kind, form):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"id": ["a", "b"], "output": ["{}", "1"], "odd": unreadable(kind)})
    stands_for = table["odd"].type
    if form == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, tmp_path / "data.parquet")
        table = tmp_path / "data.parquet"
    evaluators = {"valid": JsonValidity(), "odd": ExactMatch()}
    run = evaluate(table, evaluators, columns={"odd.reference": "odd"})
    assert [(row.id, row.score) for row in run.rows[::2]] == [("a", 1), ("b", 1)]
    assert [row.id for row in run.rows[1::2]] == ["a", "b"]
    said = f"InputError: row 2: column 'odd': {stands_for} that cannot be read: "
    assert run.rows[3].error.startswith(said)


def test_an_id_that_cannot_be_read_is_none_also_where_the_run_is_gone_on_with(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"id": unreadable("text"), "output": ["{}", "1"]})
    for options in ({}, {"resume": True}, {"resume": True, "retry_errors": True}):
        run = evaluate(table, [JsonValidity()], out=tmp_path, **options)
        first, second = run.rows
        assert (first.id, first.score, second.id) == ("{}", 1, "row 2")
        assert second.error.startswith("InputError: row 2: column 'id': string that cannot be read")
