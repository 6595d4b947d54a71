"""Which data, and which evaluators, a run may be resumed with."""

import subprocess
import sys
from collections import OrderedDict

import pytest

from llmeval_integrations import InputError, JsonMatch, JsonValidity, Sample, evaluate
from llmeval_integrations.runs.stored import read_manifest

ROWS = [{"id": f"row {number}", "output": "[1]", "reference": [1]} for number in range(5)]
OTHER = [*ROWS[:-1], {**ROWS[-1], "output": "[2]"}]


def of_pandas(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


def of_polars(rows):
    return pytest.importorskip("polars").DataFrame(rows)


def of_pyarrow(rows):
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)


def of_samples(rows):
    return [Sample(**row) for row in rows]


@pytest.mark.parametrize("of", [list, tuple, of_samples, of_pandas, of_polars, of_pyarrow])
def test_other_outputs_under_the_same_ids_are_other_data(of, tmp_path):
    again = {"out": tmp_path, "resume": True}
    run = evaluate(of(ROWS), [JsonMatch()], **again)
    assert evaluate(of(ROWS), [JsonMatch()], **again).summary == run.summary
    with pytest.raises(
        InputError, match=r"holds another run: data.rows_sha256 is '\w+', and was '\w+'"
    ):
        evaluate(of(OTHER), [JsonMatch()], **again)


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
from llmeval_integrations import JsonValidity, evaluate

class Thing:
    pass

rows = [{{"output": "1", "input": {{"a set", "of", "texts"}}, "variables": {{"thing": Thing()}}}}]
evaluate([*rows, "no row"], [JsonValidity()], out={out!r}, resume=True)
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
