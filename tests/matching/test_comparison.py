"""Comparing two trees path by path: where they differ, and the patch that mends it."""

import random
from copy import deepcopy
from itertools import permutations
from typing import Any

import jsonpatch
import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import clashing, documents, law, nested
from pace import at_most

from llmeval_integrations.json_values.equality import equal, equal_in_any_order
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Outcome
from llmeval_integrations.matching.patch import describe, patch, sort_for_patch, summarize
from llmeval_integrations.matching.plain import Plain

modes = st.fixed_dictionaries({"ordered": st.booleans(), "ignore_extra": st.booleans()})

# output, reference, then (pointer, kind) of each difference, arrays in order.
TABLE = [
    ("1", "1.0", []),
    ("1", "2", [("", "mismatch")]),
    ("true", "1", [("", "wrong_type")]),
    ("null", "[]", [("", "wrong_type")]),
    ('{"a": null}', "{}", [("/a", "extra")]),
    ("{}", '{"a": null}', [("/a", "missing")]),
    ('{"a": 1, "b": {"c": "x"}}', '{"b": {"c": "y"}, "a": 1}', [("/b/c", "mismatch")]),
    ('{"a": {"b": [1, "2"]}}', '{"a": {"b": [1, 2]}}', [("/a/b/1", "wrong_type")]),
    ("[1, 2, 3]", "[1]", [("/2", "extra"), ("/1", "extra")]),
    ("[1]", "[1, 2, 3]", [("/1", "missing"), ("/2", "missing")]),
    ('[{"a": 1}]', '[{"b": 1}]', [("/0/b", "missing"), ("/0/a", "extra")]),
    ('{"a/b": {"m~n": 1}}', '{"a/b": {"m~n": 2}}', [("/a~1b/m~0n", "mismatch")]),
    ("[1, 2]", "[2, 1]", [("/0", "mismatch"), ("/1", "mismatch")]),
    ('{"a": true, "b": 0}', '{"a": 1, "b": false}', [("/a", "wrong_type"), ("/b", "wrong_type")]),
]

# The same, arrays in any order, and extra keys ignored where it says so.
ANY_ORDER = [
    ("[1, 2]", "[2, 1]", False, []),
    ("[1, 1, 2]", "[1, 2, 2]", False, [("/1", "mismatch")]),
    ("[[1, 2], [3]]", "[[3], [2, 1]]", False, []),
    ('[{"a": [1, 2]}, {"a": [3]}]', '[{"a": [3]}, {"a": [2, 1]}]', False, []),
    ("[1, 2, 3]", "[3, 1]", False, [("/1", "extra")]),
    ("[3]", "[1, 3, 2]", False, [("/0", "missing"), ("/2", "missing")]),
    ('[{"a": 1, "x": 0}, {"a": 1}]', '[{"a": 1}, {"a": 1}]', True, []),
    # First come, first served gives {"a": 1} away to the one that has a choice.
    ('[{"a": 1}, {"a": 1, "b": 2}]', '[{"a": 1}, {"a": 1, "b": 2}]', True, []),
    ('[{"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2}]', '[{"a": 1}, {"a": 1, "c": 3}]', True, []),
    ('{"r": [[{"a": 1}, {"b": 2, "a": 1}]]}', '{"r": [[{"b": 2}, {"a": 1}]]}', True, []),
    ('[{"a": 1, "x": 0}]', '[{"a": 2}]', True, [("/0/a", "mismatch")]),
    ('{"a": 1, "x": 0}', '{"a": 1}', True, []),
    ('{"x": 0}', '{"a": 1}', True, [("/a", "missing")]),
    ("[1, 2]", "[1]", True, [("/1", "extra")]),
]


