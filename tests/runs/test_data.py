"""Data of every format give the same rows; what cannot be read is an error row, or is refused."""

import json
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from llmeval_integrations import (
    Evaluator,
    Result,
    Sample,
    evaluate,
)
from llmeval_integrations.runs.data.source import open_source

ROWS = [
    {"id": "a", "output": '{"a": 1}', "reference": "é"},
    {"id": "b", "output": "line\nbreak", "reference": '"quoted", with a comma'},
    {"id": "c", "output": "", "reference": "x"},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def write_csv(rows, delimiter):
    quoted = (['"' + cell.replace('"', '""') + '"' for cell in row.values()] for row in rows)
    return "\n".join(delimiter.join(row) for row in [list(rows[0]), *quoted]) + "\n"


def records(path, text, **options):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(open_source(path, **options).records)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.jsonl", LINES),
        ("rows.ndjson", "\ufeff" + LINES.replace("\n", "\r\n")),
        ("rows.json", "\n" + json.dumps(ROWS, indent=1)),
        ("rows.json", LINES.replace("\n", "\n\n")),
        ("rows", json.dumps(ROWS)),
        ("rows.csv", write_csv(ROWS, ",")),
        ("rows.csv", "\ufeff" + write_csv(ROWS, ";")),
        ("rows.tsv", write_csv(ROWS, "\t")),
    ],
)
def test_every_format_gives_the_same_rows(tmp_path, name, text):
    assert records(tmp_path / name, text) == [*enumerate(ROWS, 1)]


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow", "samples", "parquet", "iterator"])
def test_python_objects_give_the_same_rows(tmp_path, form):
    if form in ("samples", "iterator"):
        data = [Sample(**row) for row in ROWS] if form == "samples" else iter(ROWS)
    elif form == "parquet":
        pyarrow, data = pytest.importorskip("pyarrow"), tmp_path / "rows.parquet"
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(ROWS), data)
    else:
        library = pytest.importorskip(form)
        data = library.Table.from_pylist(ROWS) if form == "pyarrow" else library.DataFrame(ROWS)
    run = evaluate(data, "exact_match")
    assert [row.id for row in run.rows] == ["a", "b", "c"]
    assert [row.reason for row in run.rows] == [
        row.reason for row in evaluate(ROWS, "exact_match").rows
    ]


def test_parquet_comes_through_standard_input_too(tmp_path):
    pyarrow, path = pytest.importorskip("pyarrow"), tmp_path / "rows"
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(ROWS), path)
    command = [sys.executable, "-m", "llmeval_integrations", "run", "-", "-e", "json_validity"]
    command += ["--format", "parquet", "--json"]
    run = subprocess.run(command, input=path.read_bytes(), stdout=-1, check=True)
    assert json.loads(run.stdout)["samples"] == 3


@pytest.mark.parametrize(
    ("form", "errors"),
    [
        ("{}", []),
        ("[{}]", []),
        ('[ \n{},{{"a": 1, "a": 2}} , 3\n]', ["'a' occurs twice", "got 3"]),
    ],
)
def test_values_arrive_as_they_stand_in_the_file(tmp_path, form, errors):
    line = '{"output": [1e400, 123456789012345678901234567890, "\\ud800", NaN, 1.50]}'
    (_, row), *others = records(tmp_path / "rows.json", form.format(line))
    for (_, other), error in zip(others, errors, strict=True):
        assert error in str(other)
    huge, integer, surrogate, nan, fraction = row["output"]
    assert (str(huge), integer, surrogate) == ("1E+400", 123456789012345678901234567890, "\ud800")
    assert str(nan) == "nan"
    assert fraction == 1.5


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("{", r"not JSON: .* column 2"),
        ("[1]", r"expected a JSON object, got \[1\]"),
        ('{"output": 1, "output": 2}', "the name 'output' occurs twice"),
        (b'{"output": "\xff"}', "not JSON that can be read: .*can't decode byte 0xff"),
        (
            '{"output": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "not JSON that can be read: maximum recursion",
        ),
    ],
)
def test_a_bad_line_is_an_error_row_and_the_run_goes_on(tmp_path, line, error):
    line = line if isinstance(line, bytes) else line.encode()
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"output": "1"}\n' + line + b'\n{"output": "2"}\n')
    run = evaluate(path, ["json_validity", "json_object"])
    assert [row.id for row in run.rows] == [1, 1, 2, 2, 3, 3]
    assert [row.error is None for row in run.rows] == [True, True, False, False, True, True]
    for row in list(run.rows)[2:4]:
        assert re.match(f"InputError: {error}", row.error)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,2,3\n4,5\n", ["3 cells under a header of 2", {"a": "4", "b": "5"}]),
        (
            'a,b\n"1"x,2\n4,5\n',
            ["not CSV: the row that begins in line 2: ',' expected", {"a": "4", "b": "5"}],
        ),
        ('a,b\n"1,2\n4,5\n', ["the row that begins in line 2: unexpected end of data"]),
        (b"a,b\n\xff,2\n", ["bytes that are not UTF-8"]),
        ("a,,b\n1,2\n3,4,5\n", [{"a": "1"}, {"a": "3", "b": "5"}]),
        ('a;"b,c"\n1;2\n', [{"a": "1", "b,c": "2"}]),
        ("a\n" + "x" * 200_000, [{"a": "x" * 200_000}]),
    ],
)
def test_rows_of_csv(tmp_path, text, rows):
    found = [row for _, row in records(tmp_path / "rows.csv", text)]
    for row, expected in zip(found, rows, strict=True):
        assert expected in str(row) if isinstance(expected, str) else row == expected


