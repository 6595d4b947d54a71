"""Limits of depth, size and numbers; and no text or value hangs the parser or crashes it."""

import json
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_strategies import documents, law, nested
from pace import at_most

from llmeval_integrations import InvalidReferenceError, JsonMatch, JsonValidity
from llmeval_integrations.core.limits import MAX_DEPTH, MAX_NODES
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, check, parse
from llmeval_integrations.json_values.values import canonical

modes = pytest.mark.parametrize("parsing", get_args(Parsing))


@given(
    st.integers(MAX_DEPTH - 2, MAX_DEPTH + 2),
    st.lists(st.booleans(), min_size=MAX_DEPTH + 2, max_size=MAX_DEPTH + 2),
    st.sampled_from([("{}", 1), ("1", 0), ('"[[{"', 0), ('"\\"[[["', 0), ('"\\\\"', 0)])
    | st.sampled_from([('["]]]]", "}}}}"]', 1), ("[" + "[],{}," * 400 + "1]", 2)]),
    st.sampled_from(["", " ", "\n" * 100]),
)
@settings(max_examples=100, deadline=None)
def test_200_levels_are_read_and_a_deeper_text_is_valid_and_too_deep(
    depth, objects, inside, behind
):
    around = [('{"":', "}") if is_object else ("[", "]") for is_object in objects[:depth]]
    text = "".join(opening for opening, _ in around) + inside[0]
    text += "".join(closing for _, closing in reversed(around)) + behind
    for parsing in get_args(Parsing):
        found = parse(text, parsing)
        assert isinstance(found, Defect) is (depth + inside[1] > MAX_DEPTH)
        assert parse(json.loads(text), parsing) == found or found.name == "too_deep"
        assert check(text, parsing) is None


@modes
def test_texts_are_valid_as_deep_as_python_reads(parsing):
    assert JsonValidity(parsing)(json.dumps(nested(800, 1, "both"))).passed
    for text in ("[" * 100_000, "[" * 100_000 + "]" * 100_000):
        assert parse(text, parsing).name == check(text, parsing).name == "too_deep"


def test_the_same_text_is_equal_at_any_depth():
    text = "[" * 300 + "1" + "]" * 300
    assert JsonMatch()(text, text).passed
    assert JsonMatch()(text, "1").label == "too_deep"
    with pytest.raises(InvalidReferenceError, match="too_deep"):
        JsonMatch()("1", text)


def test_a_truncated_text_is_too_deep_in_lenient_mode_and_prose_around_it_hides_nothing():
    for text in ("[" * 201, '["a", ' * 201 + '"b', 'the "x: ' + "```" + "[" * 201 + "]" * 201):
        assert parse(text, "lenient").name == "too_deep"
    assert parse('x " ```[1e99999999999999999999, "a"]', "lenient").name == "number_out_of_range"


def test_a_value_that_holds_itself_is_too_deep_or_too_large():
    array: list[Any] = []
    array.append(array)
    assert parse(array).name == parse({"a": [array]}, "lenient").name == "too_deep"
    array.append(array)
    assert parse(array).name == "too_large"


@modes
@pytest.mark.parametrize(("levels", "width"), [(9, 9), (190, 2), (2, 10_000)])
@pytest.mark.parametrize("kind", [list, tuple])
def test_a_value_that_shares_itself_counts_with_repetition(parsing, levels, width, kind):
    value: Any = "lol"
    for _ in range(levels):  # as YAML's aliases do
        value = kind([value] * width)
    with at_most(1):
        assert parse(value, parsing).name == check(value, parsing).name == "too_large"


@modes
def test_a_text_of_more_nodes_or_characters_is_too_large(parsing):
    nodes = ["[" + "0," * count + "0]" for count in (MAX_NODES - 2, MAX_NODES - 1)]
    characters = [json.dumps("a" * count) for count in (10_000_000 - 2, 10_000_000 - 1)]
    for fits, over in (nodes, characters):
        assert len(parse(fits, parsing)) in (MAX_NODES - 1, 10_000_000 - 2)
        assert check(fits, parsing) is None
        assert parse(over, parsing).name == check(over, parsing).name == "too_large"
    assert parse(json.loads(nodes[1]), parsing).name == "too_large"


@modes
@pytest.mark.parametrize(
    "number", ["1e400", "-1.50e400", "1" * 309, "-1" + "0" * 5_000, "1E99999999999999999999"]
)
def test_a_number_out_of_range_is_json_that_nobody_reads(parsing, number):
    text = '{"a": [' + number + ", 1]}"
    for each in (number, "[" * 150 + number + "]" * 150, text):
        assert parse(each, parsing).name == "number_out_of_range"
    assert JsonValidity(parsing)(text).passed
    assert JsonMatch(parsing=parsing)(text, "1").label == "number_out_of_range"
    with pytest.raises(InvalidReferenceError, match="number_out_of_range"):
        JsonMatch(parsing=parsing)("1", text)


@modes
def test_so_is_a_value_out_of_range(parsing):
    for value in (10**308, [-(10**5_000)], Decimal("1E+400"), 10**400_000, {"a": Decimal(9**500)}):
        with at_most(1):
            assert parse(value, parsing).name == "number_out_of_range"
        assert check(value, parsing) is None


# --- nothing hangs -----------------------------------------------------------------------------

LONG = 200_000
PIECES = [
    "[", '{"a":', '"', "\\", '"\\', "`", "~", " ", "1", "/*", "[ ", "{ ", "[]", "{", "}", "{a", '{"a":1,', ": [1 ",
    "I like {cats}, [dogs] and (all) the rest of them. ", "```json\n{", '"action_input": "', "\x00", "\n [", "*/ [1.1e1",
    "[1]\n", "true ", "null,", "json ", "[-1 \n", '\\"', "<[1", "1\n\n", "NaN,", "1e99999999999999999999,", "\\ud800",
]  # fmt: skip
HOSTILE = [
    *(
        before + piece * (LONG // len(piece)) + behind
        for before, behind in [("", ""), ("[", "1]"), ("x", "x"), ("# x", "x"), ("[1] ", "x"), ('["', '"]')]
        for piece in PIECES
    ),
    "[1." + "1" * LONG + "]",
    "[" + ("1" * 4_000 + ",") * 50 + "1e999]",
    '"' + "\ud800" * LONG + '"',
    "{" + "".join(f'"{n}":1,' for n in range(LONG // 9)) + '"0":1}',
    "[" * 400 + '["a", ' * 100 + '"b", ' * 200_000,
    '{"a": 1, "b": nonsense, ' + '"c": [1, 2], ' * 80_000,
]  # fmt: skip


@pytest.mark.nightly
@modes
def test_no_text_takes_long(parsing):
    for text in HOSTILE:
        for read in (check, parse):
            with at_most(3):
                read(text, parsing)


@law
@given(st.recursive(st.from_type(type).flatmap(st.from_type) | documents, st.lists, max_leaves=3))
def test_nothing_that_python_builds_crashes_it(value):
    for parsing in get_args(Parsing):
        found = parse(value, parsing)
        check(value, parsing)
        if not isinstance(found, Defect):
            canonical(found, sort_arrays=True)