def fits(output: Any, reference: Any, *, ordered: bool, ignore_extra: bool) -> bool:
    """Define what matches, trying every order of every array."""
    how = {"ordered": ordered, "ignore_extra": ignore_extra}
    if isinstance(output, dict) and isinstance(reference, dict):
        keys = reference.keys()
        return (keys <= output.keys() if ignore_extra else keys == output.keys()) and all(
            fits(output[key], reference[key], **how) for key in keys
        )
    if isinstance(output, list) and isinstance(reference, list):
        return len(output) == len(reference) and any(
            all(fits(here, there, **how) for here, there in zip(output, order))
            for order in ([reference] if ordered else permutations(reference))
        )
    return equal(output, reference)


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(item, chance) for key, item in value.items()}
    if isinstance(value, list):
        return chance.sample([shuffled(item, chance) for item in value], len(value))
    return value


def compare(output: Any, reference: Any, **how: bool) -> Comparison:
    comparison = Comparison()
    comparison.compare(Plain(**how), output, reference)
    return comparison


def differences(output: Any, reference: Any, **how: bool) -> list[Outcome]:
    return sort_for_patch(compare(output, reference, **how).outcomes)


@pytest.mark.parametrize(("output", "reference", "expected"), TABLE)
def test_differences_have_their_path_and_kind(output, reference, expected):
    found = differences(parse(output), parse(reference))
    assert [(difference.pointer, difference.kind) for difference in found] == expected


@pytest.mark.parametrize(("output", "reference", "ignore_extra", "expected"), ANY_ORDER)
def test_items_in_any_order_are_paired_as_well_as_can_be(output, reference, ignore_extra, expected):
    found = differences(parse(output), parse(reference), ordered=False, ignore_extra=ignore_extra)
    assert [(difference.pointer, difference.kind) for difference in found] == expected


@law
@given(clashing, clashing, modes)
def test_there_is_no_difference_where_the_definition_sees_none(output, reference, how):
    assert (not differences(output, reference, **how)) == fits(output, reference, **how)


@law
@given(clashing, st.randoms(), modes)
def test_a_value_matches_itself_in_the_orders_that_do_not_count(value, chance, how):
    assert not differences(value, deepcopy(value), **how)
    assert how["ordered"] or not differences(shuffled(value, chance), value, **how)


@law
@given(clashing, clashing, st.randoms(), st.booleans())
def test_the_order_of_items_changes_no_verdict(output, reference, chance, ignore_extra):
    how = {"ordered": False, "ignore_extra": ignore_extra}
    other = differences(shuffled(output, chance), shuffled(reference, chance), **how)
    assert bool(differences(output, reference, **how)) == bool(other)


@law
@given(documents | clashing, documents | clashing)
def test_without_allowances_no_difference_is_equality(output, reference):
    assert (not differences(output, reference)) == equal(output, reference)
    assert (not differences(output, reference, ordered=False)) == equal_in_any_order(
        output, reference
    )


@law
@given(clashing | documents, clashing | documents, modes)
def test_the_patch_mends_every_difference(output, reference, how):
    operations = patch(differences(output, reference, **how))
    mended = jsonpatch.JsonPatch(operations).apply(deepcopy(output))
    assert not differences(mended, reference, **how)
    if how == {"ordered": True, "ignore_extra": False}:
        assert equal(mended, reference)
    assert not operations or not fits_small(output, reference, how)


def fits_small(output: Any, reference: Any, how: dict[str, bool]) -> bool:
    """Ask the definition where its factorial cost allows."""
    return len(str(output)) < 60 and fits(output, reference, **how)


@law
@given(clashing, clashing, modes)
def test_pointers_lead_to_what_differs(output, reference, how):
    for difference in differences(output, reference, **how):
        if difference.kind != "missing":
            found = jsonpointer.resolve_pointer(output, difference.pointer)
            assert found is difference.output
        if how["ordered"] and difference.kind != "extra":
            found = jsonpointer.resolve_pointer(reference, difference.pointer)
            assert found is difference.reference


