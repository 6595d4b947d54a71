"""A table's results as further columns, whatever kind of table it is."""

import json
import warnings

import pytest
from framework_cases import RESULTS, Fixed, judge

from llmeval_integrations import (
    InputError,
    InvalidOptionError,
    JsonEquality,
    JsonSchema,
    JsonValidity,
    Result,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs.table_evaluation import RowErrorWarning, TableEvaluation

ROWS = [{"output": "[1]", "gold": "[1.0]"}, {"output": "[1,", "gold": "[1]"}]


class Second(Evaluator):
    """Cannot look at the second of two samples."""

    def __init__(self, words="two"):
        self.words = words

    def check(self, sample):
        if sample.output == "2":
            raise ZeroDivisionError(self.words)
        return Result(1, True)


def columns(rows, evaluators, **options):
    present = list(dict.fromkeys(key for row in rows for key in row))
    return TableEvaluation(present, evaluators, **options).columns(rows)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("yes", [1.0, True, None, None, None]),
        ("no", [0.0, False, None, "because", None]),
        ("number", [0.25, False, "far_off", "because", None]),
        ("whole", [3.0, True, None, "three", None]),
        ("unscored", [None, None, "torn", "cannot tell", None]),
    ],
)
def test_a_result_is_five_cells(kind, cells):
    names = ["fixed", "fixed_passed", "fixed_label", "fixed_reason", "fixed_error"]
    made = columns([{"output": "1"}], [Fixed(RESULTS[kind])])
    assert repr(made) == repr({name: [cell] for name, cell in zip(names, cells)})


def test_metadata_are_json_where_they_are_asked_for():
    made = columns([{"output": "1"}], [Fixed(RESULTS["number"])], metadata=True)
    assert made["fixed_metadata"] == ['{"detail":[1,"é"]}']
    assert columns([{"output": "1"}], [Fixed(RESULTS["yes"])], metadata=True)["fixed_metadata"] == [None]  # fmt: skip


def test_no_rows_make_empty_columns():
    made = TableEvaluation(["output"], [JsonValidity()]).columns([])
    assert list(made.values()) == [[]] * 5


def test_errors_stand_in_a_column_and_are_told_with_their_number():
    with pytest.warns(RowErrorWarning) as told:
        made = columns([{"output": "1"}, {"output": "2"}], [Second(), JsonValidity()])
    assert made["second"] == [1.0, None]
    assert made["second_reason"] == [None, None]
    assert made["second_error"] == [None, "ZeroDivisionError: row 2: two"]
    assert made["json_validity"] == [1.0, 1.0]
    assert [str(one.message) for one in told] == [
        "second: 1 of 2 rows were not evaluated; the first: ZeroDivisionError: row 2: two"
    ]


def test_where_nothing_went_wrong_nothing_is_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        columns(ROWS, [Fixed(RESULTS["unscored"]), JsonValidity()])


def test_fields_name_the_columns_of_all_evaluators_or_of_one():
    rows = [{"answer": "[1]", "gold": "[1]", "schema": '{"type": "object"}'}]
    fields = {"output": "answer", "reference": "gold", "json_schema.reference": "schema"}
    evaluation = TableEvaluation(list(rows[0]), [JsonEquality(), JsonSchema()], columns=fields)
    assert evaluation.read == ["answer", "gold", "schema"]
    made = evaluation.columns(rows)
    assert (made["json_equality"], made["json_schema"]) == ([1.0], [0.0])


def test_a_mapping_names_the_columns():
    made = columns(ROWS, {"json": JsonValidity(), "strict": JsonValidity("strict")})
    assert list(made)[::5] == ["json", "strict"]


def test_columns_that_nobody_reads_are_left_out():
    assert TableEvaluation(["output", "image", "input"], [JsonValidity()]).read == ["output", "input"]  # fmt: skip


def test_judges_ask_and_say_why_they_are_unscored():
    made = columns([{"output": "1"}], [judge("neither")])
    assert (made["safety"], made["safety_label"]) == ([None], ["unreadable"])
    assert made["safety_reason"][0]


@pytest.mark.parametrize(
    ("present", "evaluators", "options", "message"),
    [
        (["answer"], [JsonValidity()], {}, r"json_validity: the output is column 'output', and there are only \['answer'\]; name another with columns="),
        (["output"], [JsonEquality()], {}, "json_equality: the reference is column 'reference'"),
        (["output"], [JsonValidity()], {"input": "question"}, "the input is column 'question'"),
        (["output"], [JsonValidity()], {"question": "output"}, "no field is called 'question'"),
        (["json_validity"], [JsonValidity()], {"output": "json_validity"}, "is read and would be overwritten"),
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_named(present, evaluators, options, message):
    with pytest.raises(InputError, match=message):
        TableEvaluation(present, evaluators, columns=options)


@pytest.mark.parametrize("evaluators", [[], [JsonValidity], JsonValidity, None])
def test_what_is_no_evaluator_is_refused(evaluators):
    with pytest.raises(InvalidOptionError):
        TableEvaluation(["output"], evaluators)


HALF = "\ud800"


def test_half_a_surrogate_pair_is_written_out():
    odd = Result(0.5, False, HALF, f"{HALF} é", {"a": [HALF, "x" * 300]})
    made = columns([{"output": "1"}], [Fixed(odd)], metadata=True)
    assert (made["fixed_label"], made["fixed_reason"]) == ([r"\ud800"], [r"\ud800 é"])
    assert json.loads(made["fixed_metadata"][0]) == odd.metadata
    made["fixed_metadata"][0].encode()
    with pytest.warns(RowErrorWarning):
        made = columns([{"output": "2"}], [Second(HALF)])
    assert made["second_error"] == [r"ZeroDivisionError: row 1: \ud800"]


def test_two_columns_of_one_name_are_refused_before_anything_is_evaluated():
    fixed = Fixed(RESULTS["yes"])
    with pytest.raises(InputError, match="two new columns would be called 'x_label'; give one"):
        TableEvaluation(["output"], {"x": fixed, "x_label": fixed})
    evaluators = {"x": fixed, "x_metadata": fixed}
    assert "x_metadata" in TableEvaluation(["output"], evaluators).kinds
    with pytest.raises(InputError, match="'x_metadata'"):
        TableEvaluation(["output"], evaluators, metadata=True)


def test_an_option_that_there_is_not_is_named():
    with pytest.raises(
        InvalidOptionError, match="no option is called 'metdata'; did you mean 'metadata'"
    ):
        TableEvaluation(["output"], [JsonValidity()], metdata=True)


def test_a_column_whose_name_is_no_text_has_to_be_renamed():
    with pytest.raises(InputError, match="the name of column 0 is not a text; rename it"):
        TableEvaluation([0, 1], [JsonValidity()], columns={"output": 0})
    with pytest.raises(InputError, match="is not a field and a column's name"):
        TableEvaluation([0, 1], [JsonValidity()], columns={"output": 2})
