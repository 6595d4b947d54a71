"""A run gives a row for every sample and evaluator, in order, whatever goes wrong."""

import json
from dataclasses import dataclass
from enum import Enum

import pytest

from llmeval_integrations import Evaluator, JsonMatch, LengthPenalty, Result
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs import evaluate, evaluate_batch, read_run
from llmeval_integrations.runs.rows import Row

pyarrow = pytest.importorskip("pyarrow")


@dataclass(frozen=True)
class Says(Evaluator):
    """Does what the output says?"""

    def check(self, sample):
        return sample.output


def test_the_directory_holds_rows_sample_by_sample_and_the_summary(tmp_path):
    outputs = ["{", *["{}"] * 499]
    samples = [{"id": n, "output": each, "reference": "{}"} for n, each in enumerate(outputs)]
    names = ["json_validity", "json_match"]
    run = evaluate(samples, names, out=tmp_path / "runs" / "first")
    assert [(row.id, row.evaluator) for row in run.rows] == [
        (number, name) for number in range(500) for name in names
    ]
    lines = (run.out / "results.jsonl").read_text().splitlines()
    assert list(json.loads(lines[0])) == [
        "id", "evaluator", "score", "passed", "label", "reason", "metadata", "unscored", "error",
    ]  # fmt: skip
    assert json.loads(lines[0])["label"] == "truncated"
    assert json.loads((run.out / "summary.json").read_text()) == run.summary
    assert len(run.rows) == len(lines) == len(list(run.rows)) == 1_000
    assert list(run.rows) == evaluate(samples, names).rows


class Colour(str, Enum):
    RED = "red"


def test_figures_and_texts_become_pythons_and_what_is_no_result_is_an_error_row(tmp_path):
    numpy = pytest.importorskip("numpy")
    scores = [numpy.float32(0.5), numpy.int64(2), numpy.True_]
    results = map(Result, scores, [numpy.True_] * 3, [Colour.RED, 5, None], [Colour.RED, 5, None])
    odd = [Result(float("nan")), Result(1e200), Result("high"), "high"]
    run = evaluate([{"output": each} for each in (*results, *odd)], Says(), out=tmp_path)
    assert [row.error for row in run.rows][3:] == [
        "ValueError: the score nan is not a finite number",
        "ValueError: the score 1e+200 is not a finite number",
        "ValueError: could not convert string to float: 'high'",
        "TypeError: expected a Result, got 'high'",
    ]
    assert [(row.score, row.passed, row.label, row.reason) for row in run.rows][:3] == [
        (0.5, True, "red", "red"),
        (2, True, "5", "5"),
        (1, True, None, None),
    ]


@pytest.mark.parametrize(
    ("evaluators", "names"),
    [
        (["json_validity", JsonMatch()], ["json_validity", "json_match"]),
        ([LengthPenalty()] * 3, ["length_penalty", "length_penalty_2", "length_penalty_3"]),
        ({"short": LengthPenalty(), "long": LengthPenalty(5)}, ["short", "long"]),
        (JsonMatch(), ["json_match"]),
        ("json_match", ["json_match"]),
        ({"mine": "json_match"}, ["mine"]),
    ],
)
def test_every_evaluator_has_a_name_of_its_own(evaluators, names):
    run = evaluate([{"output": "1", "reference": "1"}], evaluators)
    assert list(run.summary["evaluators"]) == names == [row.evaluator for row in run.rows]


def test_the_worst_rows_come_first(tmp_path):
    values = ((1, 2), (1, 3), (0, 3))
    rows = [{"id": n, "output": {"a": n, "b": m}, "reference": {"a": 1, "b": 2}} for n, m in values]
    rows += [{"id": 9, "output": "{"}, {"id": 8, "reference": "1"}]
    names = ["json_fields", "json_edit_distance"]
    run = evaluate(rows, names)
    assert [row.id for row in run.worst(evaluator="json_fields")] == [9, 8, 0, 1]
    assert [row.id for row in run.worst(3, "json_edit_distance")] == [9, 8, 0]
    assert len(run.worst()) == 8
    evaluate(rows, names, out=tmp_path)
    assert read_run(tmp_path).worst() == run.worst()


def test_a_run_is_a_dataframe_of_pandas():
    pytest.importorskip("pandas")
    rows = [{"id": "a", "output": "1", "group": "g"}, {"id": "b", "output": "{"}]
    frame = evaluate(rows, ["json_validity", "json_object"]).to_pandas()
    assert list(frame.columns) == list(Row.__struct_fields__)
    wide = frame.pivot(index="id", columns="evaluator", values="score")
    assert wide.to_dict("list") == {"json_validity": [1.0, 0.0], "json_object": [0.0, 0.0]}
    assert list(frame["group"][:2]) == ["g", "g"]


@pytest.mark.parametrize("name", ["samples.jsonl", "manifest.json"])
def test_files_of_somebody_else_are_not_overwritten_unless_asked(tmp_path, name):
    (tmp_path / name).write_text("precious")
    with pytest.raises(InputError, match=f"already holds a {name}; use resume"):
        evaluate([{"output": "{"}], "json_validity", out=tmp_path)
    left = {file.name: file.read_text() for file in tmp_path.iterdir() if file.name != ".lock"}
    assert left == {name: "precious"}
    evaluate([{"output": "{"}], "json_validity", out=tmp_path, overwrite=True)


def test_progress_is_told_with_the_share_that_is_done(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": "1"}\n' * 400)
    rows = [{"output": "1"}] * 400
    for data, last in ((path, (400, 1.0)), (rows, (400, 1.0)), (iter(rows[:1]), (1, None))):
        told = []
        evaluate(data, "json_validity", on_progress=lambda *now, told=told: told.append(now))
        assert told[-1] == last
        assert last[1] is None or (told == sorted(told) and 0 < told[0][1] < 1)


# --- a table of Arrow in, a table of rows out -------------------------------------------------------

ROWS = [
    {"id": "a", "output": "[1]", "reference": "[1.0]", "group": None},
    {"id": "b", "output": "[1,", "reference": "[1]"},
    {"id": "c", "output": "1", "reference": None},
    {"id": None, "output": "\u2026", "reference": "2", "group": "g"},
]
EVALUATORS = ["json_validity", "json_equality"]
TABLE = pyarrow.Table.from_pylist(ROWS)


@pytest.mark.parametrize("metadata", [False, True])
def test_the_rows_are_those_of_a_run(metadata):
    found = evaluate_batch(TABLE, EVALUATORS, metadata=metadata)
    names = ["id", "group", "evaluator", "score", "passed", "label", "reason", "unscored", "error"]
    assert found.column_names == names + ["metadata"] * metadata
    rows = list(evaluate(TABLE, EVALUATORS).rows)
    rows[6].id = rows[7].id = "4"  # an id is a text there
    for row, cells in zip(rows, found.to_pylist(), strict=True):
        assert [getattr(row, name) for name in names] == [cells[name] for name in names]
    empty = evaluate_batch(TABLE.slice(0, 0), EVALUATORS, metadata=metadata)
    assert empty.schema == found.schema  # the types depend on no row
    assert str(found.schema.field("score").type) == "double"
