"""Lists of an extraction: by position, in any order, by a key."""

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import clashing, law
from pace import at_most

from llmeval_integrations import InvalidOptionError, JsonFields, JsonSimilarity
from llmeval_integrations.core.limits import MAX_PAIRS

ANY_ORDER = JsonFields(fields={"": {"order": "any_order"}})
EVERYWHERE = JsonFields(defaults={"order": "any_order"})
BY_SKU = JsonFields(fields={"": {"key": "sku"}})


def kinds(result):
    return {
        outcome["pointer"]: outcome["kind"]
        for outcome in result.metadata["outcomes"]
        if outcome["kind"] != "match"
    }


def test_by_position_unless_told_otherwise():
    result = JsonFields()([2, 1, 3], [1, 2])
    assert kinds(result) == {"/0": "mismatch", "/1": "mismatch", "/2": "extra"}
    assert ANY_ORDER([2, 1, 3], [1, 2]).metadata["fields"] == {"/*": {"match": 2, "extra": 1}}


def test_items_without_anything_in_common_are_no_pair():
    assert kinds(ANY_ORDER(["a", "x"], ["y", "a"])) == {"/0": "missing", "/1": "extra"}


def test_the_best_pairing_is_found_where_the_greedy_one_is_not():
    reference = [{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 2}]
    # the first of these fits the second best, which leaves nothing for the other
    output = [{"a": 1, "b": 1, "c": 9}, {"a": 7, "b": 1, "c": 1}]
    assert kinds(ANY_ORDER(output, reference)) == {"/0/c": "mismatch", "/1/a": "mismatch"}


records = st.lists(
    st.fixed_dictionaries(
        {name: st.integers(0, 2) for name in "ab"}, optional={"c": st.booleans()}
    ),
    min_size=1,
    max_size=4,
)


def gained(output, reference):
    """Give how many leaves match when items are paired by position."""
    shorter = min(len(output), len(reference))
    counts = JsonFields()(output[:shorter], reference[:shorter]).metadata["fields"]
    return sum(found.get("match", 0) for found in counts.values())


@law
@given(records, records)
def test_no_other_pairing_has_more_matches(output, reference):
    found = ANY_ORDER(output, reference).metadata["fields"]
    best = max(gained(output, [*order]) for order in permutations(reference))
    best = max(best, *(gained([*order], reference) for order in permutations(output)))
    assert sum(counts.get("match", 0) for counts in found.values()) == best


@law
@given(st.lists(clashing, max_size=6), st.lists(clashing, max_size=6), st.randoms())
def test_the_order_of_items_never_matters(output, reference, choose):
    def figures(evaluator, one, other):
        result = evaluator(one, other)
        return result.score, result.metadata["fields"], result.metadata["f1"]

    has_keys = any(type(item) is dict and "a" in item for item in output + reference)
    by_a = JsonFields(fields={"": {"key": "a" if has_keys else "b", "order": "by_key"}})
    has_keys = has_keys or any(type(item) is dict and "b" in item for item in output + reference)
    before = figures(EVERYWHERE, output, reference), figures(by_a, output, reference)
    choose.shuffle(output)
    choose.shuffle(reference)
    score, fields, f1 = figures(EVERYWHERE, output, reference)
    assert (score, fields, f1) == (pytest.approx(before[0][0]), before[0][1], before[0][2])
    if has_keys:
        assert figures(by_a, output, reference)[1:] == before[1][1:]


def test_an_array_no_item_of_which_has_the_key_keeps_its_order():
    one, other = {"sku": 1, "price": 1}, {"sku": 2, "price": 2}
    misspelt = JsonFields(fields={"": {"key": "skuu"}})
    assert misspelt([one, other], [one, other]).passed
    assert not misspelt([one, other], [other, one]).passed
    assert BY_SKU([one, other], [other, one]).passed
    assert not JsonFields(defaults={"key": "sku"})({"t": [1, 2]}, {"t": [2, 1]}).passed
    inside = JsonFields(fields={"": {"order": "any_order"}, "/*": {"key": "skuu"}})
    assert inside([[one, other], [1, 2]], [[1, 2], [one, other]]).passed
    assert inside([[one, other], [1, 2]], [[1, 2], [other, one]]).score == 0.2  # as no pair


def test_keys_are_told_apart_by_what_they_stand_for():
    def at(moment, price):
        return {"at": moment, "price": price}

    schema = {"items": {"properties": {"at": {"type": "string", "format": "date-time"}}}}
    evaluator = JsonFields(schema, fields={"": {"key": "at"}})
    output = [at("2024-01-05T10:00:00Z", 1), at("2024-01-06T10:00:00Z", 2)]
    reference = [at("2024-01-06T11:00:00+01:00", 2), at("2024-01-05T10:00:00.0z", 1)]
    assert evaluator(output, reference).passed


