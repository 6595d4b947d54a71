"""Rows survive the way to disk and back, whatever is in them."""

import json
import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import Evaluator, InputError, Result, compare
from llmeval_integrations.runs import Row, evaluate
from llmeval_integrations.runs.rows import read_row, write_rows


def row_with(metadata, id=1, reason="why"):
    return Row(id, "name", 0.5, False, "label", reason, metadata, False, None)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4), JSON_VALUES, st.text() | st.none())
def test_rows_of_json_values_come_back_equal(metadata, id, reason):
    row = row_with(metadata, id, reason)
    written = write_rows([row, row])
    assert written.count(b"\n") == 2
    assert [read_row(line) for line in written.splitlines()] == [row, row]


@given(st.text(st.characters(), min_size=1))  # lone surrogates among them
def test_text_comes_back_to_the_letter(text):
    row = row_with({text: text}, text, text)
    assert read_row(write_rows([row])) == row


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no")


class Dumps:
    """Is dumped as a model of Pydantic is."""

    def __init__(self, dumped=None):
        self.dumped = dumped

    def model_dump(self, *, mode):
        return self if self.dumped is None else self.dumped


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


ODD = [
    ({"x": {1, 2}}, [1, 2]),
    ({"x": 10**400}, 10**400),
    ({"x": Decimal("1.5")}, 1.5),
    ({"x": Decimal("1E+400")}, Decimal("1E+400")),
    ({"x": complex(1, 2)}, "(1+2j)"),
    ({"x": int}, "<class 'int'>"),
    ({"x": math.nan}, None),
    ({"x": "\ud800", "y": complex(1, 2)}, "\ud800"),
    ({"x": {"y": "\ud800", "z": complex(1, 2)}}, {"y": "\ud800", "z": "(1+2j)"}),
    ({"x": 10**5000}, "1" + "0" * 5000),
    ({"x": [10**5000, 1, {"y": "\ud800"}]}, ["1" + "0" * 5000, 1, {"y": "\ud800"}]),
    ({"x": Fraction(1, 4)}, 0.25),
    ({"x": Fraction(10**400)}, "Fraction("),
    ({"x": [math.nan, "\ud800"]}, ["nan", "\ud800"]),
    ({"x": Decimal("1E+400"), "y": "\ud800"}, Decimal("1E+400")),
    ({"x": [{"y": (Decimal("1E+400"), "\ud800")}]}, [{"y": [Decimal("1E+400"), "\ud800"]}]),
    ({"x": date(2024, 1, 2), "y": "\ud800"}, "2024-01-02"),
    ({"x": {"\ud800"}}, ["\ud800"]),
    ({"x": Unspeakable()}, "<Unspeakable"),
    ({"x": [Dumps({"y": Decimal("1.5")})]}, [{"y": 1.5}]),
    ({"x": Dumps({"y": math.nan, "z": "\ud800"})}, {"y": "nan", "z": "\ud800"}),
    ({"x": Dumps({"y": 10**5000})}, {"y": "1" + "0" * 5000}),
    ({"x": Dumps()}, "<"),
]


@pytest.mark.parametrize(
    ("metadata", "expected"), ODD, ids=[str(number) for number in range(len(ODD))]
)
def test_what_json_cannot_hold_is_described_and_spoils_nothing_else(metadata, expected):
    odd, plain = row_with(metadata), row_with({"plain": 1})
    first, second = map(read_row, write_rows([odd, plain]).splitlines())
    assert second == plain
    assert (first.id, first.score, first.reason) == (1, 0.5, "why")
    found = first.metadata["x"]
    if isinstance(expected, str):
        assert found.startswith(expected)
    else:
        assert found == expected


@pytest.mark.parametrize("levels", [300, 900, 100_000])
def test_a_value_nested_without_end_spoils_nothing_else(levels):
    odd, plain = row_with({"x": nested(levels), "y": 1}), row_with({"plain": 1})
    first, second = map(read_row, write_rows([odd, plain]).splitlines())
    assert (second, first.reason, first.metadata["y"]) == (plain, "why", 1)


@dataclass(frozen=True)
class Quotes(Evaluator):
    """What was the output?"""

    def check(self, sample):
        return Result(1, True, None, str(sample.output)[:50], {"output": sample.output})


def test_a_file_of_odd_rows_is_json_lines_that_any_parser_reads(tmp_path):
    outputs = ["\ud800", {1: 2}, object(), b"bytes", "\u2028\x85\x0b", "\x00"]
    run = evaluate([{"output": output} for output in outputs], [Quotes()], out=tmp_path)
    lines = (tmp_path / "results.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line)["score"] for line in lines] == [1] * 6
    assert [row.metadata["output"] for row in run.rows][0::4] == ["\ud800", "\u2028\x85\x0b"]


@pytest.mark.parametrize("kind", ["int64", "uint64", "int8", "float32", "float64"])
def test_numbers_of_numpy_are_numbers_of_the_same_kind(kind, tmp_path):
    one = getattr(pytest.importorskip("numpy"), kind)(1)
    row = read_row(write_rows([row_with({"x": one}, one)]))
    for found in (row.id, row.metadata["x"]):
        assert (found, type(found)) == (1, int if "int" in kind else float)


def test_large_integers_of_numpy_stay_apart(tmp_path):
    numpy = pytest.importorskip("numpy")
    ids = [2**53 + number for number in range(4)]
    rows = [{"id": numpy.int64(each), "output": "1"} for each in ids]
    for name in "ab":
        evaluate(rows, [Quotes()], out=tmp_path / name)
    evaluate(iter(rows), [Quotes()], out=tmp_path / "c")
    assert [row.id for row in evaluate(iter(rows), [Quotes()], out=tmp_path / "c", resume=True).rows] == ids  # fmt: skip
    assert compare(tmp_path / "a", tmp_path / "b").evaluators["quotes"].joined == 4
    assert not any("have the id of another" in each for each in compare(tmp_path / "a", tmp_path / "b").warnings)  # fmt: skip
    with pytest.raises(InputError, match="there is a sample 9007199254740992 where there now is"):
        evaluate(reversed(rows), [Quotes()], out=tmp_path / "c", resume=True)