@pytest.mark.parametrize("form", ["pandas", "dicts"])
def test_arrays_in_cells_are_lists(form):
    numpy = pytest.importorskip("numpy")
    rows = [{"output": numpy.array([1, 2]), "reference": [numpy.float32(1), 2]}] * 2
    data = pytest.importorskip("pandas").DataFrame(rows) if form == "pandas" else rows
    assert [row.passed for row in evaluate(data, "json_match").rows] == [True, True]


def test_missing_cells_of_pandas_are_null():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [float("nan"), 7.0], "output": [None, "[]"]})
    rows = evaluate(frame, "json_validity").rows
    assert [(row.id, row.label) for row in rows] == [(1, "empty"), (7, None)]


def test_a_data_set_of_hugging_face_is_read_by_its_name(tmp_path):
    datasets = pytest.importorskip("datasets")
    (tmp_path / "train.jsonl").write_text('{"output": "[1]"}\n{"output": "{"}\n')
    datasets.disable_progress_bars()
    run = evaluate(f"hf://{tmp_path}/train", "json_validity")
    assert [row.passed for row in run.rows] == [True, False]


def test_the_first_rows_and_rows_drawn_by_chance():
    def ids(**options):
        rows = ({"output": str(number)} for number in range(1_000))
        return [row.id for row in evaluate(rows, "json_validity", **options).rows]

    assert ids(limit=3) == [1, 2, 3]
    drawn = ids(sample=50, seed=7)
    assert drawn == sorted(drawn) == ids(sample=50, seed=7) != ids(sample=50)
    assert ids(limit=20, sample=50) == [*range(1, 21)]


def test_rows_come_while_a_slow_evaluator_is_at_work():
    class Slow(Evaluator):
        def check(self, sample):
            __import__("time").sleep(0.05)
            return Result(1.0)

    done = []
    evaluate(ROWS * 12, Slow(), on_progress=lambda count, share: done.append(count))
    assert done[0] == 8
    assert max(after - before for before, after in pairwise(done)) <= 8


@pytest.mark.nightly
@pytest.mark.once
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_memory_does_not_grow_with_the_number_of_rows(tmp_path, form):
    code = f"""
import json, resource
from llmeval_integrations import evaluate
path = {str(tmp_path)!r} + "/rows.{form}"
row = {{"output": "x" * 1000, "reference": "y"}}
if "{form}" == "parquet":
    import pyarrow as pa, pyarrow.parquet as pq
    pq.write_table(pa.Table.from_pylist([row] * 200_000), path, compression=None)
else:
    with open(path, "w") as file:
        file.write("output,reference\\n" if "{form}" == "csv" else "")
        line = "x" * 1000 + ",y\\n" if "{form}" == "csv" else json.dumps(row) + "\\n"
        file.writelines(line for _ in range(200_000))
evaluate(path, "exact_match", out={str(tmp_path / "small")!r}, limit=2_000)
small = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
evaluate(path, "exact_match", out={str(tmp_path / "large")!r})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - small)
"""
    grown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(grown.stdout) < 60_000  # kB, of a file of 200 MB
