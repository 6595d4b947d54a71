"""Which data, and which evaluators, a run may be resumed with."""

import subprocess
import sys
from collections import OrderedDict, deque
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from math import isclose
from typing import Optional

import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler, Levenshtein
from row_forms import of_pandas, of_polars, of_pyarrow, of_samples

from llmeval_integrations import (
    Evaluator,
    InputError,
    JsonEquality,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    PythonType,
    RegexMatch,
    Result,
    evaluate,
)
from llmeval_integrations.runs.stored import read_manifest

ROWS = [{"id": f"row {number}", "output": "[1]", "reference": [1]} for number in range(5)]
OTHER = [*ROWS[:-1], {**ROWS[-1], "output": "[2]"}]


def of_dataset(rows):
    return pytest.importorskip("datasets").Dataset.from_list(rows)


def of_values(rows):
    return {row["id"]: row for row in rows}.values()


OF = [list, tuple, deque, of_values, of_samples, of_pandas, of_polars, of_pyarrow, of_dataset]


@pytest.mark.parametrize("of", OF)
def test_other_outputs_under_the_same_ids_are_other_data(of, tmp_path):
    again = {"out": tmp_path, "resume": True}
    run = evaluate(of(ROWS), [JsonMatch()], **again)
    assert evaluate(of(ROWS), [JsonMatch()], **again).summary == run.summary
    with pytest.raises(
        InputError, match=r"holds another run: data.rows_sha256 is '\w+', and was '\w+'"
    ):
        evaluate(of(OTHER), [JsonMatch()], **again)


def test_arrays_that_are_shown_alike_are_other_data(tmp_path):
    numpy = pytest.importorskip("numpy")
    numbers = [0.0] * 5_000
    then, now = (
        [{"output": "{}", "reference": numpy.array([*numbers, each, *numbers])}] for each in (0, 7)
    )
    again = {"out": tmp_path, "resume": True}
    evaluate(then, [JsonMatch()], **again)
    evaluate(then, [JsonMatch()], **again)
    with pytest.raises(InputError, match=r"holds another run: data.rows_sha256 is"):
        evaluate(now, [JsonMatch()], **again)


def test_rows_beyond_the_limit_are_not_looked_at(tmp_path):
    again = {"out": tmp_path, "resume": True, "limit": 4}
    evaluate(ROWS, [JsonMatch()], **again)
    evaluate(OTHER, [JsonMatch()], **again)


def test_of_an_iterator_the_ids_are_compared_and_it_is_not_read_twice(tmp_path):
    again = {"out": tmp_path, "resume": True}
    assert evaluate(iter(ROWS), [JsonMatch()], **again).summary["samples"] == 5
    assert "rows_sha256" not in read_manifest(tmp_path)["data"]
    assert evaluate((row for row in ROWS), [JsonMatch()], **again).summary["samples"] == 5
    for other in (ROWS[::-1], ROWS[:-1]):
        with pytest.raises(InputError, match=r"holds a run of other data: there is a sample 'row"):
            evaluate(iter(other), [JsonMatch()], **again)


PROCESS = """
from llmeval_integrations import JsonEquality, JsonValidity, evaluate

class Thing:
    pass

rows = [
    {{"output": "1", "input": {{"a set", "of", "texts"}}, "variables": {{"thing": Thing()}}}},
    {{"output": 2**70, "input": {{"texts", "half a pair \\ud800"}}, "variables": [Thing()]}},
    {{"output": 1, "input": {{"a", "b", "c", 1, 2.5, None, True, ("d", "e")}}}},
]
alike = JsonEquality(operator=lambda one, other: one == other in {{"a", "b", 1}})
evaluate([*rows, "no row"], [JsonValidity(), alike], out={out!r}, resume=True)
"""


def test_the_same_data_is_the_same_in_another_process(tmp_path):
    code = PROCESS.format(out=str(tmp_path))
    for seed in "12":
        subprocess.run(
            [sys.executable, "-c", code], check=True, env={"PYTHONHASHSEED": seed, "PATH": ""}
        )


def test_evaluators_in_another_order_are_named(tmp_path):
    named = OrderedDict(valid=JsonValidity(), match=JsonMatch())
    evaluate(ROWS, named, out=tmp_path)
    named.move_to_end("valid")
    with pytest.raises(
        InputError, match="another run: the order of evaluators is match, valid, and was valid, mat"
    ):
        evaluate(ROWS, named, out=tmp_path, resume=True)


class Bar:
    """Stands around an iterator and has a length, as a bar of progress does."""

    def __init__(self, rows):
        self.rows = iter(rows)

    def __len__(self):
        return 5

    def __contains__(self, row):
        return row in self.rows

    def __iter__(self):
        yield from self.rows


def test_what_reading_uses_up_is_read_once(tmp_path):
    again = {"out": tmp_path, "resume": True}
    assert evaluate(Bar(ROWS), [JsonMatch()], **again).summary["samples"] == 5
    assert evaluate(Bar(ROWS), [JsonMatch()], **again).summary["samples"] == 5


def schema(**properties):
    return {"schema": JsonSchema({"properties": properties})}


def compared(operator):
    return {"equal": JsonEquality(operator=operator)}


def less_than(most):
    return compared(lambda one, other: len(one) + len(other) < most)


def one_of(values):
    return compared(lambda one, other: one in values or one == other)


def within(most):
    @wraps(lambda: None)
    def compare(one, other):
        return abs(len(one) - len(other)) <= most

    return compared(compare)


@dataclass(frozen=True)
class Within:
    tolerance: float

    def __call__(self, one, other):
        return abs(len(one) - len(other)) <= self.tolerance

    def compare(self, one, other):
        return self(one, other)


