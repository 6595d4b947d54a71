"""Items of arrays: by position, in any order, by a key; which are paired, and at what cost."""

import random
from itertools import permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_strategies import clashing, few, law
from pace import at_most

from llmeval_integrations import JsonFields

ORDER = {"order": "any_order"}
ANY = {"": ORDER}
ANY_ORDER = JsonFields(fields=ANY)
EVERYWHERE = JsonFields(defaults=ORDER)
BY_SKU = JsonFields(fields={"": {"key": "sku"}})
NEAR = JsonFields(fields={**ANY, "/*": {"tolerance": 1}})


def counts(evaluator, output, reference):
    fields = evaluator(output, reference).metadata["fields"]
    return {path: counts for path, counts in fields.items() if counts}


# evaluator, output, reference, counts by field
CASES = {
    "in their order unless told otherwise": (JsonFields(), [2, 1, 3], [1, 2], {"/*": {"match": 1, "mismatch": 1, "extra": 1}}),
    "by position": (JsonFields(defaults={"order": "ordered"}), [2, 1, 3], [1, 2], {"/*": {"mismatch": 2, "extra": 1}}),
    "by position where a path has one": (JsonFields(fields={"/1": {"ignore": True}}, defaults=ORDER), [1, 2], [1, 3], {"/*": {"match": 1}}),
    "by position where the schema has them": (
        JsonFields({"prefixItems": [{"format": "date"}, {"type": "number"}]}, defaults=ORDER), ["20240105", 0.3], ["2024-01-05", 0.1 + 0.2],
        {"/*": {"match": 2}},
    ),
    "in any order": (ANY_ORDER, [2, 1, 3], [1, 2], {"/*": {"match": 2, "extra": 1}}),
    "leaves that are left over are pairs": (ANY_ORDER, ["a", "x"], ["y", "a"], {"/*": {"match": 1, "mismatch": 1}}),
    "objects with nothing in common are none": (ANY_ORDER, [{"a": 1}], [{"a": 2}], {"/*/a": {"missing": 1, "extra": 1}}),
    "a similarity of 0 pairs all": (JsonFields(defaults={**ORDER, "similarity": 0}), ["abc"], ["xyz"], {"/*": {"match": 1}}),
    "the best pairing, not the greedy one": (
        ANY_ORDER,
        [{"a": 1, "b": 1, "c": 9}, {"a": 7, "b": 1, "c": 1}],  # the first fits the second best
        [{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 2}],
        {"/*/a": {"match": 1, "mismatch": 1}, "/*/b": {"match": 2}, "/*/c": {"match": 1, "mismatch": 1}},
    ),
    "lists inside keep their order": (
        ANY_ORDER, [{"tags": ["b", "a"]}, {"tags": []}], [{"tags": []}, {"tags": ["a", "b"]}],
        {"/*": {"match": 1}, "/*/tags/*": {"match": 1, "missing": 1, "extra": 1}},
    ),
    "by key, with the namesake alone": (
        BY_SKU,
        [{"sku": "b", "price": 1}, {"sku": "a", "price": 2}, {"sku": "x", "price": 3}],
        [{"sku": "a", "price": 1}, {"sku": "b", "price": 1}, {"sku": "c", "price": 3}],
        {"/*/sku": {"match": 2, "missing": 1, "extra": 1}, "/*/price": {"match": 1, "mismatch": 1, "missing": 1, "extra": 1}},
    ),
    "by a key of two members": (
        JsonFields(fields={"": {"key": ["sku", "date"]}}),
        [{"sku": 1, "date": "b", "n": 1}, {"sku": 1, "date": "a", "n": 2}, {"sku": 2, "n": 3}], [{"sku": 1, "date": "a", "n": 2}, {"sku": 1, "date": "b", "n": 1}, {"sku": 2, "date": "a", "n": 3}],
        {"/*/sku": {"match": 2, "missing": 1, "extra": 1}, "/*/date": {"match": 2, "missing": 1}, "/*/n": {"match": 2, "missing": 1, "extra": 1}},
    ),
    "by a key of two members, one of which may be off and one is left out": (
        JsonFields(fields={"": {"key": ["sku", "date"]}, "/*/sku": {"similarity": 0.7}}), [{"sku": "INV-1", "date": "a"}], [{"sku": "INV-l"}],
        {"/*/sku": {"missing": 1, "extra": 1}, "/*/date": {"extra": 1}},
    ),
    "by a key that may be off, beside items without it": (
        JsonFields(fields={"": {"key": "sku"}, "/*/sku": {"similarity": 0.7}}), [7, {"sku": "INV-1"}], [{"sku": "INV-l"}, 7], {"/*": {"match": 1}, "/*/sku": {"match": 1}},
    ),
    "the same key twice, and none": (
        BY_SKU, [{"sku": 1, "n": 1}, {"sku": 1.0, "n": 2}, {"n": 5}, 7], [{"sku": 1, "n": 2}, {"sku": 1, "n": 1}, 7, {"n": 5}],
        {"/*/sku": {"match": 2}, "/*/n": {"match": 3}, "/*": {"match": 1}},
    ),
    "a key is compared as its field is": (
        JsonFields(fields={"": {"key": "sku"}, "/*/sku": {"ignore_case": True, "ignore_whitespace": True}}),
        [{"sku": "b 1", "n": 1}, {"sku": "A", "n": 2}], [{"sku": "a", "n": 2}, {"sku": "B  1 ", "n": 1}],
        {"/*/sku": {"match": 2}, "/*/n": {"match": 2}},
    ),
    "below a similarity items are no pair": (
        JsonFields(defaults={**ORDER, "min_similarity": 0.5}), [{"sku": "Z", "n": 7, "c": "EUR"}], [{"sku": "B", "n": 2, "c": "EUR"}],
        {"/*/sku": {"missing": 1, "extra": 1}, "/*/n": {"missing": 1, "extra": 1}, "/*/c": {"missing": 1, "extra": 1}},
    ),
    "by key, below a similarity": (
        JsonFields(fields={"": {"key": "sku", "min_similarity": 0.6}}), [{"sku": 1, "a": 1}, {"sku": 2, "a": 2}], [{"sku": 1, "a": 9}, {"sku": 2, "a": 2}],
        {"/*/sku": {"match": 1, "missing": 1, "extra": 1}, "/*/a": {"match": 1, "missing": 1, "extra": 1}},
    ),
    "without the key, below a similarity": (
        JsonFields(fields={"": {"key": "sku", "min_similarity": 0.5}}), [{"a": 1, "b": 1}, {"a": 2}], [{"a": 1, "b": 2}, {"a": 3}],
        {"/*/a": {"match": 1, "missing": 1, "extra": 1}, "/*/b": {"mismatch": 1}},
    ),
    "the best pairs of those that are similar enough": (  # not 0.4 and 0.4, which have the larger sum
        JsonFields(defaults={**ORDER, "min_similarity": 0.6}),
        [{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, {"a": 2, "b": 2, "c": 8, "d": 8, "e": 8}],
        [{"a": 1, "b": 1, "c": 7, "d": 7, "e": 7}, {"a": 2, "b": 2, "c": 1, "d": 1, "e": 1}],
        {"/*/a": {"mismatch": 1, "missing": 1, "extra": 1}, "/*/b": {"mismatch": 1, "missing": 1, "extra": 1},
         "/*/c": {"match": 1, "missing": 1, "extra": 1}, "/*/d": {"match": 1, "missing": 1, "extra": 1}, "/*/e": {"match": 1, "missing": 1, "extra": 1}},
    ),
    "an equal pair is split for two that are similar enough": (  # 3 + 3 leaves, and not 5 + 0
        JsonFields(defaults={**ORDER, "min_similarity": 0.5}),
        [{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, {"a": 1, "b": 1, "c": 1, "d": 2, "e": 2}],
        [{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, {"a": 3, "b": 3, "c": 1, "d": 1, "e": 1}],
        {"/*/a": {"match": 1, "mismatch": 1}, "/*/b": {"match": 1, "mismatch": 1}, "/*/c": {"match": 2}, "/*/d": {"match": 1, "mismatch": 1}, "/*/e": {"match": 1, "mismatch": 1}},
    ),
    "an equal pair is split for two whose parts are similar enough": (  # 2 + 2 leaves, and not 3 + 0
        JsonFields(fields={**ANY, "/*/*": {"min_similarity": 0.5}}), [{"t": [{"a": 1, "b": 1, "c": 1}]}, {"t": [{"a": 1, "b": 1, "c": 2}]}], [{"t": [{"a": 1, "b": 1, "c": 1}]}, {"t": [{"a": 3, "b": 1, "c": 1}]}],
        {"/*/t/*/a": {"match": 1, "mismatch": 1}, "/*/t/*/b": {"match": 2}, "/*/t/*/c": {"match": 1, "mismatch": 1}},
    ),
    "a tolerance elsewhere": (
        JsonFields(fields={"/*/price": {"tolerance": 0.01}}, defaults=ORDER), ["a", "b", {"price": 1}], ["a", "c", "b"],
        {"/*": {"match": 2, "missing": 1}, "/*/price": {"extra": 1}},
    ),
    # where a tolerance finds better ones, equal items are no pair
    "near beats equal": (NEAR, [10, 9], [10, 11], {"/*": {"match": 2}}),
    # items with schemas of their own keep their order, but for other alternatives and settings
    "own schemas": (JsonFields({"uniqueItems": True, "prefixItems": [{"type": "string"}]}), ["x", "a"], ["a", "x"], {"/*": {"mismatch": 2}}),
    # an array no item of which has the key keeps its order
    "a misspelt key": (JsonFields(fields={"": {"key": "skuu"}}), [{"sku": 1}, {"sku": 2}], [{"sku": 2}, {"sku": 1}], {"/*/sku": {"mismatch": 2}}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_items_are_paired(case):
    evaluator, output, reference, expected = CASES[case]
    assert counts(evaluator, output, reference) == expected


@pytest.mark.parametrize(
    ("options", "key", "expected"),
    [
        ({"defaults": {"coerce": True}}, "1", 1),
        ({"fields": {"/*/id": {"multiple_of": 1}}}, 1.2, 1),
        ({"fields": {"/*/id": {"similarity": 0.7}}}, "INV-1", "INV-l"),
        ({"fields": {"/*/id": {"compare": lambda a, b: a[0] == b[0]}}}, "a-1", "a-2"),
        ({"schema": {"items": {"properties": {"id": {"format": "date-time"}}}}}, "2024-01-06T11:00:00+01:00", "2024-01-06T10:00:00z"),
    ],
)  # fmt: skip
def test_keys_are_paired_where_they_match(options, key, expected):
    fields = {"": {"key": "id"}, **options.get("fields", {})}
    evaluator = JsonFields(options.get("schema"), fields, options.get("defaults", {}))
    output = [{"id": "z", "v": 0}, {"id": key, "v": 1}, {"v": 5}]
    reference = [{"v": 5}, {"id": expected, "v": 1}, {"id": "y", "v": 0}]
    found = counts(evaluator, output, reference)
    assert found["/*/v"] == {"match": 2, "missing": 1, "extra": 1}
    assert found["/*/id"] == {"match": 1, "missing": 1, "extra": 1}


# --- The best pairing ----------------------------------------------------------------------------


def matches(evaluator, output, reference):
    found = counts(evaluator, output, reference)
    return sum(each.get("match", 0) for each in found.values())


records_or_numbers = st.lists(
    st.integers(0, 8)
    | st.fixed_dictionaries(dict.fromkeys("ab", st.integers(0, 2)), optional={"c": st.booleans()}),
    min_size=1,
    max_size=4,
)


@law
@given(records_or_numbers, records_or_numbers)
def test_no_other_pairing_has_more_matches(output, reference):
    shorter, longer = sorted((output, reference), key=len)
    for rule in ({}, {"tolerance": 1}):
        in_place = JsonFields(fields={"/*": rule})
        best = max(
            matches(in_place, [*chosen], shorter) for chosen in permutations(longer, len(shorter))
        )
        assert matches(JsonFields(fields={**ANY, "/*": rule}), output, reference) == best


# --- No order has a say --------------------------------------------------------------------------


def same_letter(one, other):
    return 0.5 * (str(one).lower() == str(other).lower()) + 0.5 * (one == other)


RULES = {
    "plain": {},
    "members ignored": {"fields": {"/*/a": {"ignore": True}, "/*/tags/*/a": {"ignore": True}}},
    "near": {"defaults": {"tolerance": 1}},
    "similar": {"defaults": {"similarity": 0.5}},
    "a function": {"defaults": {"compare": same_letter, "ignore_case": True, "similarity": 0.5}},
    "weights": {"fields": {"/*/a": {"weight": 0.1}, "/*/b": {"weight": 0.7}, "/*/tags/*": {"weight": 0.2}}},
    "by position inside": {"schema": {"items": {"properties": {"tags": {"prefixItems": [{"uniqueItems": True}]}}}}},
}  # fmt: skip

leaves = st.sampled_from([0, 1, 1.0, 2, 3.5, "1", "a", "A", "ab", "aB", "b", True, None])
inner = st.lists(leaves | st.lists(leaves, max_size=2), max_size=3)
items = (
    leaves
    | inner
    | st.fixed_dictionaries({}, optional={"a": leaves, "b": leaves, "tags": inner, "id": leaves})
    | clashing
)
arrays = st.lists(items, max_size=4)


def figures(evaluator, output, reference):
    """Give what no order of items may change."""
    result = evaluator(output, reference)
    leaves = ("matched", "output_leaves", "reference_leaves")
    return result.score, result.passed, *(result.metadata[name] for name in leaves)


def in_another_order(value, choose):
    """Shuffle arrays, also those inside."""
    if isinstance(value, dict):
        return {name: in_another_order(part, choose) for name, part in value.items()}
    if isinstance(value, list):
        return choose.sample([in_another_order(item, choose) for item in value], len(value))
    return value


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("array", [ORDER, {"key": "id"}], ids=str)
def test_no_order_of_items_has_a_say(rule, array):
    options = RULES[rule]
    inside = {} if rule == "by position inside" else ORDER
    defaults = {**inside, **options.get("defaults", {})}
    evaluator = JsonFields(
        options.get("schema"), {"": array, **options.get("fields", {})}, defaults
    )

    @few
    @given(arrays, arrays, st.randoms())
    @example([0, 0, "1"], [1, 1.0], random.Random(1))
    @example([0, 0, "1"], [1, 1.0], random.Random(2))
    def check(output, reference, choose):
        is_keyed = any(
            type(each) is dict and each.get("id") is not None for each in output + reference
        )
        if "key" in array and not is_keyed:
            return
        before = figures(evaluator, output, reference)
        if rule == "by position inside":
            choose.shuffle(output)
            choose.shuffle(reference)
        else:
            output, reference = (in_another_order(each, choose) for each in (output, reference))
        assert figures(evaluator, output, reference) == before

    check()


# --- Many items ----------------------------------------------------------------------------------


def test_what_is_in_items_with_a_key_that_may_be_off_counts_as_pairs_to_be_tried():
    reference = [
        {"name": f"name {n:03} of the item", "lines": [{"s": s, "p": n} for s in range(60)]}
        for n in range(100)
    ]
    output = [
        {"name": f"{item['name']}s", "lines": [{"s": line["s"], "p": -1} for line in item["lines"]]}
        for item in reference
    ]
    fields = {"": {"key": "name"}, "/*/lines": ORDER, "/*/name": {"similarity": 0.9}}
    with at_most(4):
        result = JsonFields(fields=fields)(output[::-1], reference)
    assert "" in result.metadata["limit_reached"]
    assert result.score == pytest.approx(0.5, abs=0.01)  # each with its own, which is the nearest


def test_keys_of_many_items_are_compared_within_the_limit():
    names = [f"name {n:04} of the item" for n in range(1_000)]
    by_name = {"key": "name"}
    items = [{"name": n} for n in range(12_000)]
    with at_most(2):
        assert JsonFields(fields={"": by_name})(items[::-1], items).passed
    near = JsonFields(fields={"": by_name, "/*/name": {"similarity": 0.9}})
    with at_most(4):
        result = near(
            [{"name": f"{name}s"} for name in names[::-1]], [{"name": name} for name in names]
        )
        assert (result.passed, result.metadata["limit_reached"]) == (True, [""])
        inner = JsonFields(fields={"/*": by_name, "/*/*/name": {"similarity": 0.9}})
        pages = [[{"name": text.format(n)} for n in range(100)] for text in ("{}x", "{:08}") * 55]
        assert "" in inner(pages[::2], pages[1::2]).metadata["limit_reached"]


def test_parts_that_all_items_share_are_not_paired_again_for_every_pair():
    reference = [{"id": n, "tags": ["a", "b"]} for n in range(300)]
    with at_most(0.35):  # 0.6 s otherwise
        assert JsonFields()([{**item, "id": -1} for item in reference], reference).score > 0.6


@pytest.mark.parametrize("order", ["aligned", "any_order"])
def test_beyond_the_limit_items_are_paired_by_what_they_share(order):
    reference = [{"id": n, "name": f"name {n}", "lang": "en"} for n in range(400)]
    output = [
        {**item, "lang": "de"} if n % 3 else {**item, "id": -n} for n, item in enumerate(reference)
    ]
    output = output[1:] if order == "aligned" else output[::-1]
    with at_most(2):
        result = JsonFields(defaults={"order": order})(output, reference)
    assert result.metadata["limit_reached"] == [""]
    assert result.score == pytest.approx(2 / 3, abs=0.01)
    similar = {"order": order, "similarity": 0.5}
    texts, others = ([f"{n:04}{end}" for n in range(400)] for end in "xy")
    graded = JsonFields(defaults=similar)(texts, others)
    assert (graded.label, graded.metadata["limit_reached"]) == (None, [""])
    apart = JsonFields(defaults={**similar, "min_similarity": 0.9})
    assert counts(apart, texts, others) == {"/*": {"missing": 400, "extra": 400}}


def test_of_items_that_fit_as_well_the_earlier_are_pairs():
    result = EVERYWHERE([{"a": 1, "b": 2}, {"a": 1, "b": 3}], [{"a": 1, "b": 4}])
    assert [(each["pointer"], each["kind"]) for each in result.metadata["outcomes"]] == [
        ("/0/b", "mismatch"),
        ("/1/a", "extra"),
        ("/1/b", "extra"),
    ]
    outcomes = NEAR([2], [1, 2]).metadata["outcomes"]  # both are near enough, and one is equal
    assert [(each["pointer"], each["kind"]) for each in outcomes] == [("/0", "missing")]