def test_a_key_and_another_order_contradict_each_other():
    with pytest.raises(InvalidOptionError, match=r"any_order.*key='id'"):
        JsonFields(fields={"/items": {"order": "any_order", "key": "id"}})


def test_lists_inside_of_items_are_paired_too():
    output = [{"tags": ["b", "a"]}, {"tags": []}]
    reference = [{"tags": []}, {"tags": ["a", "b"]}]
    assert EVERYWHERE(output, reference).passed
    assert not ANY_ORDER(output, reference).passed


def test_items_with_a_key_are_compared_with_their_namesake_alone():
    output = [{"sku": "b", "price": 1}, {"sku": "a", "price": 2}, {"sku": "x", "price": 3}]
    reference = [{"sku": "a", "price": 1}, {"sku": "b", "price": 1}, {"sku": "c", "price": 3}]
    result = BY_SKU(output, reference)
    assert [(outcome["pointer"], outcome["kind"]) for outcome in result.metadata["outcomes"]] == [
        ("/1/price", "mismatch"),
        ("/2/sku", "missing"),
        ("/2/price", "missing"),
        ("/2/sku", "extra"),
        ("/2/price", "extra"),
    ]
    assert result.metadata["fields"]["/*/price"] == {
        "match": 1,
        "mismatch": 1,
        "missing": 1,
        "extra": 1,
    }


def test_the_same_key_twice_and_none_at_all():
    output = [{"sku": 1, "n": 1}, {"sku": 1.0, "n": 2}, {"n": 5}, 7]
    reference = [{"sku": 1, "n": 2}, {"sku": 1, "n": 1}, 7, {"n": 5}]
    assert BY_SKU(output, reference).passed


def shuffled(share, count=1_000):
    choose = random.Random(1)
    reference = [
        {
            f"field {name}": choose.choice(
                [choose.randrange(10**6), str(choose.random()), True, None]
            )
            for name in range(10)
        }
        for _ in range(count)
    ]
    output = [dict(record) for record in reference]
    for record in output[: int(count * share)]:
        for name in choose.sample(sorted(record), 3):
            record[name] = "changed"
    choose.shuffle(output)
    return output, reference


@pytest.mark.parametrize(("share", "seconds"), [(0.0, 0.25), (0.1, 4)])
def test_a_thousand_shuffled_records(share, seconds):
    output, reference = shuffled(share)
    with at_most(seconds):  # five and twice what a quiet machine takes
        result = ANY_ORDER(output, reference)
    assert result.score == pytest.approx(1 - 0.3 * share)


def test_where_the_bound_is_reached_the_result_says_so_and_no_order_matters():
    output, reference = shuffled(1.0, count=400)
    assert len(output) * len(reference) > MAX_PAIRS
    result = ANY_ORDER(output, reference)
    assert result.metadata["limit_reached"] == [""]
    assert result.reason.endswith("(too many pairs of items; not all were tried)")
    assert result.score == pytest.approx(0.7, abs=0.02)  # what tells a record is left in most
    random.Random(2).shuffle(output)
    assert ANY_ORDER(output, reference).score == pytest.approx(result.score)
    assert "limit_reached" not in ANY_ORDER(output[:10], reference[:10]).metadata


MANY = 201  # pairs of which with each other are more than are tried
PEOPLE = [{"name": f"Name {n}", "tags": [f"t{n}", f"u{n}", "v"], "lang": "en"} for n in range(MANY)]
SPELT_OTHERWISE = {
    "inner order": (
        {"fields": {"": {"order": "any_order"}, "/*/tags": {"order": "any_order"}}},
        lambda person: {**person, "tags": person["tags"][::-1]},
    ),
    "case": (
        {"fields": {"": {"order": "any_order", "ignore_case": True}}},
        lambda person: {**person, "name": person["name"].upper()},
    ),
    "white space": (
        {"fields": {"": {"order": "any_order"}, "/*/name": {"ignore_whitespace": True}}},
        lambda person: {**person, "name": f" {person['name']}\n"},
    ),
    "ignored": (
        {"fields": {"": {"order": "any_order"}, "/*/lang": {"ignore": True}}},
        lambda person: {**person, "lang": person["name"]},
    ),
}


