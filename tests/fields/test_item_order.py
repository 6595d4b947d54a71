"""Items in any order: which are paired, by what their fields mean, and that no order has a say."""

import random
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import few, seconds
from pace import at_most

from llmeval_integrations import InvalidOptionError, JsonFields

ANY = {"": {"order": "any_order"}}


def same_letter(one, other):
    return 0.5 * (str(one).lower() == str(other).lower()) + 0.5 * (one == other)


RULES = {
    "plain": {},
    "items ignored": {"fields": {"/*/tags/*": {"ignore": True}}},
    "members ignored": {"fields": {"/*/a": {"ignore": True}, "/*/tags/*/a": {"ignore": True}}},
    "an array ignored": {"fields": {"/*/*": {"ignore": True}}},
    "case": {"defaults": {"ignore_case": True}},
    "near": {"defaults": {"tolerance": 1}},
    "coerced": {"defaults": {"coerce": True}},
    "a grid": {"defaults": {"multiple_of": 2}},
    "similar": {"defaults": {"similarity": 0.5}},
    "a function": {"defaults": {"compare": same_letter, "ignore_case": True, "similarity": 0.5}},
    "weights": {"fields": {"/*/a": {"weight": 0.1}, "/*/b": {"weight": 0.7}, "/*/tags/*": {"weight": 0.2}}},
    "no weight": {"fields": {"/*/a": {"weight": 0}, "/*/b": {"weight": 0}}},
    "by position inside": {"schema": {"items": {"properties": {"tags": {"prefixItems": [{"uniqueItems": True}]}}}}},
}  # fmt: skip

leaves = st.sampled_from([0, 1, 1.0, 2, 3.5, "1", "a", "A", "ab", "aB", "b", True, None])
inner = st.lists(leaves | st.lists(leaves, max_size=2), max_size=3)
items = (
    leaves
    | inner
    | st.fixed_dictionaries({}, optional={"a": leaves, "b": leaves, "tags": inner, "id": leaves})
)
arrays = st.lists(items, max_size=4)


def told(evaluator, output, reference):
    """Give what no order of items may change."""
    result = evaluator(output, reference)
    wrong = sorted(
        (each["field"], each["kind"], each.get("score", 0)) for each in result.metadata["outcomes"]
    )
    return result.score, result.passed, result.label, result.metadata["fields"], wrong


def in_another_order(value, choose):
    """Shuffle arrays, also those inside."""
    if isinstance(value, dict):
        return {name: in_another_order(part, choose) for name, part in value.items()}
    if isinstance(value, list):
        return choose.sample([in_another_order(item, choose) for item in value], len(value))
    return value


def evaluator_for(rule, array_settings):
    options = RULES[rule]
    fields = {"": array_settings, **options.get("fields", {})}
    inside = {} if rule == "by position inside" else {"order": "any_order"}
    defaults = {**inside, **options.get("defaults", {})}
    return JsonFields(options.get("schema"), fields, defaults)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("array_settings", [{"order": "any_order"}, {"key": "id"}], ids=str)
def test_no_order_of_items_has_a_say(rule, array_settings):
    evaluator = evaluator_for(rule, array_settings)

    @few
    @given(arrays, arrays, st.randoms())
    def check(output, reference, choose):
        is_keyed = any(type(item) is dict and "id" in item for item in output + reference)
        before = told(evaluator, output, reference)
        if "key" in array_settings and not is_keyed:
            return
        if rule == "by position inside":
            choose.shuffle(output)
            choose.shuffle(reference)
        else:
            output, reference = (in_another_order(each, choose) for each in (output, reference))
        assert told(evaluator, output, reference) == before

    check()


@pytest.mark.parametrize("fields", [{"/*/*": {"ignore": True}}, {"/*/a": {"ignore": True}}])
def test_what_is_ignored_is_no_empty_array_or_object(fields):
    evaluator = JsonFields(fields={**ANY, **fields})
    values = [[], [1], [2], {}, {"a": 1}, {"a": 2}]
    for output, reference in product(product(values, repeat=2), repeat=2):
        scores = {
            evaluator([*one], [*other]).score
            for one, other in product(permutations(output), permutations(reference))
        }
        assert len(scores) == 1, (output, reference)


