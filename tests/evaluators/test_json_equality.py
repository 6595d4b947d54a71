"""The first difference, and an operator of one's own; tests/conformance has what is equal."""

import pytest

from llmeval_integrations import InvalidOptionError, JsonEquality


@pytest.mark.parametrize(
    ("list_order", "output", "reference", "reason"),
    [
        ("strict", '{"a": 1}', '{"a": 2}', "/a 1, expected 2"),
        ("strict", '{"a/b": 2}', "{}", "/a~1b extra"),
        ("strict", "[1, 2]", "[2, 1]", "/0 1, expected 2"),
        ("strict", "1", '"1"', 'the whole 1, expected "1"'),
        ("top_level_any", '{"a": [1, 2], "b": 3}', '{"a": [2, 1], "b": 4}', "/a/0 1, expected 2"),
        ("top_level_any", "[1, 2, 1]", "[2, 1]", "/2 extra"),
        ("top_level_any", "[[1, 2], 3]", "[3, [2, 1]]", "/0/0 1, expected 2"),
        ("top_level_any", '[{"a": 1.0}, {"a": true}]', '[{"a": 2}, {"a": 1}]', "/1/a true, expected 2"),
        ("top_level_any", '[{"id": 2, "a": 2}, {"id": 1, "a": 1}]', '[{"id": 1, "a": 0}, {"id": 2, "a": 0}]', "/0/a 2, expected 0"),
        ("top_level_any", '[{"b": 9}, {"id": 1, "a": 2}]', '[{"id": 1, "a": 3}]', "/1/a 2, expected 3"),
        ("top_level_any", "[1]", "[2, 1]", "/0 missing"),
        ("top_level_any", "[1]", "{}", "the whole [1], expected {}"),
        ("any", "[1]", "[1, 2]", "/1 missing"),
        ("any", "[[2, 1], [5]]", "[[1, 2], [6]]", "/1/0 5, expected 6"),
        # where only the operator says no
        ("strict", "{}", "{}", None),
        ("any", "[[2, 1]]", "[[1, 2]]", None),
        ("top_level_any", "[1, 2]", "[2, 1]", None),
    ],
)  # fmt: skip
def test_the_reason_names_the_first_difference_in_the_order_that_counts(list_order, output, reference, reason):  # fmt: skip
    assert JsonEquality(list_order=list_order)(output, reference).reason == reason
    says_no = JsonEquality(lambda *_: 0, list_order=list_order)
    assert says_no(output, reference).reason == (reason or "The operator's score is 0")


@pytest.mark.parametrize(
    ("says", "score", "passed"),
    [(True, 1.0, True), (False, 0.0, False), (0.5, 0.5, True), (0.0, 0.0, False)],
)
def test_the_value_of_an_operator_is_the_score_also_in_the_words_of_numpy(says, score, passed):
    numpy = pytest.importorskip("numpy")
    for value in (says, numpy.array(says)[()]):
        result = JsonEquality(lambda output, reference, value=value: value)("1", "2")
        assert (result.score, type(result.score), result.passed) == (score, type(score), passed)


def test_an_operator_that_returns_no_number_is_named():
    numpy = pytest.importorskip("numpy")
    for value in (None, "1", float("nan"), 10**400, [1], numpy.array([1, 2])):
        with pytest.raises(
            InvalidOptionError, match=r"operator returned .*, which is not a finite number"
        ):
            JsonEquality(lambda output, reference, value=value: value)("1", "2")


def test_an_operator_may_do_what_it_likes_but_is_not_asked_about_what_is_no_json():
    def spoil(output, reference):
        output.append(object())
        return 1 / reference[0]

    for list_order in ("strict", "any", "top_level_any"):
        evaluator = JsonEquality(spoil, list_order=list_order)
        assert evaluator("[1, 4]", "[2, 3]").score == 1 / 2
        assert evaluator("[1", "[2]").label == "truncated"
    with pytest.raises(ZeroDivisionError):
        JsonEquality(spoil)("[1]", "[0]")
