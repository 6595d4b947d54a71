"""JSON equality, in order and in none, with an operator of one's own, and the first difference."""

import json
import operator
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import InvalidReferenceError, JsonEquality, evaluate

STRICT = JsonEquality()
ANY = JsonEquality(list_order="any")
TOP = JsonEquality(list_order="top_level_any")

CASES = [
    # output, reference, equal: in order, in any order, top level in any order
    ('{"a": 1}', '{"a": 1}', (True, True, True)),
    ('{"a": 1}', '{"a": 2}', (False, False, False)),
    ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', (True, True, True)),
    ("1", "1.0", (True, True, True)),
    ("1", "1e0", (True, True, True)),
    ("100", "1e2", (True, True, True)),
    ("-0", "0", (True, True, True)),
    ("-0.0", "0", (True, True, True)),
    ("0.1", "0.10", (True, True, True)),
    ("1", "true", (False, False, False)),
    ("0", "false", (False, False, False)),
    ("[1]", "[true]", (False, False, False)),
    ('{"a": [0]}', '{"a": [false]}', (False, False, False)),
    ("[true, 1]", "[1, true]", (False, True, True)),
    ('"1"', "1", (False, False, False)),
    ("null", "null", (True, True, True)),
    ("null", "{}", (False, False, False)),
    ('{"a": null}', "{}", (False, False, False)),
    ("{}", "[]", (False, False, False)),
    ("[1, 2]", "[2, 1]", (False, True, True)),
    ('{"a": [1, 2]}', '{"a": [2, 1]}', (False, True, False)),
    ("[[1, 2], 3]", "[3, [1, 2]]", (False, True, True)),
    ("[[1, 2], 3]", "[3, [2, 1]]", (False, True, False)),
    ("[1, 1, 2]", "[1, 2, 2]", (False, False, False)),
    ("[1, 2]", "[1, 2, 2]", (False, False, False)),
    ("[1.0, 2]", "[2.0, 1]", (False, True, True)),
    ('[{"b": 2, "a": 1}]', '[{"a": 1, "b": 2}]', (True, True, True)),
    ('[{"b": 2, "a": 1}, 1]', '[1, {"a": 1, "b": 2}]', (False, True, True)),
    ('[1, "1", null, "null"]', '["null", null, "1", 1]', (False, True, True)),
    ("9007199254740993", "9007199254740992", (False, False, False)),
    ("9007199254740993", "9007199254740993.0", (False, False, False)),
    ("12345678901234567890123", "1.2345678901234567890123e22", (False, False, False)),
    ("1e400", "1e400", (True, True, True)),
    ("1" * 308, "1" * 308, (True, True, True)),
    ('"é"', '"\\u00e9"', (True, True, True)),
    ('"é"', '"e\\u0301"', (False, False, False)),
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
            assert result.score is equal, evaluator
            assert result.passed is equal
            assert (result.reason is None) is equal


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        ('{"a": 1}', '{"a": 2}', "/a 1, expected 2"),
        ("{}", '{"a": 2}', "/a missing"),
        ('{"a/b": 2}', "{}", "/a~1b extra"),
        ("[1, 2]", "[2, 1]", "/0 1, expected 2"),
        ("1", '"1"', 'the whole 1, expected "1"'),
    ],
)
def test_the_reason_names_the_first_difference(output, reference, reason):
    assert STRICT(output, reference).reason == reason


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        ('{"a": [1, 2]}', '{"a": [2, 1]}', "/a/0 1, expected 2"),
        ('{"a": [1, 2], "b": 3}', '{"a": [2, 1], "b": 4}', "/a/0 1, expected 2"),
        ("[1, 2, 5]", "[2, 1, 4]", "/2 5, expected 4"),
        ("[1]", "[2, 1]", "/0 missing"),
        ("[1, 2, 1]", "[2, 1]", "/2 extra"),
        ("[[1, 2], 3]", "[3, [2, 1]]", "/0/0 1, expected 2"),
        ('[{"a": 1.0}, {"a": true}]', '[{"a": 2}, {"a": 1}]', "/1/a true, expected 2"),
        ("[1]", "{}", "the whole [1], expected {}"),
    ],
)
def test_the_reason_where_top_level_items_may_come_in_any_order(output, reference, reason):
    assert TOP(output, reference).reason == reason


