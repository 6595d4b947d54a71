"""What the page is told of samples that did not pass."""

import io
import json

import pytest

from llmeval_integrations import (
    Evaluator,
    JsonMatch,
    JsonValidity,
    Result,
    ToolCalls,
    evaluate,
)
from llmeval_integrations.reports import html

ROW = {
    "id": "q1",
    "output": '{"total": 12}',
    "reference": '{"total": 12.5}',
    "other": '{"total": 1,}',
    "gold": '{"total": 99}',
}


def told(run):
    """Give the names of evaluators, and for each card these with texts and differences."""
    out = io.BytesIO()
    html.write([run], out)
    text = out.getvalue().decode()
    data = json.loads(
        text.partition('type="application/json" id="data">')[2].partition("</script>")[0]
    )
    names = data["evaluators"]
    return data["failing"], [
        ([names[row[0]] for row in rows], texts, [(names[each[0]], each[1]) for each in found])
        for _, _, rows, texts, found in data["samples"]
    ]


def test_an_evaluator_with_columns_of_its_own_has_a_card_with_what_it_saw(tmp_path):
    evaluators = {"old": JsonMatch(), "new": JsonMatch(), "also": JsonMatch()}
    fields = {"new.output": "other", "new.reference": "gold"}
    failing, cards = told(evaluate([ROW], evaluators, columns=fields, out=tmp_path))
    assert failing == 1
    assert cards == [
        (["old", "also"], ['{"total": 12}', '{"total": 12.5}', None], [("old", "/total"), ("also", "/total")]),
        (["new"], ['{"total": 1,}', '{"total": 99}', None], [("new", 12)]),
    ]  # fmt: skip


def test_evaluators_that_saw_the_same_share_a_card(tmp_path):
    fields = {"valid.input": "reference", "one.output": "other", "two.output": "other"}
    evaluators = {
        "old": JsonMatch(),
        "valid": JsonValidity(),
        "one": JsonMatch(),
        "two": JsonMatch(),
    }
    _, cards = told(evaluate([ROW], evaluators, columns=fields, out=tmp_path))
    assert [names for names, *_ in cards] == [["old"], ["one", "two"]]


def test_a_defect_is_looked_for_in_the_text_that_its_evaluator_saw(tmp_path):
    """Of a long text a part is shown, which begins before the defect."""
    row = {**ROW, "output": f'"{"a" * 30_000}"', "other": f'{{"{"b" * 50_000}": }}'}
    evaluators = {"old": JsonMatch(), "new": JsonMatch()}
    run = evaluate([row], evaluators, columns={"new.output": "other"}, out=tmp_path)
    (_, [old, _, _], _), (_, [new, _, _], [(_, place)]) = told(run)[1]
    assert (old[0], old[2]) == (0, 30_002)
    assert new[0] == place - 1_000 > 40_000


def test_a_run_in_memory_has_one_card_of_a_sample():
    run = evaluate([ROW], {"old": JsonMatch(), "new": JsonMatch()}, columns={"new.output": "other"})
    assert [(names, texts) for names, texts, _ in told(run)[1]] == [(["old", "new"], None)]


def test_of_a_long_message_the_part_is_shown_where_it_differs_whatever_calls_name(tmp_path):
    """The pointers are those of arguments, and lead nowhere in the message."""
    calls = [{"name": "f", "arguments": {"text": "x" * 30_000 + each, "z": 1}} for each in "ab"]
    row = {"output": [calls[0]] * 2, "reference": [calls[1]] * 2}
    [(_, [output, reference, _], _)] = told(evaluate([row], [ToolCalls()], out=tmp_path))[1]
    assert output[0] == reference[0] == output[1].index("a") + output[0] - 1_000


@pytest.mark.parametrize(
    "call", [{"name": "f", "kind": ["x"]}, {"kind": "wrong_order"}, {"kind": {}}]
)
def test_calls_of_another_form_break_no_page(call):
    class Other(Evaluator):
        def check(self, sample):
            return Result(0.0, False, None, "r", {"calls": [call]})

    out = io.BytesIO()
    html.write([evaluate([{"output": "x"}], [Other()])], out)
    assert b"other" in out.getvalue()