def test_no_order_changes_the_last_digit_of_a_score():
    weights = {"a": 0.1, "b": 0.7, "c": 0.3}
    settings = {f"/*/{name}": {"weight": weight} for name, weight in weights.items()}
    evaluator = JsonFields(fields={**ANY, **settings})
    choose = random.Random(1)
    for _ in range(30):
        reference = [{name: choose.random() for name in weights} for _ in range(6)]
        output = [{**each, choose.choice("abc"): 2} for each in reference]
        scores = {evaluator(choose.sample(output, 6), reference).score for _ in range(10)}
        assert len(scores) == 1


@pytest.mark.parametrize(
    ("options", "key", "expected"),
    [
        ({"defaults": {"coerce": True}}, "1", 1),
        ({"defaults": {"coerce": True}}, True, " TRUE"),
        ({"fields": {"/*/id": {"multiple_of": 1}}}, 1.2, 1),
        ({"fields": {"/*/id": {"tolerance": 1}}}, 6, 7),
        ({"fields": {"/*/id": {"similarity": 0.7}}}, "INV-1", "INV-l"),
        ({"fields": {"/*/id": {"compare": lambda a, b: a[0] == b[0]}}}, "a-1", "a-2"),
        ({"schema": {"items": {"properties": {"id": {"type": "number"}}}}}, 0.1 + 0.2, 0.3),
        ({"fields": {"/*/id": {"coerce": True, "weight": 0}}}, 1, "1"),
    ],
)
def test_keys_are_paired_where_they_match(options, key, expected):
    fields = {"": {"key": "id"}, **options.get("fields", {})}
    evaluator = JsonFields(options.get("schema"), fields, options.get("defaults", {}))
    output = [{"id": "z", "v": 0}, {"id": key, "v": 1}, {"v": 5}]
    reference = [{"v": 5}, {"id": expected, "v": 1}, {"id": "y", "v": 0}]
    counts = evaluator(output, reference).metadata["fields"]
    assert counts["/*/v"] == {"match": 2, "missing": 1, "extra": 1}
    assert counts["/*/id"] == {"match": 1, "missing": 1, "extra": 1}


def test_the_same_key_is_taken_before_one_that_matches():
    near = JsonFields(fields={"": {"key": "id"}, "/*/id": {"tolerance": 1}})
    output = [{"id": 10, "v": "a"}, {"id": 11, "v": "b"}]
    assert near(output, [{"id": 12, "v": "b"}, {"id": 10.0, "v": "a"}]).passed
    coerced = JsonFields(fields={"": {"key": "id"}}, defaults={"coerce": True})
    output = [{"id": 1, "v": 1}, {"id": "1", "v": 2}]
    assert coerced(output, [{"id": "1", "v": 2}, {"id": 1, "v": 1}]).passed
    assert coerced(output, [{"id": "1", "v": 1}]).metadata["fields"]["/*/v"] == {
        "mismatch": 1,
        "extra": 1,
    }


def test_too_many_keys_to_be_tried_are_named():
    output, reference = ([{"id": n + off} for n in range(317)] for off in (0.0, 300.25))
    near = JsonFields(fields={"": {"key": "id"}, "/*/id": {"tolerance": 0.5}})
    assert near(output, reference).metadata["limit_reached"] == [""]
    numbers = [{"id": n} for n in range(1_000)]
    texts = [{"id": str(n)} for n in reversed(range(1_000))]
    assert JsonFields(fields={"": {"key": "id"}}, defaults={"coerce": True})(numbers, texts).passed