def test_the_reason_for_items_in_any_order_tells_what_has_no_partner():
    assert ANY("[1]", "[1, 2]").reason == "/1 missing"
    assert ANY('{"a": [1, 2]}', '{"a": [2, 3]}').reason == "/a/0 1, expected 3"


@pytest.mark.parametrize(
    ("list_order", "output", "reference", "reason"),
    [
        ("strict", "[1, 2]", "[2, 1]", "/0 1, expected 2"),
        ("any", "[[2, 1], [5]]", "[[1, 2], [6]]", "/1/0 5, expected 6"),
        ("any", "[[2, 1]]", "[[1, 2]]", "The operator says no"),
        ("top_level_any", "[1, 2, 5]", "[2, 1, 4]", "/2 5, expected 4"),
        ("top_level_any", "[1, 2]", "[2, 1]", "The operator says no"),
    ],
)
def test_the_reason_with_an_operator_keeps_to_the_list_order(list_order, output, reference, reason):
    says_no = JsonEquality(lambda *_: 0, list_order=list_order)
    assert says_no(output, reference).reason == reason


@pytest.mark.parametrize("list_order", ["strict", "any", "top_level_any"])
def test_an_operator_may_put_anything_into_the_array_it_gets(list_order):
    def spoil(output, reference):
        output.append(object())
        return 0

    assert JsonEquality(spoil, list_order=list_order)("[1, 2]", "[3, 1]").score == 0


def test_a_reference_with_a_number_out_of_range_is_json_that_exceeds_a_limit():
    number = "[1e400]"
    with pytest.raises(InvalidReferenceError, match=r"exceeds a limit \(number_out_of_range\)"):
        STRICT("[1]", number)
    assert STRICT(number, number).score is True
    [row] = evaluate([{"output": number, "reference": number}], [STRICT]).rows
    assert (row.error, row.score) == (None, True)


@pytest.mark.parametrize("parsing", ["strict", "markdown", "lenient"])
@pytest.mark.parametrize("reference", ["", "prose", "[1,]x", {1}, {1: 2}, object(), b"\xff"])
def test_a_broken_reference_is_the_callers_fault_whatever_the_output(parsing, reference):
    for output in ("{}", "broken", "[" * 5_000):
        with pytest.raises(InvalidReferenceError, match="json_equality"):
            JsonEquality(parsing=parsing)(output, reference)


def test_a_truncated_reference_is_broken_too_unless_completing_is_asked_for():
    for parsing in ("strict", "markdown"):
        with pytest.raises(InvalidReferenceError, match="truncated"):
            JsonEquality(parsing=parsing)('{"a": 1}', '{"a": 1')
    assert JsonEquality(parsing="lenient")('{"a": 1', '{"a": 1}').score is True


@pytest.mark.parametrize(
    ("output", "label"),
    [
        ("{", "truncated"),
        ("", "empty"),
        ("{} {}", "extra_data"),
        ("[1,]", "trailing_comma"),
        ("NaN", "nan_or_infinity"),
        ({1}, "not_json"),
    ],
)
def test_an_output_that_is_no_json_is_unequal_and_says_why(output, label):
    result = STRICT(output, "{}")
    assert (result.score, result.passed, result.label) == (False, False, label)
    assert result.reason


def test_parsed_values_compare_like_texts():
    pydantic = pytest.importorskip("pydantic")

    class Point(pydantic.BaseModel):
        x: int
        y: tuple[int, ...] = ()

    assert STRICT({"a": (1, 2)}, '{"a": [1, 2]}').score is True
    assert STRICT(Point(x=1, y=(2,)), '{"x": 1, "y": [2]}').score is True
    assert STRICT('{"x": 1, "y": []}', Point(x=1)).score is True
    assert STRICT({"a": True}, {"a": 1}).score is False
    assert STRICT(b'{"a": 1}', {"a": 1}).score is True


def test_an_operator_compares_instead_and_its_value_is_the_score():
    assert JsonEquality(operator=operator.eq)('{"a": true}', '{"a": 1}').score is True
    assert JsonEquality(operator=operator.ne)("1", "1").passed is False
    share = JsonEquality(operator=lambda one, other: len(one & other) / len(other) if 0 else 0.5)
    assert (share("[]", "[]").score, share("[]", "[]").passed) == (0.5, True)
    assert JsonEquality(operator=lambda one, other: 0.0)("1", "1").reason == "The operator says no"


