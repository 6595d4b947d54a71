"""Every kind of input becomes the same rows, and a bad row spoils no other."""

import csv
import io
import json
import os
import sys
import tempfile
import tracemalloc

import pytest
from row_forms import of_pandas, of_polars, of_pyarrow

from llmeval_integrations import (
    ExactMatch,
    InputError,
    JsonEquality,
    JsonFields,
    JsonMatch,
    JsonValidity,
    LengthPenalty,
    Sample,
)
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.reading.opening import open_source

ROWS = [
    {"id": "a", "output": '{"x": 1}', "reference": '{"x": 1}'},
    {"id": "b", "output": '{"x": 2}', "reference": '{"x": 1}'},
    {"id": "ç", "output": 'line\nbreak, "quoted"', "reference": "[]"},
]


def write_jsonl(path):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), "utf-8")


def write_jsonl_as_windows_does(path):
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\r\n" for row in ROWS)
    path.write_bytes(b"\xef\xbb\xbf" + lines.encode())


def write_jsonl_with_gaps(path):
    path.write_text("\n" + "\n  \n\n".join(map(json.dumps, ROWS)), "utf-8")


def write_json(path):
    path.write_text(json.dumps(ROWS, indent=1), "utf-8")


def write_json_after_mark_and_space(path):
    path.write_bytes(b"\xef\xbb\xbf\r\n  " + json.dumps(ROWS).encode())


def write_csv(path, delimiter=",", mark=""):
    text = io.StringIO()
    writer = csv.DictWriter(text, ["id", "output", "reference"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(ROWS)
    path.write_bytes((mark + text.getvalue()).encode())


def write_csv_with_mark(path):
    write_csv(path, mark="\ufeff")


def write_csv_with_semicolons(path):
    write_csv(path, delimiter=";", mark="\ufeff")


def write_tsv(path):
    write_csv(path, delimiter="\t")


def write_parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(ROWS), path)


FILES = [
    ("rows.jsonl", write_jsonl),
    ("rows.ndjson", write_jsonl_as_windows_does),
    ("ROWS.JSONL", write_jsonl_with_gaps),
    ("rows.json", write_json),
    ("marked.json", write_json_after_mark_and_space),
    ("lines.json", write_jsonl),
    ("rows.csv", write_csv),
    ("marked.csv", write_csv_with_mark),
    ("semicolons.csv", write_csv_with_semicolons),
    ("rows.tsv", write_tsv),
    ("rows.parquet", write_parquet),
    ("no-suffix", write_jsonl),
    ("no-suffix-array", write_json),
]


def seen(run):
    return [(row.id, row.evaluator, row.score, row.error) for row in run.rows]


EXPECTED = [
    ("a", "exact_match", 1, None),
    ("b", "exact_match", 0, None),
    ("ç", "exact_match", 0, None),
]


@pytest.mark.parametrize(("name", "write"), FILES, ids=[name for name, _ in FILES])
def test_every_format_gives_the_same_rows(tmp_path, name, write):
    write(tmp_path / name)
    assert seen(evaluate(tmp_path / name, [ExactMatch()])) == EXPECTED


@pytest.mark.parametrize(
    ("write", "format"),
    [
        (write_jsonl, "jsonl"),
        (write_json, "json"),
        (write_csv, "csv"),
        (write_tsv, "tsv"),
        (write_parquet, "parquet"),
    ],
)
def test_the_format_can_be_said_where_the_name_does_not_tell(tmp_path, write, format):
    path = tmp_path / "rows.txt"
    write(path)
    assert seen(evaluate(path, [ExactMatch()], format=format)) == EXPECTED
    with pytest.raises(InputError, match=r"'\.txt' tells no format"):
        evaluate(path, [ExactMatch()])


@pytest.mark.parametrize(
    ("write", "format"),
    [(write_jsonl, None), (write_json, None), (write_csv, "csv"), (write_parquet, "parquet")],
)
def test_standard_input_is_a_file_too(tmp_path, monkeypatch, write, format):
    write(tmp_path / "rows")
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "rows").read_bytes()))
    )
    assert seen(evaluate("-", [ExactMatch()], format=format)) == EXPECTED


def as_pandas():
    return pytest.importorskip("pandas").DataFrame(ROWS)


def as_polars():
    return pytest.importorskip("polars").DataFrame(ROWS)


