"""Data of every format give the same rows; what cannot be read is an error row, or is refused."""

import json
import re
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from itertools import pairwise

import pytest
from row_forms import of_pyarrow

from llmeval_integrations import Evaluator, Result, evaluate
from llmeval_integrations.runs.data.source import open_source, parse_records

parquet = pytest.importorskip("pyarrow.parquet")

ROWS = [
    {"id": "a", "output": '{"a": 1}', "reference": "é"},
    {"id": "b", "output": "line\nbreak", "reference": '"quoted", with a comma'},
    {"id": "c", "output": "", "reference": "x"},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
DEEP = "[" * 100_000 + "]" * 100_000
PARQUET = BytesIO()
parquet.write_table(of_pyarrow(ROWS), PARQUET)


def write_csv(rows, delimiter):
    quoted = (['"' + cell.replace('"', '""') + '"' for cell in row.values()] for row in rows)
    return "\n".join(delimiter.join(row) for row in [list(rows[0]), *quoted]) + "\n"


def records(path, text, **options):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(parse_records(open_source(path, **options).records))


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
        ("rows.parquet", PARQUET.getvalue()),
    ],
)
def test_every_format_gives_the_same_rows(tmp_path, name, text):
    assert records(tmp_path / name, text) == [*enumerate(ROWS, 1)]


def test_standard_input_may_be_parquet(monkeypatch):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(PARQUET.getvalue())))
    assert list(open_source("-", "parquet").records) == [*enumerate(ROWS, 1)]


@pytest.mark.parametrize(
    ("form", "errors"),
    [
        ("{}", []),
        ("[{}]", []),
        ("[ \n{} , 3\n]", ["got 3"]),
        ('[{}, {{"id": 1, "id": 2}}]', ["the name 'id' occurs twice"]),
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
        (f'{{"output": {DEEP}}}', "not JSON that can be read: maximum recursion"),
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
        ("a;b\n1;2\n", [{"a": "1", "b": "2"}]),
        ("a\n" + "x" * 200_000, [{"a": "x" * 200_000}]),
    ],
)
def test_rows_of_csv(tmp_path, text, rows):
    found = [row for _, row in records(tmp_path / "rows.csv", text)]
    for row, expected in zip(found, rows, strict=True):
        assert expected in str(row) if isinstance(expected, str) else row == expected


def test_arrays_in_cells_are_lists_maps_are_objects_and_missing_cells_of_pandas_are_null():
    numpy, pandas, pyarrow = map(pytest.importorskip, ("numpy", "pandas", "pyarrow"))
    rows = [{"output": numpy.array([1, 2]), "reference": [numpy.float32(1), 2]}] * 2
    maps = pyarrow.array([[("a", 1)]] * 2, pyarrow.map_("string", "int64"))
    table = pyarrow.table({"output": maps, "reference": ['{"a": 1}'] * 2})
    for data in (rows, pandas.DataFrame(rows), table):
        assert [row.passed for row in evaluate(data, "json_match").rows] == [True, True]
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


MEMORY = """
import resource, sys
from llmeval_integrations import evaluate
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
evaluate(sys.argv[1], "exact_match", out="small", limit=2_000)
small = peak()
evaluate(sys.argv[1], "exact_match", out="large")
print(peak() - small)
"""
LONG = {"output": "x" * 1_000, "reference": "y"}
PLAIN = {"compression": None, "use_dictionary": False}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("rows.jsonl", lambda at: at.write_text((json.dumps(LONG) + "\n") * 200_000)),
        ("rows.csv", lambda at: at.write_text(write_csv([LONG] * 200_000, ","))),
        ("rows.parquet", lambda at: parquet.write_table(of_pyarrow([LONG] * 200_000), at, **PLAIN)),
    ],
)
def test_memory_does_not_grow_with_the_number_of_rows(tmp_path, name, write):
    write(tmp_path / name)
    command = [sys.executable, "-c", MEMORY, name]
    grown = subprocess.run(command, stdout=-1, cwd=tmp_path, check=True)
    assert int(grown.stdout) < 60_000  # kB, of a file of 200 MB