@pytest.mark.parametrize("way", SPELT_OTHERWISE)
def test_what_matches_by_its_rules_is_paired_however_many_there_are(way):
    settings, respelt = SPELT_OTHERWISE[way]
    evaluator, output = JsonFields(**settings), [*map(respelt, PEOPLE)]
    random.Random(3).shuffle(output)
    result = evaluator(output, PEOPLE)
    assert result.passed
    assert "limit_reached" not in result.metadata
    assert not ANY_ORDER(output, PEOPLE).passed
    wrong = [{**person, "name": f"wrong {n}"} for n, person in enumerate(output)]
    again = [respelt(dict(person)) for person in wrong]
    assert evaluator(again, PEOPLE).score == evaluator(wrong, PEOPLE).score < 1


def test_what_has_nothing_but_what_is_ignored_is_no_empty_object():
    evaluator = JsonFields(fields={"": {"order": "any_order"}, "/*/b": {"ignore": True}})
    for reference in ([{}, {"b": 3}], [{"b": 3}, {}]):
        assert evaluator([{}], reference).passed
        assert evaluator([{"b": 4}], reference).metadata["fields"] == {"/*": {"missing": 1}}


def test_moments_are_paired_however_many_there_are():
    schema = {"uniqueItems": True, "items": {"type": "string", "format": "date-time"}}
    clock = [f"2024-01-05T{n // 60:02}:{n % 60:02}:00" for n in range(MANY + 40)]
    output, reference = [f"{at}Z" for at in clock], [f"{at}+00:00" for at in reversed(clock)]
    assert JsonFields(schema)(output, reference).passed


@pytest.mark.parametrize(("items", "passes"), [(20, True), (101, True), (280, True), (317, False)])
def test_where_equal_items_had_to_be_paired_first_the_result_says_so(items, passes):
    evaluator = JsonFields(fields={"": {"order": "any_order"}, "/*": {"tolerance": 1}})
    others = [1000 + 10 * n for n in range(items - 2)]
    result = evaluator([1, 0, *others], [1, 2, *others])  # 0 fits 1, which fits 2
    assert result.passed is passes
    assert ("limit_reached" in result.metadata) is not passes
    assert "limit_reached" not in evaluator(others, others[::-1]).metadata


def test_no_order_has_a_say_in_the_label():
    fair, wrong = {"a": 1, "b": 2}, {"a": 5, "b": 6}
    reference = [{"a": 1, "b": 3}, {"a": 5}]
    labels = {ANY_ORDER(output, reference).label for output in ([fair, wrong], [wrong, fair])}
    assert labels == {"mismatch"}


def thread(levels, choose):
    return [
        {
            "text": str(choose.random()),
            "by": choose.choice("abcdef"),
            "replies": thread(levels - 1, choose) if levels > 1 else [],
        }
        for _ in range(4)
    ]


def edited(comments, choose):
    return [
        {
            **comment,
            "text": "edited" if choose.random() < 0.2 else comment["text"],
            "replies": edited(comment["replies"], choose),
        }
        for comment in comments
    ]


@pytest.mark.once
@pytest.mark.parametrize("evaluator", [EVERYWHERE, JsonSimilarity()], ids=lambda each: each.name)
def test_arrays_inside_of_arrays_share_the_bound(evaluator):
    reference = thread(5, random.Random(1))
    output = edited(reference, random.Random(2))
    with at_most(10):  # some 1 s; all pairs took 25
        result = evaluator(output, reference)
    assert "limit_reached" in result.metadata
    small = evaluator(output[0]["replies"][0]["replies"], reference[0]["replies"][0]["replies"])
    assert "limit_reached" not in small.metadata


@pytest.mark.parametrize("evaluator", [EVERYWHERE, JsonSimilarity()], ids=lambda each: each.name)
def test_lists_in_lists_are_compared_once_and_not_once_for_each_level(evaluator):
    output, reference = [{"a": 1, "b": 3}], [{"a": 1, "b": 2}]
    for _ in range(40):
        output, reference = [output, 1], [reference, 2]
    with at_most(3):
        assert 0 < evaluator(output, reference).score < 1


def test_what_is_equal_is_no_pair_where_tolerance_finds_better_ones():
    near = JsonFields(fields={"": {"order": "any_order"}, "/*": {"tolerance": 1}})
    assert near([10, 9], [10, 11]).passed
    assert near([9, 10], [11, 10]).passed
    assert not near([10, 8], [10, 11]).passed
    prices = JsonFields(fields={"": {"order": "any_order"}, "/*/p": {"tolerance": 0.01}})
    output = [{"p": 10.0, "n": 1}, {"p": 9.99, "n": 1}]
    assert prices(output, [{"p": 10.0, "n": 1}, {"p": 10.01, "n": 1}]).passed