def as_arrow():
    return pytest.importorskip("pyarrow").Table.from_pylist(ROWS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ROWS,
        lambda: iter(ROWS),
        lambda: (row for row in ROWS),
        lambda: [Sample(**row) for row in ROWS],
        as_pandas,
        as_polars,
        as_arrow,
    ],
    ids=["list", "iterator", "generator", "samples", "pandas", "polars", "pyarrow"],
)
def test_python_objects_give_the_same_rows(make):
    assert seen(evaluate(make(), [ExactMatch()])) == EXPECTED


def test_rows_without_an_id_are_called_by_their_number(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": "1"}\n\n{"output": "2"}\n')
    assert [row.id for row in evaluate(path, [JsonValidity()]).rows] == [1, 2]
    path = tmp_path / "rows.csv"
    path.write_text('output\n"1\n"\n2\n')
    assert [row.id for row in evaluate(path, [JsonValidity()]).rows] == [1, 2]
    samples = [{"output": "1"}, Sample("2"), Sample("3", id="c")]
    assert [row.id for row in evaluate(samples, [JsonValidity()]).rows] == ["row 1", "row 2", "c"]


ODD_VALUES = [
    (
        '{"output": 123456789012345678901234567890, "reference": 123456789012345678901234567891}',
        0.0,
    ),
    (
        '{"output": 123456789012345678901234567890, "reference": 123456789012345678901234567890}',
        1.0,
    ),
    ('{"output": 1e400, "reference": 1}', 0.0),
    ('{"output": ' + "9" * 308 + ', "reference": ' + "9" * 308 + "}", 1.0),
    ('{"output": ' + "9" * 5000 + ', "reference": {}}', 0.0),
    ('{"output": "\\ud800", "reference": {}}', 0.0),
    ('{"output": NaN, "reference": {}}', 0.0),
    ('{"output": "null", "reference": "null"}', 1.0),
]


@pytest.mark.parametrize(("line", "score"), ODD_VALUES)
def test_values_arrive_exactly_as_they_stand_in_the_line(tmp_path, line, score):
    path = tmp_path / "rows.jsonl"
    path.write_text(line)
    [row] = evaluate(path, [JsonMatch()]).rows
    assert (row.score, row.error) == (score, None)


def test_a_null_output_is_the_empty_text_and_no_json(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": null, "reference": "null"}')
    for samples in (path, [Sample(None, "null")]):
        run = evaluate(samples, [JsonValidity(), JsonMatch()])
        assert [(row.score, row.label) for row in run.rows] == [(0, "empty")] * 2


@pytest.mark.parametrize("form", [list, iter, of_pandas, of_polars, of_pyarrow])
def test_a_null_reference_is_none_in_whatever_form_it_comes(form):
    rows = [
        {"output": '{"a": 1}', "reference": None},
        {"output": "null", "reference": "null"},
    ]
    run = evaluate(form(rows), [JsonValidity(), JsonFields()])
    valid, fields, *others = run.rows
    assert (valid.passed, fields.score) == (True, None)
    assert "column 'reference' (json_fields needs it)" in fields.error
    assert all(row.passed for row in others)


def test_a_null_reference_in_a_file_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": "null", "expected": null}')
    run = evaluate(path, [JsonMatch()], columns={"reference": "expected"})
    assert run.rows[0].error == (
        "MissingFieldError: line 1: null in column 'expected' (json_match needs it); "
        'JSON null is the text "null"'
    )


def test_columns_of_mixed_types_are_read_line_by_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": {"a": 1}}\n{"output": "text"}\n{"output": [1]}\n{"output": 2}\n')
    assert [row.passed for row in evaluate(path, [JsonValidity()]).rows] == [
        True,
        False,
        True,
        True,
    ]


def test_a_cell_of_csv_may_be_longer_than_the_module_allows_by_default(tmp_path):
    limit = csv.field_size_limit()
    path = tmp_path / "rows.csv"
    path.write_text("output\n" + json.dumps("x" * 500_000).replace('"', '"""') + "\n")
    assert evaluate(path, [JsonValidity()]).summary["evaluators"]["json_validity"]["mean"] == 1
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("header", "sign", "names"),
    [
        ("id;output", ";", ["id", "output"]),
        ("\n\nid;output", ";", ["id", "output"]),
        ('"my; id";"the, output"', ";", ["my; id", "the, output"]),
        ("id,output;text", ",", ["id", "output;text"]),
        ('"id;1",output', ",", ["id;1", "output"]),
        ("id,output", ",", ["id", "output"]),
    ],
)
def test_semicolons_separate_where_the_header_has_no_comma(tmp_path, header, sign, names):
    path = tmp_path / "rows.csv"
    path.write_text(f"{header}\na{sign}1\n")
    [(_, row)] = open_source(path).records
    assert row == dict(zip(names, ["a", "1"]))


def test_columns_without_a_name_are_ignored_with_their_cells(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"id,,output, ,,\na,\xff,1,,,\nb,x,2\n")
    assert list(open_source(path).records) == [
        ((1, 2), {"id": "a", "output": "1"}),
        ((2, 3), {"id": "b", "output": "2"}),
    ]


def test_a_long_cell_of_many_lines_is_one_cell(tmp_path):
    path = tmp_path / "rows.csv"
    cell = "[\n" + "1,\n" * 100_000 + "1]"
    path.write_text(f'output,id\n"{cell}",a\n1,b\n')
    assert list(open_source(path).records) == [
        ((1, 2), {"output": cell, "id": "a"}),
        ((2, 100_004), {"output": "1", "id": "b"}),
    ]


def test_arrays_in_the_cells_of_pandas_are_lists():
    pd = pytest.importorskip("pandas")
    np = pytest.importorskip("numpy")
    frame = pd.DataFrame(
        {
            "output": [np.array([1, 2]), [np.array([[1.5], [2.0]])], {"a": np.array(["x"])}],
            "reference": ["[1, 2]", "[[[1.5], [2]]]", '{"a": ["x"]}'],
        }
    )
    assert [row.score for row in evaluate(frame, [JsonEquality()]).rows] == [True, True, True]


def test_arrays_in_rows_are_lists():
    np = pytest.importorskip("numpy")
    rows = [
        {"output": np.array([1, 2]), "reference": "[1, 2]"},
        {"output": {"a": np.array(["x"])}, "reference": '{"a": ["x"]}'},
        {"output": "[1]", "reference": [np.int64(1)]},
    ]
    assert [row.score for row in evaluate(rows, [JsonEquality()]).rows] == [True, True, True]


class Image:
    """An array of which nobody wants to have a list."""

    lists = 0

    def tolist(self):
        Image.lists += 1


@pytest.mark.parametrize("form", ["rows", "pandas"])
def test_arrays_that_no_evaluator_looks_at_stay_arrays(form, monkeypatch):
    monkeypatch.setattr(Image, "lists", 0)
    rows = [{"output": "1", "image": Image()}] * 3
    rows = pytest.importorskip("pandas").DataFrame(rows) if form == "pandas" else rows
    assert [row.score for row in evaluate(rows, [JsonValidity()]).rows] == [1, 1, 1]
    assert Image.lists == 0


def column(kind, *cells):
    """Give a column of pyarrow: maps, such in a list and a struct, texts of JSON, or tensors."""
    pa = pytest.importorskip("pyarrow")
    pairs = pa.map_(pa.string(), pa.list_(pa.int64()))
    if kind == "json":
        return pa.ExtensionArray.from_storage(pa.json_(), pa.array(cells, pa.string()))
    if kind == "tensor":
        stored = pa.array(cells, pa.list_(pa.int64(), 4))
        return pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int64(), [2, 2]), stored)
    return pa.array(cells, pairs if kind == "map" else pa.struct({"m": pa.list_(pairs)}))