def test_what_is_in_items_with_a_key_that_may_be_off_counts_as_pairs_to_be_tried():
    reference = [
        {"name": f"name {n:03} of the item", "lines": [{"s": s, "p": n} for s in range(60)]}
        for n in range(100)
    ]
    output = [
        {"name": f"{item['name']}s", "lines": [{"s": line["s"], "p": -1} for line in item["lines"]]}
        for item in reference
    ]
    fields = {"": {"key": "name"}, "/*/lines": {"order": "any_order"}}
    near = JsonFields(fields={**fields, "/*/name": {"similarity": 0.9}})
    with at_most(4):
        result = near(output[::-1], reference)
    assert "" in result.metadata["limit_reached"]
    assert result.score == pytest.approx(0.5, abs=0.01)  # each with its own, which is the nearest


def test_a_function_is_given_texts_as_they_are_while_items_are_paired():
    options = {"ignore_case": True, "compare": lambda one, other: float(one == other)}
    evaluator = JsonFields(fields=ANY, defaults=options)
    assert evaluator(["a"], ["A", "a"]).metadata["fields"] == {"/*": {"match": 1, "missing": 1}}
    assert evaluator(["A", "a"], ["A"]).score == evaluator(["a", "A"], ["A"]).score == 0.5


def test_items_are_a_pair_by_what_has_no_weight():
    evaluator = JsonFields(fields={**ANY, "/*/id": {"weight": 0}})
    output, reference = (
        [{"id": 1, "v": 2}, {"id": 2, "v": 5}],
        [{"id": 2, "v": 6}, {"id": 1, "v": 3}],
    )
    assert evaluator(output, reference).metadata["fields"] == {
        "/*/id": {"match": 2},
        "/*/v": {"mismatch": 2},
    }
    heavier = [{"id": 9, "v": 3}, {"id": 1, "v": 6}]  # what has a weight comes first
    assert evaluator(heavier, reference).score == 1


