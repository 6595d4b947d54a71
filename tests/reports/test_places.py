"""Where in output and reference is what evaluators name."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import at_most

from llmeval_integrations import JsonFields, JsonMatch, Sample
from llmeval_integrations.reports.parts.places import in_reference, offset, shown

BY_KEY = JsonFields(fields={"/items": {"key": "sku"}})
IN_ANY_ORDER = JsonMatch(strict_order=False)


def items(*items):
    return {"items": [dict(zip(("sku", "p"), each)) for each in items]}


def places(evaluator, output, reference):
    """Give the pointers that an evaluator names, each with its place in the reference."""
    metadata = evaluator.check(Sample(output=output, reference=reference)).metadata
    named = [
        (each["pointer"], shown(each["reference"]) if "reference" in each else None)
        for each in metadata.get("outcomes", metadata.get("differences", []))
    ]
    return dict(
        zip([pointer for pointer, _ in named], in_reference(named, output, reference), strict=True)
    )


@pytest.mark.parametrize("evaluator", [BY_KEY, IN_ANY_ORDER])
@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        (items("B4", "A1"), items("A1", "B3"), {"/items/0/p": "/items/1/p"}),
        (items("B4", "A1"), items("A1", "B1"), {"/items/0/p": "/items/1/p"}),
        (items("B", "A1"), items("A1", "B2"), {"/items/0/p": "/items/1/p"}),
        (items("B", "A1"), items("A1", "B1"), {"/items/0/p": "/items/1/p"}),
        (items("B4", "A1"), items("A1", "B"), {"/items/0/p": None}),
    ],
)
def test_of_an_array_in_any_order_the_place_is_that_of_the_item_that_was_meant(
    evaluator, output, reference, expected
):
    assert places(evaluator, output, reference) == expected


def test_where_several_places_may_be_meant_none_is():
    ignoring = {"/items": {"key": "sku"}, "/items/*/note": {"ignore": True}}
    output, reference = items("B4", "A1"), items("A1", "B1")
    for number, each in enumerate(output["items"]):
        each["note"] = f"note {number}"
    assert places(JsonFields(fields=ignoring), output, reference) == {"/items/0/p": None}


@pytest.mark.parametrize("output", [{"2024": 1, "a/b": []}, {"2024": [1]}, {}])
def test_where_no_array_is_on_the_way_a_pointer_is_that_of_both(output):
    found = places(JsonMatch(), output, {"2024": 2, "a/b": {"x": 1}})
    assert found == {pointer: pointer for pointer in found}
    assert "/2024" in found


LEAVES = st.fixed_dictionaries({}, optional={name: st.integers(0, 2) for name in "pq"})
DOCUMENTS = st.dictionaries(st.sampled_from("ABCD"), LEAVES, max_size=4)


def items_of(document, order):
    return [{"sku": sku, **document[sku]} for sku in order]


@given(DOCUMENTS, DOCUMENTS, st.randoms(use_true_random=False))
def test_what_matches_has_no_place_and_what_is_compared_in_order_always_has_one(a, b, random):
    mine = items_of(a, random.sample(list(a), len(a)))
    theirs = items_of(b, random.sample(list(b), len(b)))
    wrong = {
        f"/{position}/{name}"
        for position, item in enumerate(theirs)
        for name, value in item.items()
        if item["sku"] not in a or {"sku": item["sku"], **a[item["sku"]]}.get(name) != value
    }
    by_key = places(JsonFields(fields={"": {"key": "sku"}}), mine, theirs)
    assert set(by_key.values()) - {None} <= wrong
    evaluator = JsonFields(defaults={"order": "ordered"})
    metadata = evaluator.check(Sample(output=mine, reference=theirs)).metadata
    expected = {each["pointer"] for each in metadata["outcomes"] if "reference" in each}
    assert set(places(evaluator, mine, theirs).values()) - {None} == expected


TEXT = '```json\n{"a~/": [1, {"b" : "x"}], "c":[[1,2], 3.0 ]}\n```'


@pytest.mark.parametrize(
    ("pointer", "rest"),
    [
        ("/a~0~1", '[1, {"b"'),
        ("/a~0~1/1/b", '"x"}], '),
        ("/a~0~1/1/gone", '}], "c"'),
        ("/c/0/1", "2], 3.0"),
        ("/c/1/deeper", "3.0 ]}"),
        ("/c/9", "]}\n"),
        ("/gone/0", "}\n```"),
    ],
)
def test_a_pointer_is_found_in_a_text(pointer, rest):
    assert TEXT[offset(TEXT, pointer) :].startswith(rest)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        (TEXT, ""),
        ("no JSON", "/a"),
        ('{"a": [1', "/a/3"),
        ("[,]", "/1"),
        ('{"a" 1}', "/b"),
        ("[" + "[" * 100_000 + "]" * 100_000 + ", 1]", "/1"),
    ],
)
def test_what_has_no_place_in_a_text(text, pointer):
    assert offset(text, pointer) is None


def test_numbers_of_any_length_are_passed_over():
    text = json.dumps({"a": 0, "b": 1}).replace("0", "9" * 50_000)
    assert text[offset(text, "/b") :] == "1}"


def test_long_digits_among_names_are_no_position():
    output, reference = [{"a": 1, "z": {"9" * 5_000: 1}}], [{"a": 2, "z": [1]}]
    assert in_reference([("/0/a", "2")], output, reference) == ["/0/a"]


def test_large_items_take_no_time():
    reference = [{"id": n, "v": 0, "seen": 0} for n in range(500)]
    large = {f"k{n}": n for n in range(150)}
    output = [{"id": n, "v": 1, "seen": 1, "debug": large} for n in range(500)]
    named = [(f"/{n}/v", "0") for n in range(50)]
    with at_most(2):  # some 0.05 s; it was 3
        in_reference(named, output, reference)