def test_a_place_in_which_a_pipe_cannot_be_kept_is_named(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(InputError, match=r"standard input cannot be kept .* No such file"):
            open_source("-", "parquet")


@pytest.mark.parametrize(
    ("kind", "cell", "reference"),
    [
        ("map", [("a", [1])], '{"a": [1]}'),
        ("map", [("a", None)], '{"a": null}'),
        ("nested", {"m": [[("a", [1])], None]}, '{"m": [{"a": [1]}, null]}'),
        ("json", '{"a": [1]}', '{"a": [1]}'),
        ("json", '"[1]"', "[1]"),
        ("tensor", [0, 1, 2, 3], "[[0, 1], [2, 3]]"),
    ],
)
@pytest.mark.parametrize("form", ["table", "parquet", "pandas"])
def test_cells_of_arrow_are_what_they_stand_for(tmp_path, form, kind, cell, reference):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"output": column(kind, cell, None), "reference": [reference] * 2})
    if form == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, tmp_path / "data.parquet")
        table = tmp_path / "data.parquet"
    elif form == "pandas":
        table = table.to_pandas(types_mapper=pytest.importorskip("pandas").ArrowDtype)
    first, second = evaluate(table, [JsonEquality()]).rows
    assert (first.score, first.error) == (True, None)
    assert (second.score, second.label) == (False, "empty")


