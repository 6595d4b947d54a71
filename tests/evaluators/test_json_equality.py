"""JSON equality, in order and in none, with an operator of one's own, and the first difference."""

import pytest

from llmeval_integrations import InvalidReferenceError, JsonEquality

STRICT = JsonEquality()
ANY = JsonEquality(list_order="any")
TOP = JsonEquality(list_order="top_level_any")

CASES = [
    # output, reference, equal: in order, in any order, top level in any order
    ('{"a": 1}', '{"a": 1}', (True, True, True)),
    ("1", "1.0", (True, True, True)),
    ("-0.0", "0", (True, True, True)),
    ("1", "true", (False, False, False)),
    ('{"a": [0]}', '{"a": [false]}', (False, False, False)),
    ("[true, 1]", "[1, true]", (False, True, True)),
    ("null", "null", (True, True, True)),
    ('{"a": null}', "{}", (False, False, False)),
    ("{}", "[]", (False, False, False)),
    ("[1, 2]", "[2, 1]", (False, True, True)),
    ('{"a": [1, 2]}', '{"a": [2, 1]}', (False, True, False)),
    ("[[1, 2], 3]", "[3, [1, 2]]", (False, True, True)),
    ("[[1, 2], 3]", "[3, [2, 1]]", (False, True, False)),
    ("[1, 1, 2]", "[1, 2, 2]", (False, False, False)),
    ('[{"b": 2, "a": 1}, 1]', '[1, {"a": 1, "b": 2}]', (False, True, True)),
    ('[1, "1", null, "null"]', '["null", null, "1", 1]', (False, True, True)),
    ("9007199254740993", "9007199254740992", (False, False, False)),
    ("1e400", "1e400", (True, True, True)),
    ("1" * 308, "1" * 308, (True, True, True)),
    ('"é"', '"\\u00e9"', (True, True, True)),
    ('"\\ud83d\\ude00"', '"😀"', (True, True, True)),
    ('{"a": {"b": {"c": [1, {"d": 2}]}}}', '{"a": {"b": {"c": [{"d": 2}, 1]}}}', (False, True, False)),
    ('```json\n{"a": 1}\n```', '{"a": 1}', (True, True, True)),
    ('{"a": 1, "a": 2}', '{"a": 2}', (True, True, True)),
]  # fmt: skip


@pytest.mark.parametrize(("output", "reference", "expected"), CASES)
def test_equality_is_that_of_json(output, reference, expected):
    for evaluator, equal in zip((STRICT, ANY, TOP), expected):
        for one, other in ((output, reference), (reference, output)):
            result = evaluator(one, other)
            assert result.passed is equal, evaluator
            assert (result.reason is None) is equal


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


@pytest.mark.parametrize("reference", ["", "prose", "[1,]x", {1: 2}, object(), b"\xff"])
def test_a_broken_reference_is_the_callers_fault_whatever_the_output(reference):
    for output in ("{}", "broken"):
        with pytest.raises(InvalidReferenceError, match="json_equality"):
            STRICT(output, reference)
    assert (STRICT("{", "{}").passed, STRICT("{", "{}").label) == (False, "truncated")


@pytest.mark.parametrize(
    ("says", "score", "passed"),
    [(True, 1.0, True), (False, 0.0, False), (0.5, 0.5, True), (0.0, 0.0, False)],
)
def test_the_value_of_an_operator_is_the_score_also_in_the_words_of_numpy(says, score, passed):
    numpy = pytest.importorskip("numpy")
    for value in (says, numpy.array(says)[()]):
        result = JsonEquality(lambda output, reference, value=value: value)("1", "2")
        assert (result.score, type(result.score), result.passed) == (score, type(score), passed)


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