def near_matches(evaluator, output, reference):
    return evaluator(output, reference).metadata["fields"]["/*"].get("match", 0)


@law
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=4),
    st.lists(st.integers(0, 8), min_size=1, max_size=4),
)
def test_no_other_pairing_of_near_numbers_has_more_matches(output, reference):
    near = JsonFields(fields={"": {"order": "any_order"}, "/*": {"tolerance": 1}})
    in_place = JsonFields(fields={"/*": {"tolerance": 1}})
    longer, shorter = sorted((output, reference), key=len, reverse=True)
    best = max(
        near_matches(in_place, [*chosen], shorter) for chosen in permutations(longer, len(shorter))
    )
    assert near_matches(near, output, reference) == best


def test_a_key_is_compared_as_its_own_field_is():
    fields = {"": {"key": "sku"}, "/*/sku": {"ignore_case": True, "ignore_whitespace": True}}
    output = [{"sku": "b 1", "n": 1}, {"sku": "A", "n": 2}]
    assert JsonFields(fields=fields)(
        output, [{"sku": "a", "n": 2}, {"sku": "B  1 ", "n": 1}]
    ).passed


@pytest.mark.parametrize(
    ("evaluator", "output", "reference", "counts"),
    [
        # a rule for other fields, or without effect on these items, takes no pair apart
        (
            JsonFields(
                {"properties": {"a": {"uniqueItems": True, "items": {"type": "integer"}}}},
                defaults={"tolerance": 0.01},
            ),
            {"a": [1, 2, 3]},
            {"a": [1, 2, 4]},
            {"/a/*": {"match": 2, "missing": 1, "extra": 1}},
        ),
        (
            JsonFields(fields={"/*/*/price": {"tolerance": 0.01}}, defaults={"order": "any_order"}),
            {"a": ["a", "b", {"price": 1}]},
            {"a": ["a", "c", "b"]},
            {"/a/*": {"match": 2, "missing": 1}, "/a/*/price": {"extra": 1}},
        ),
        (
            JsonFields(fields={"/a": {"order": "any_order", "weight": 0, "tolerance": 0.01}}),
            {"a": [{"n": n} for n in range(5)]},
            {"a": [{"n": n} for n in (4, 3, 2, 1, 9)]},
            {"/a/*/n": {"match": 4, "missing": 1, "extra": 1}},
        ),
        (
            JsonFields(fields={"/a": {"order": "any_order", "coerce": True}}),
            {"a": ["1", 1]},
            {"a": ["1.0", 1]},
            {"/a/*": {"match": 2}},
        ),
    ],
)
def test_near_values_cost_no_pair_that_there_was(evaluator, output, reference, counts):
    assert evaluator(output, reference).metadata["fields"] == counts


def test_the_order_inside_of_inner_arrays_decides_nothing():
    output = [{"A": [7], "a": 1, "b": 1}]
    found = [
        EVERYWHERE(output, [{"A": inner, "a": 1}, {"A": [2, 8], "b": 1}]).metadata["fields"]
        for inner in ([1, 9], [9, 1])
    ]
    assert found[0] == found[1]


def test_what_was_met_before_costs_no_time():
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "properties": {
                    "children": {
                        "type": "array",
                        "uniqueItems": True,
                        "items": {"$ref": "#/$defs/node"},
                    }
                }
            }
        },
    }

    def tree(leaf):
        value = {"name": leaf}
        for level in range(16):
            value = {"name": f"n{level}", "children": [value]}
        return value

    evaluator = JsonFields(schema)
    evaluator({f"n{number}": 1 for number in range(10_001)}, {"name": "a"})
    with at_most(2):
        assert evaluator(tree("a"), tree("b")).score == pytest.approx(16 / 18)


def test_long_integers_are_read_once_and_not_for_each_pair():
    near = JsonFields(defaults={"tolerance": 0.5, "order": "any_order"})
    output = [int("9" * 4_200) + number for number in range(150)]
    with at_most(4):
        assert near(output, [*range(150)]).score == 0


def test_similar_records_with_lists_are_paired_as_well_as_they_can_be():
    choose = random.Random(1)
    reference = [
        {
            "amount": number,
            "name": f"{choose.random()}",
            "tags": [f"{choose.random()}" for _ in "abcdefghij"],
        }
        for number in range(25)
    ]
    output = [{**record, "amount": f"about {record['amount']}"} for record in reference]
    choose.shuffle(output)
    result = JsonSimilarity()(output, reference)
    assert result.score == pytest.approx(11 / 12, abs=0.01)
    assert result.metadata == {}