@pytest.mark.parametrize(
    ("shape", "order", "reference"),
    [
        ([4], None, "[0, 1, 2, 3]"),
        ([2, 1, 2], None, "[[[0, 1]], [[2, 3]]]"),
        ([2, 1, 2], [0, 1, 2], "[[[0, 1]], [[2, 3]]]"),
        ([2, 1, 2], [1, 2, 0], "[0, 1, 2, 3]"),
    ],
)
def test_a_tensor_is_lists_by_its_shape_where_its_axes_are_in_order(shape, order, reference):
    pa = pytest.importorskip("pyarrow")
    kind = pa.fixed_shape_tensor(pa.int64(), shape, permutation=order)
    stored = pa.array([[0, 1, 2, 3]], pa.list_(pa.int64(), 4))
    table = pa.table(
        {"output": pa.ExtensionArray.from_storage(kind, stored), "reference": [reference]}
    )
    assert evaluate(table, [JsonEquality()]).rows[0].passed is True


def test_a_text_in_a_column_of_json_is_the_text():
    pa = pytest.importorskip("pyarrow")
    table = pa.table(
        {"output": column("json", '"yes"', "no JSON"), "reference": ["yes", "no JSON"]}
    )
    assert [row.score for row in evaluate(table, [ExactMatch()]).rows] == [1, 1]


@pytest.mark.parametrize("form", ["table", "parquet"])
def test_a_table_with_a_column_twice_is_refused(tmp_path, form):
    pa = pytest.importorskip("pyarrow")
    table = pa.table([["1"], ["x"]], names=["output", "output"])
    if form == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, tmp_path / "data.parquet")
        table = tmp_path / "data.parquet"
    with pytest.raises(InputError, match=r"two columns share a name: \['output', 'output'\]"):
        evaluate(table, [JsonValidity()])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_an_empty_cell_of_a_table_is_the_empty_text_or_no_reference(kind):
    library = pytest.importorskip(kind)
    columns = {"output": ["1", None, "3"], "reference": ["1", "2", None]}
    table = library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)
    rows = list(evaluate(table, [JsonMatch()]).rows)
    assert [row.label for row in rows] == [None, "empty", None]
    assert [row.error for row in rows] == [
        None,
        None,
        "MissingFieldError: row 3: null in column 'reference' (json_match needs it); JSON null is the text \"null\"",
    ]


@pytest.mark.nightly
@pytest.mark.once
def test_memory_does_not_grow_with_the_number_of_rows(tmp_path):
    def samples(count):
        for number in range(count):
            yield {"output": "x" * (1_000 + number % 5_000), "id": f"row {number}"}

    def peak(count):
        tracemalloc.start()
        try:
            evaluate(samples(count), [LengthPenalty(0, 10)], out=tmp_path / str(count))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    small, large = peak(5_000), peak(50_000)  # both with texts of all lengths
    assert large < small + 200_000
    assert large < 5_000_000


def test_a_file_is_not_loaded_whole(tmp_path):
    path = tmp_path / "rows.jsonl"
    with path.open("w") as file:
        file.writelines(json.dumps({"output": "x" * 10_000}) + "\n" for _ in range(3_000))
    tracemalloc.start()
    evaluate(path, [LengthPenalty()], out=tmp_path / "run")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 3


def test_a_data_set_of_hugging_face_is_read_by_its_name(tmp_path):
    pytest.importorskip("datasets")
    (tmp_path / "train.jsonl").write_text('{"output": "{}"}\n{"output": "{"}\n')
    run = evaluate(f"hf://{tmp_path}/train", "json_validity")
    assert [row.passed for row in run.rows] == [True, False]
    for name, message in [("hf://train", "names no split"), (f"hf://{tmp_path}/test", "cannot be loaded")]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            evaluate(name, "json_validity")