def levels(deep, leaf):
    choose = random.Random(1)
    value = [{"id": leaf}]
    for _ in range(deep):
        others = [{"id": choose.randrange(10**6), "n": "x"} for _ in range(4_000 // deep)]
        value = [*others, value]
    return value


@pytest.mark.once
def test_the_depth_of_nested_arrays_costs_no_square():
    evaluator = JsonFields(defaults={"order": "any_order"})
    flat = seconds(evaluator, levels(10, 1), levels(10, 2))
    deep = seconds(evaluator, levels(80, 1), levels(80, 2))
    assert deep < 16 * flat  # some 6 times, where each level took as long again 20


def test_long_texts_count_as_several_pairs():
    choose = random.Random(1)
    output, reference = (
        ["".join(choose.choices("abcdefghij ", k=5_000)) for _ in range(50)] for _ in range(2)
    )
    evaluator = JsonFields(fields={"": {"order": "any_order", "similarity": 0.5}})
    assert evaluator(output, reference).metadata["limit_reached"] == [""]
    assert "limit_reached" not in evaluator(output[:9], reference[:9]).metadata


def test_items_that_mean_the_same_are_told_apart_whatever_their_order():
    amount = {"anyOf": [{"type": "number"}, {"type": "string"}]}
    schema = {"properties": {"lines": {"items": {"properties": {"amount": amount}}}}}
    evaluator = JsonFields(schema, {"": {"order": "any_order"}, "/lines": {"order": "any_order"}})
    short, long = {"amount": 2, "tags": ["x"]}, {"amount": "2", "tags": ["x"]}
    found = [
        told(evaluator, {"lines": lines}, {"lines": [{"amount": 3, "tags": ["x"]}]})
        for lines in ([short, long], [long, short])
    ]
    assert found[0] == found[1]


def test_of_items_that_are_written_alike_the_last_is_left_over():
    evaluator = JsonFields(fields={"/l": {"order": "any_order", "ignore_case": True}})
    assert evaluator({"l": ["a", "a", "a"]}, {"l": ["a", "a"]}).reason == "/l/2 extra"
    assert evaluator({"l": ["a", "b"]}, {"l": ["a", "b", "b", "B"]}).reason == (
        "/l/2 missing; /l/3 missing"
    )


def test_wrong_values_that_mean_the_same_hang_on_no_order():
    evaluator = JsonFields(defaults={"order": "any_order", "ignore_case": True})
    items = [
        {"k": 1, "n": "Ann", "v": [1, ["b", "a"]]},
        {"k": 1, "n": "ann", "v": [["A", "b"], 1]},
    ]
    found = set()
    for output in permutations(items):
        for flipped in (output, [{**each, "v": each["v"][::-1]} for each in output]):
            outcomes = evaluator(flipped, [{"k": 1, "n": "Bob", "v": []}]).metadata["outcomes"]
            found.add(repr([each["output"] for each in outcomes if each["kind"] == "mismatch"]))
    assert len(found) == 1


def test_items_with_schemas_of_their_own_keep_their_order():
    first = {"uniqueItems": True, "prefixItems": [{"type": "string", "format": "email"}]}
    evaluator = JsonFields(first)
    assert evaluator(["A@b.c", "x"], ["a@b.c", "x"]).passed
    assert not evaluator(["x", "a@b.c"], ["a@b.c", "x"]).passed
    for options in ({"fields": ANY}, {"defaults": {"order": "any_order"}}):
        assert JsonFields(first, **options)(["x", "a@b.c"], ["a@b.c", "x"]).passed
    together = {"allOf": [{"uniqueItems": True}, {"prefixItems": [{}]}]}
    assert not JsonFields(together)([2, 1], [1, 2]).passed


def test_items_with_schemas_of_their_own_are_nothing_to_another_alternative():
    pair = {"type": "array", "prefixItems": [{}, {}]}
    evaluator = JsonFields({"anyOf": [pair, {"type": "array", "uniqueItems": True}]})
    assert evaluator([2, 1], [1, 2]).passed


@pytest.mark.parametrize(
    "fields",
    [
        {"/l": {"order": "any_order"}, "/l/0/a": {"weight": 5}},
        {"/l": {"key": "id"}, "/l/1": {"ignore": True}},
        {"/*/l": {"order": "any_order"}, "/*/l/0": {"weight": 5}},
        {"": {"order": "any_order"}, "/0": {"weight": 5}},
    ],
    ids=str,
)
def test_a_setting_for_a_position_needs_an_order(fields):
    with pytest.raises(InvalidOptionError, match="whose order does not count"):
        JsonFields(fields=fields)


ITEMS = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
BY_YEAR = {"properties": {"years": {"properties": {"2024": {"type": "number"}}}, "tags": ITEMS}}


@pytest.mark.parametrize(
    "options",
    [
        {"schema": BY_YEAR, "fields": {"/*/2024": {"tolerance": 1}}},
        {"schema": BY_YEAR, "fields": {"/*": {"order": "any_order"}, "/years/2024": {"weight": 2}}},
        {"fields": {"/*/2024": {"tolerance": 1}}, "defaults": {"order": "any_order"}},
        {"fields": {"/tags": {"order": "any_order"}, "/*/0": {"weight": 5}}},
    ],
    ids=str,
)
def test_names_of_digits_are_no_positions(options):
    output, reference = ({"tags": tags, "years": {"2024": 1}} for tags in (["a", "b"], ["b", "a"]))
    assert JsonFields(**options)(output, reference).score == 1


@pytest.mark.once
def test_many_settings_for_positions_take_no_time():
    few, many = ({f"/{n}/a": {"weight": 2} for n in range(size)} for size in (200, 800))
    assert seconds(JsonFields, None, many) < 12 * seconds(JsonFields, None, few) + 0.01
    evaluator = JsonFields(fields=many)
    assert evaluator([{"a": 1}, {"a": 1}], [{"a": 1}, {"a": 2}]).score == 0.5


def test_a_similarity_of_0_pairs_what_has_nothing_in_common():
    evaluator = JsonFields(defaults={"order": "any_order", "similarity": 0})
    result = evaluator(["abc"], ["xyz"])
    assert (result.passed, result.metadata["fields"]) == (True, {"/*": {"match": 1}})