class Longer(Evaluator):
    """Is the output longer? An evaluator that is no dataclass."""

    def __init__(self, least):
        self.least = least

    def check(self, sample):
        return Result(len(sample.output) >= self.least)


LONG = "an output " * 400
DIFFERENT = [
    (
        schema(path={"type": "string"}),
        schema(path={"type": "integer"}),
        "evaluators.schema.options.schema.properties.path.type is 'integer', and was 'string'",
    ),
    (
        {"path": JsonMatch()},
        {"path": JsonMatch(strict_order=False)},
        "evaluators.path.options.strict_order is False, and was True",
    ),
    (
        schema(a={"const": 1}),
        schema(a={"const": True}),
        "evaluators.schema.options.schema.properties.a.const is True, and was 1",
    ),
    (
        schema(a={"enum": ["x", "y"]}),
        schema(a={"enum": ["x", "z", "y"]}),
        (
            "evaluators.schema.options.schema.properties.a.enum[1] is 'z', and was 'y'; "
            "evaluators.schema.options.schema.properties.a.enum[2] is 'y', and was absent"
        ),
    ),
    (
        schema(a={}),
        schema(a={"const": None}),
        "evaluators.schema.options.schema.properties.a.const is None, and was absent",
    ),
    (
        schema(a={"enum": [[{"b": [[[[1]]]]}]]}),
        schema(a={"enum": [[{"b": [[[[2]]]]}]]}),
        "evaluators.schema.options.schema.properties.a.enum[0][0].b[0][0][0][0] is 2, and was 1",
    ),
    (
        schema(a={"const": 10**300 + 10**150}),
        schema(a={"const": 10**300}),
        (
            "evaluators.schema.options.schema.properties.a.const is "
            f"...{'0' * 171}, and was ...{'0' * 20}1{'0' * 150}"
        ),
    ),
    (
        compared(lambda one, other: one == other),
        compared(lambda one, other: one is other),
        "evaluators.equal.options.operator.source is '",
    ),
    (less_than(1), less_than(2), "evaluators.equal.options.operator.around is '"),
    (
        compared(partial(isclose, rel_tol=0.1)),
        compared(partial(isclose, rel_tol=0.2)),
        "evaluators.equal.options.operator.given[1].rel_tol is 0.2, and was 0.1",
    ),
    (
        {"type": PythonType(Optional[int])},  # noqa: UP045 - it has a name
        {"type": PythonType(Optional[str])},  # noqa: UP045 - it has a name
        "evaluators.type.options.expected_type is '",
    ),
    (one_of(["a"]), one_of(["b"]), "evaluators.equal.options.operator.around is '"),
    (
        compared(lambda *texts: len(texts)),
        compared(lambda texts, *_: len(texts)),
        "evaluators.equal.options.operator.source is '",
    ),
    (
        compared(Within(1).compare),
        compared(Within(2).compare),
        "evaluators.equal.options.operator.of is '",
    ),
    (
        compared(fuzz.ratio),
        compared(fuzz.partial_ratio),
        "evaluators.equal.options.operator is 'rapidfuzz.",
    ),
    (
        compared(Levenshtein.normalized_similarity),
        compared(JaroWinkler.normalized_similarity),
        "evaluators.equal.options.operator is 'rapidfuzz.",
    ),
    (
        compared(lru_cache(fuzz.ratio)),
        compared(lru_cache(isclose)),
        "evaluators.equal.options.operator is 'math.isclose', and was 'rapidfuzz.",
    ),
    (
        compared(lru_cache(lambda one, other: one == other)),
        compared(lru_cache(lambda one, other: one is other)),
        "evaluators.equal.options.operator.source is '",
    ),
    (within(1), within(2), "evaluators.equal.options.operator.around is '"),
    ({"own": Longer(1)}, {"own": Longer(9)}, "evaluators.own.attributes is '"),
    (
        {"regex_match": RegexMatch(f"{LONG}one{LONG}")},
        {"regex_match": RegexMatch(f"{LONG}other{LONG}")},
        "evaluators.regex_match.options.pattern is ...n output an output other",
    ),
]


@pytest.mark.parametrize(
    ("then", "now", "message"), DIFFERENT, ids=[str(number) for number in range(len(DIFFERENT))]
)
def test_another_option_is_refused_with_its_place_and_what_differs(tmp_path, then, now, message):
    rows = [{"output": "{}", "reference": "{}"}]
    evaluate(rows, then, out=tmp_path)
    with pytest.raises(InputError) as raised:
        evaluate(rows, now, out=tmp_path, resume=True)
    said = str(raised.value).removeprefix(f"{tmp_path} holds another run: ")
    assert said.startswith(message)
    is_now, was = said.split("; ")[0].split(" is ", 1)[1].split(", and was ")
    assert is_now != was
    evaluate(rows, then, out=tmp_path, resume=True)


def test_another_model_of_the_same_name_is_refused(tmp_path):
    pydantic = pytest.importorskip("pydantic")
    rows = [{"output": '{"a": 1}'}]
    then, now = (pydantic.create_model("Invoice", a=(kind, ...)) for kind in (int, str))
    evaluate(rows, [JsonSchema(then)], out=tmp_path)
    with pytest.raises(
        InputError, match=r"options\.schema\.schema\.properties\.a\.type is 'string', and was 'int"
    ):
        evaluate(rows, [JsonSchema(now)], out=tmp_path, resume=True)
    for given in (pydantic.TypeAdapter(then), pydantic.TypeAdapter(now)):
        with pytest.raises(InputError, match="holds another run"):
            evaluate(rows, [JsonSchema(given)], out=tmp_path, resume=True)
    assert evaluate(rows, [JsonSchema(then)], out=tmp_path, resume=True).summary["samples"] == 1