@pytest.mark.parametrize(
    ("output", "reference", "text"),
    [
        ('{"a": 1}', '{"a": 2}', "/a 1, expected 2"),
        ("1", '"1"', 'the whole 1, expected "1"'),
        ("{}", '{"a": 2}', "/a missing"),
        ('{"a": 2}', "{}", "/a extra"),
        ("[1, 2, 3, 4, 5]", "[5, 4, 3, 2, 1]", "/0 1, expected 5; /1 2, expected 4; /3 4, expected 2; and 1 more"),
        (f'"{"a" * 200}"', "1", f'the whole "{"a" * 56}..., expected 1'),
    ],
)  # fmt: skip
def test_a_summary_names_the_first_differences(output, reference, text):
    assert summarize(differences(parse(output), parse(reference))) == text


def test_long_integers_and_nan_are_compared():
    assert not differences(parse("[1e400]"), parse("[1" + "0" * 400 + "]"), ordered=False)
    assert differences(parse('[{"a": NaN}]', "lenient"), [{"a": None}], ordered=False)


# --- cost --------------------------------------------------------------------------------------

RECORDS = [{"id": n, "name": f"item {n}", "price": n * 1.5, "tags": ["a", n]} for n in range(1000)]


@pytest.mark.parametrize("ignore_extra", [False, True])
@pytest.mark.parametrize("extra", [{}, {"note": "extra"}], ids=["equal", "extra key"])
def test_1000_shuffled_records_are_quick(ignore_extra, extra):
    output = [{**record, **extra} for record in shuffled(RECORDS, random.Random(7))]
    with at_most(1):
        found = differences(output, RECORDS, ordered=False, ignore_extra=ignore_extra)
    assert bool(found) == bool(extra and not ignore_extra)


def twins(levels: int, leaf: Any) -> Any:
    """Nest arrays of two, both of which look the same down to the innermost items."""
    value = [leaf]
    for level in range(levels):
        twin = [leaf]
        for _ in range(level):
            twin = [twin, 0]
        value = [value, twin]
    return value


@pytest.mark.once
@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ([{"a": 1, "n": n} for n in range(1000)], [{"a": 1}] * 500 + [{"a": 2}] * 500),
        ([[[n * 100 + m] for m in range(40)] for n in range(40)], [[[-1 - m] for m in range(40)] for _ in range(40)]),
        ([[n] for n in range(5000)], [[-1 - n] for n in range(5000)]),
        (nested(80, 1), nested(80, 2)),
        (nested(80, {"a": 1, "b": 2}, "both"), nested(80, {"a": 2}, "both")),
        (twins(20, {"a": 1, "b": 2}), twins(20, {"a": 1, "b": 3})),
    ],
    ids=["too few fit", "arrays of arrays", "5000 arrays", "deep", "deep objects", "twins"],
)  # fmt: skip
def test_pairing_has_a_limit_and_takes_no_second(output, reference):
    with at_most(2):
        differences(output, reference, ordered=False, ignore_extra=True)


@pytest.mark.once
def test_where_the_limit_is_reached_the_comparison_says_so():
    def arrays(extra: dict[str, int]) -> list[Any]:
        return [[{"n": n, "m": [m], **extra} for m in range(30)] for n in range(100)]

    output, reference = arrays({"x": 1}), arrays({})[::-1]
    comparison = compare({"a": output}, {"a": reference}, ordered=False, ignore_extra=True)
    assert "/a" in comparison.limits


def test_words_show_long_values_from_where_they_differ():
    alike = {f"k{number}": number for number in range(50)}
    difference = Outcome("/a", Plain(), "wrong_type", 0.0, {**alike, "z": 1}, [alike])
    assert describe(difference).startswith('/a {"k0":0,')
    difference = Outcome("/a", Plain(), "mismatch", 0.0, {**alike, "z": 1}, {**alike, "z": 2})
    assert describe(difference).endswith(',"k9":9,"z":2}')
    difference = Outcome("/0", Plain(), "mismatch", 0.0, "x" * 500 + "left", "x" * 500 + "right")
    assert describe(difference) == f'/0 ...{"x" * 20}left", expected ...{"x" * 20}right"'