def test_what_numpy_compares_is_a_boolean_too():
    numpy = pytest.importorskip("numpy")
    for value, score in ((numpy.True_, True), (numpy.False_, False), (numpy.float32(0.5), 0.5)):
        given = JsonEquality(operator=lambda one, other, value=value: value)("1", "1").score
        assert (given, type(given)) == (score, type(score))


def test_an_operator_sees_parsed_values_with_top_level_arrays_sorted_where_order_does_not_count():
    seen = []

    def note(output, reference):
        seen.append((output, reference))
        return True

    JsonEquality(operator=note)("[2, 1]", "[1, 2]")
    JsonEquality(operator=note, list_order="top_level_any")("[2, 1, [4, 3]]", "[[4, 3], 1, 2]")
    JsonEquality(operator=note, list_order="any")(
        '[{"b": 1, "a": [2, 1]}]', '[{"a": [2, 1], "b": 1}]'
    )
    assert seen[0] == ([2, 1], [1, 2])
    assert seen[1][0] == seen[1][1]
    assert seen[2][0] == seen[2][1]


def test_an_operator_is_not_asked_about_an_output_that_is_no_json():
    def never(output, reference):
        raise AssertionError

    assert JsonEquality(operator=never)("{", "{}").label == "truncated"


def test_an_error_of_the_operator_is_the_callers_own():
    with pytest.raises(ZeroDivisionError):
        JsonEquality(operator=lambda output, reference: 1 / 0)("1", "1")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def shuffled(value, choose, *, arrays):
    if isinstance(value, dict):
        keys = choose.sample(list(value), len(value))
        return {key: shuffled(value[key], choose, arrays=arrays) for key in keys}
    if isinstance(value, list):
        items = [shuffled(item, choose, arrays=arrays) for item in value]
        return choose.sample(items, len(items)) if arrays else items
    return value


@settings(max_examples=100, deadline=None)
@given(values, st.randoms(use_true_random=False))
def test_equality_does_not_see_order_of_keys_nor_spelling(value, choose):
    texts = [
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, indent=2),
        json.dumps(shuffled(value, choose, arrays=False), separators=(",", ":")),
    ]
    for evaluator in (STRICT, ANY, TOP):
        assert all(evaluator(one, other).score for one in texts for other in texts)
        assert evaluator([value], [json.loads(texts[2])]).score is True
    assert ANY(json.dumps(shuffled(value, choose, arrays=True)), texts[0]).score is True


@settings(max_examples=100, deadline=None)
@given(values, values)
def test_equality_is_symmetric_and_agrees_with_the_text_in_order(one, other):
    texts = json.dumps(one, sort_keys=True), json.dumps(other, sort_keys=True)
    for evaluator in (STRICT, ANY, TOP):
        assert evaluator(*texts).score is evaluator(*texts[::-1]).score
    if texts[0] == texts[1]:
        assert STRICT(*texts).score is True
    if STRICT(*texts).score:
        assert TOP(*texts).score
    if TOP(*texts).score:
        assert ANY(*texts).score


@pytest.mark.once
def test_one_changed_leaf_is_found_anywhere():
    choose = random.Random(2)
    document = {
        "rows": [{"id": n, "tags": ["a", n % 3], "nested": {"x": [n, None]}} for n in range(200)]
    }
    for _ in range(50):
        changed = json.loads(json.dumps(document))
        row = choose.choice(changed["rows"])
        row["nested"]["x"][0] += 1_000
        for evaluator in (STRICT, ANY, TOP):
            assert evaluator(changed, document).score is False


def test_an_operator_sees_arrays_in_the_order_that_is_asked_for():
    for output, reference in (([[1, 2]], [[2, 1]]), ({"x": [1, 2]}, {"x": [2, 1]})):
        assert JsonEquality(operator.eq, list_order="any")(output, reference).score is True
        assert (
            JsonEquality(operator.eq, list_order="top_level_any")(output, reference).score is False
        )
    assert JsonEquality(operator.eq, list_order="top_level_any")([2, 1], [1, 2]).score is True


def test_where_an_operator_says_no_the_reason_is_the_first_difference():
    says_no = JsonEquality(lambda *_: False)
    assert says_no({"a": [1]}, {"a": [2]}).reason == "/a/0 1, expected 2"
    assert says_no({}, {}).reason == "The operator says no"
