"""Which fields of an extraction are right."""

import json
from typing import Literal

import pytest
from hypothesis import given
from json_strategies import clashing, law
from pace import at_most

from llmeval_integrations import (
    InvalidOptionError,
    InvalidReferenceError,
    InvalidSchemaError,
    JsonEquality,
    JsonFields,
    JsonMatch,
    MissingFieldError,
    Sample,
)

INVOICE = {"id": "INV-2024-001", "vendor": "Harbour Ltd", "total": 12.5, "paid": True, "note": None}


def kinds(result):
    """Give the differences as `{pointer: kind}`."""
    return {
        outcome["pointer"]: outcome["kind"]
        for outcome in result.metadata["outcomes"]
        if outcome["kind"] != "match"
    }


@pytest.mark.parametrize(
    ("changes", "outcomes", "score"),
    [
        ({}, {}, 1.0),
        ({"id": "INV-2024-002"}, {"/id": "mismatch"}, 0.8),
        ({"vendor": "harbour ltd"}, {"/vendor": "mismatch"}, 0.8),
        ({"total": "12.5"}, {"/total": "wrong_type"}, 0.8),
        ({"paid": 1}, {"/paid": "wrong_type"}, 0.8),
        ({"note": ""}, {"/note": "wrong_type"}, 0.8),
        ({"more": 1}, {"/more": "extra"}, 5 / 6),
        ({"more": {"a": 1, "b": [2, 3]}}, {"/more/a": "extra", "/more/b/0": "extra", "/more/b/1": "extra"}, 5 / 8),
        ({"vendor": {"name": "Harbour Ltd"}}, {"/vendor": "wrong_type", "/vendor/name": "extra"}, 4 / 6),
        ({"total": 12.50}, {}, 1.0),
    ],
)  # fmt: skip
def test_each_leaf_ends_as_one_of_five_kinds(changes, outcomes, score):
    result = JsonFields()({**INVOICE, **changes}, INVOICE)
    assert kinds(result) == outcomes
    assert result.score == pytest.approx(score)
    assert result.passed is result.metadata["perfect"] is (not outcomes)


def test_what_the_output_lacks_is_missing_and_null_is_not():
    assert kinds(JsonFields()({}, {"a": None, "b": {"c": 1}})) == {
        "/a": "missing",
        "/b/c": "missing",
    }
    assert kinds(JsonFields()({"a": None}, {"a": None})) == {}


def test_outcomes_hold_both_values_and_where_they_are():
    output = {"items": [{"sku": "a/b", "price": 1}, {"sku": "c"}]}
    reference = {"items": [{"sku": "a/b", "price": 2}]}
    result = JsonFields()(output, reference)
    assert result.metadata["outcomes"] == [
        {"pointer": "/items/0/price", "field": "/items/*/price", "kind": "mismatch", "output": 1, "reference": 2},
        {"pointer": "/items/1/sku", "field": "/items/*/sku", "kind": "extra", "output": "c", "within": "/items/1"},
    ]  # fmt: skip
    assert result.metadata["fields"] == {
        "/items/*/sku": {"match": 1, "extra": 1},
        "/items/*/price": {"mismatch": 1},
    }
    assert result.reason == "/items/0/price 1, expected 2; /items/1 extra"
    assert result.label == "mismatch"


def test_the_figures_follow_their_definitions():
    # the values of the output: a, b, x; of the reference: a, b, c, d; pairs: a, b; matches: a
    result = JsonFields()({"a": 1, "b": "2", "x": 5}, {"a": 1, "b": 2, "c": 3, "d": 4})
    expected = {
        "precision": 1 / 3,
        "recall": 1 / 4,
        "f1": 2 / 7,
        "path_precision": 2 / 3,
        "path_recall": 2 / 4,
        "path_f1": 4 / 7,
        "value_accuracy": 1 / 2,
        "type_accuracy": 1 / 2,
    }
    assert {name: result.metadata[name] for name in expected} == expected
    assert result.score == 1 / 5


def test_empty_objects_and_arrays_count_for_the_score_and_are_no_values():
    result = JsonFields()({"a": 1, "tags": []}, {"a": 1, "tags": [], "more": {}})
    assert kinds(result) == {"/more": "missing"}
    assert result.score == 2 / 3
    assert result.metadata["recall"] == result.metadata["path_recall"] == 1.0
    only_empty = JsonFields()({}, {})
    assert (only_empty.score, only_empty.passed) == (1.0, True)
    assert only_empty.metadata["precision"] is None
    for output, reference in (({}, []), ([], 1), ("x", {}), ([1], {})):
        assert not JsonFields()({"a": output}, {"a": reference}).passed


@law
@given(clashing, clashing)
def test_perfect_is_what_is_the_same_json(one, other):
    result = JsonFields()(json.dumps(one), json.dumps(other))
    assert result.passed is JsonEquality()(json.dumps(one), json.dumps(other)).passed
    assert 0 <= result.score <= 1
    assert JsonFields()(json.dumps(one), json.dumps(one)).score == 1.0
    turned = JsonFields()(json.dumps(other), json.dumps(one))
    assert turned.score == pytest.approx(result.score)
    assert turned.metadata["recall"] == result.metadata["precision"]


# --- What a schema says --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "reference", "same", "other"),
    [
        ({"format": "date"}, "2024-01-05", [], ["2024-1-5", "2024-01-05T00:00:00Z", "2024-01-06"]),
        (
            {"format": "date-time"},
            "2024-01-05T10:00:00Z",
            ["2024-01-05T11:00:00+01:00", "2024-01-05t10:00:00.000z", "2024-01-05 10:00:00+00:00"],
            ["2024-01-05T10:00:00", "2024-01-05T10:00:01Z", "2024-01-05T10:00:00.5Z", "2024-01-05"],
        ),
        ({"format": "email"}, "ann@example.org", ["Ann@Example.ORG"], ["bob@example.org"]),
        (
            {"format": "uri"},
            "https://example.org/a%2fb",
            ["HTTPS://EXAMPLE.org:443/a%2fb"],
            ["http://example.org/a%2fb", "https://example.org/A%2fb", "https://example.org/a%2fb/"],
        ),
        ({"type": "number"}, 0.3, [0.1 + 0.2, 0.3000000000001], [0.30001, "0.3"]),
        ({"type": "number"}, 3, [3.0], [4, 3.1]),
        ({"type": "number"}, 10**12, [], [10**12 + 1]),
        ({"type": "number", "multipleOf": 0.01}, 12.34, [12.344, 12.3351], [12.35, 12.346]),
        ({"type": "integer"}, 3, [3.0], [4, 3.0000000001]),
        ({"type": ["integer", "null"]}, 3, [3.0], [None]),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, 0.3, [0.1 + 0.2], [None]),
        ({"$ref": "#/$defs/Moment"}, "2024-01-05T10:00:00Z", ["2024-01-05T10:00:00z"], ["x"]),
        ({"type": "array", "uniqueItems": True}, [1, 2, 3], [[3, 1, 2]], [[1, 2], [1, 2, 4]]),
        ({"type": "array"}, [1, 2, 3], [], [[3, 1, 2]]),
        ({"type": "string"}, "2024-01-05T10:00:00Z", [], ["2024-01-05T11:00:00+01:00"]),
    ],
)
def test_the_schema_says_how_values_are_compared(schema, reference, same, other):
    whole = {
        "type": "object",
        "properties": {"field": schema},
        "$defs": {"Moment": {"format": "date-time"}},
    }
    evaluator = JsonFields(schema=whole)
    for value in [reference, *same]:
        assert evaluator({"field": value}, {"field": reference}).passed, value
    for value in other:
        assert not evaluator({"field": value}, {"field": reference}).passed, value


@pytest.mark.parametrize(
    "keyword", [{"enum": ["A", "B"]}, {"const": "A"}, {"pattern": "^[A-Z]$"}], ids=str
)
def test_what_the_schema_fixes_is_compared_exactly_whatever_the_defaults_say(keyword):
    loose = {"ignore_case": True, "similarity": 0.1}
    schema = {"properties": {"code": keyword, "name": {"type": "string"}}}
    evaluator = JsonFields(schema=schema, defaults=loose)
    assert kinds(evaluator({"code": "a", "name": "ann"}, {"code": "A", "name": "Ann"})) == {
        "/code": "mismatch"
    }
    told = JsonFields(schema=schema, defaults=loose, fields={"/code": {"ignore_case": True}})
    assert told({"code": "a", "name": "ann"}, {"code": "A", "name": "Ann"}).passed


def test_schemas_of_members_by_pattern_and_of_items_by_position():
    schema = {
        "patternProperties": {"^on_": {"format": "date-time"}, "(a+)+$": {"type": "number"}},
        "additionalProperties": {"multipleOf": 0.5},
        "properties": {"pair": {"prefixItems": [{"format": "email"}], "items": {"type": "number"}}},
    }
    output = {"on_day": "2024-01-05T10:00:00z", "x": 1.1, "pair": ["A@b.c", 0.1 + 0.2, "A@b.c"]}
    reference = {"on_day": "2024-01-05T10:00:00Z", "x": 1.0, "pair": ["a@b.c", 0.3, "a@b.c"]}
    assert kinds(JsonFields(schema=schema)(output, reference)) == {"/pair/2": "mismatch"}


def test_a_schema_that_contains_itself_or_points_elsewhere_says_what_it_can():
    tree = {
        "properties": {"at": {"format": "date-time"}, "next": {"$ref": "#"}},
        "allOf": [{"$ref": "#"}],
    }
    moment, same = "2024-01-05T10:00:00Z", "2024-01-05T10:00:00z"
    assert JsonFields(schema=tree)(
        {"next": {"next": {"at": same}}}, {"next": {"next": {"at": moment}}}
    ).passed
    for elsewhere in (
        "http://127.0.0.1:9/x",
        "file:///etc/hostname",
        "#/no/such/place",
        "other.json",
    ):
        schema = {"properties": {"at": {"$ref": elsewhere}}}
        assert JsonFields(schema=schema)({"at": "x"}, {"at": "x"}).passed


def test_a_schema_may_be_text_or_a_pydantic_model_or_each_samples_own():
    schema = {"properties": {"at": {"type": "string", "format": "date-time"}}}
    moment, same = {"at": "2024-01-05T10:00:00Z"}, {"at": "2024-01-05T10:00:00+00:00"}
    assert JsonFields(schema=json.dumps(schema))(same, moment).passed
    assert not JsonFields()(same, moment).passed
    assert JsonFields()(same, moment, variables={"schema": schema}).passed
    assert JsonFields()(same, moment, variables={"schema": json.dumps(schema)}).passed
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model(
        "Entry", kind=(Literal["a", "b"], ...), price=(float, ...), name=(str, ...)
    )
    output = {"kind": "a", "price": 0.1 + 0.2, "name": "x"}
    assert JsonFields(schema=model)(output, {**output, "price": 0.3}).passed


# --- What is set for single fields ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "same", "other"),
    [
        ({"tolerance": 0.01}, [(12.5, 12.51), (12, 12.01)], [(12.5, 12.511), ("12.5", 12.5)]),
        ({"relative_tolerance": 0.1}, [(110, 100), (90.0, 100)], [(111, 100), (0.1, 0)]),
        ({"multiple_of": 5}, [(101, 100), (98, 100)], [(103, 100)]),
        ({"similarity": 0.9}, [("Harbour Ltd.", "Harbour Ltd")], [("Haven Ltd", "Harbour Ltd")]),
        ({"ignore_case": True}, [("STRASSE", "straße")], [("a ", "a")]),
        ({"ignore_whitespace": True}, [(" a\n b ", "a b")], [("ab", "a b"), ("A", "a")]),
        ({"normalize_unicode": True}, [("ﬁne e\u0301", "fine é")], [("E", "e")]),
        ({"format": "date-time"}, [("2024-01-05T10:00:00z", "2024-01-05T10:00:00Z")], [("x", "y")]),
        (
            {"coerce": True},
            [("3", 3), (3, "3.0"), ("true", True), (" False ", False), ("null", None)],
            [("3", True), ("three", 3), ("1e999", 3), ("NaN", 3), ("1_0", 10), ({}, "{}")],
        ),
        (
            {"coerce": True, "tolerance": 1},
            [("3.5", 3), ("1250.50", "1251"), ("+3", " 3.0 ")],
            [("5", 3), ("1250", "1251.5"), ("3", "three"), ("a", "A")],
        ),
        ({"coerce": True, "multiple_of": 5}, [("101", "100")], [("103", "100")]),
        pytest.param({"compare": lambda one, other: one[0] == other[0]}, [("ab", "ac")], [("bb", "ac")], id="a callable"),
        pytest.param({"compare": lambda one, other: 0.7, "similarity": 0.6}, [("x", {"y": 1})], [], id="a callable's score"),
        ({"ignore": True}, [("a", "b"), ({"x": 1}, [])], []),
    ],
    ids=str,
)  # fmt: skip
def test_settings_of_a_field(settings, same, other):
    evaluator = JsonFields(fields={"/a": settings})
    for output, reference in same:
        assert evaluator({"a": output}, {"a": reference}).passed, (output, reference)
        assert not JsonFields()({"a": output}, {"a": reference}).passed
    for output, reference in other:
        assert not evaluator({"a": output}, {"a": reference}).passed, (output, reference)


def test_a_schema_that_many_samples_bring_is_read_once():
    date = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}
    schema = {"properties": {f"p{number}": date for number in range(500)}}
    moments = dict.fromkeys(schema["properties"], "2024-01-05T10:00:00Z")
    text, variables = json.dumps(moments), {"schema": json.dumps(schema)}
    samples = [Sample(text, f"{text} ", variables=variables) for _ in range(200)]
    with at_most(0.5):
        assert all(result.passed for result in JsonFields().evaluate_many(samples))


def test_a_schema_that_changed_meanwhile_is_read_anew():
    schema = {"properties": {"a": {"type": "string", "format": "email"}}}
    sample = Sample({"a": "A@b.c"}, {"a": "a@b.c"}, variables={"schema": schema})
    evaluator = JsonFields()
    assert evaluator.evaluate(sample).passed
    del schema["properties"]["a"]["format"]
    assert not evaluator.evaluate(sample).passed


def test_a_similarity_is_the_score_and_nothing_below_its_threshold():
    evaluator = JsonFields(fields={"/a": {"similarity": 0.5}})
    result = evaluator({"a": "abcd"}, {"a": "abcx"})
    assert (result.score, result.passed) == (0.75, True)
    assert result.metadata["outcomes"][0]["score"] == 0.75
    assert evaluator({"a": "abcd"}, {"a": "axyz"}).score == 0.0


def test_identifiers_never_match_unless_they_are_told_to():
    one, other = {"id": "INV-2024-001"}, {"id": "INV-2024-002"}
    assert JsonFields()(one, other).score == 0.0
    assert JsonFields(fields={"/id": {"similarity": 0.9}})(one, other).passed


def test_weights_and_what_is_left_out():
    evaluator = JsonFields(fields={"/id": {"weight": 3}, "/note": {"ignore": True}})
    result = evaluator({"id": 1, "a": 2, "note": "x"}, {"id": 1, "a": 3, "note": "y"})
    assert result.score == 0.75
    assert "/note" not in result.metadata["fields"]
    assert JsonFields(fields={"/a": {"weight": 0}})({"a": 1}, {"a": 2}).passed is False


def test_the_most_costly_difference_is_named_first():
    result = JsonFields(fields={"/z": {"weight": 9}})({"a": 1, "z": 1}, {"a": 2, "z": 2})
    assert result.reason == "/z 1, expected 2; /a 1, expected 2"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"/items/*/price": {"tolerance": 1}}, {"/total"}),
        ({"/*": {"tolerance": 1}}, set()),  # holds for all that is inside
        ({"": {"tolerance": 1}}, set()),
        ({"/items/0/price": {"tolerance": 1}}, {"/total", "/items/1/price"}),
        ({"/items/*/*": {"tolerance": 1}, "/items/*/price": {"tolerance": 0}}, {"/total", "/items/0/price", "/items/1/price"}),
        ({"/items/*/price": {"tolerance": 0}, "/items/*/*": {"tolerance": 1}}, {"/total", "/items/0/price", "/items/1/price"}),
    ],
)  # fmt: skip
def test_paths_name_fields_and_the_most_particular_one_counts(fields, wrong):
    output = {"total": 1.5, "items": [{"price": 1.5}, {"price": 2.5}]}
    reference = {"total": 1, "items": [{"price": 1}, {"price": 2}]}
    assert kinds(JsonFields(fields=fields)(output, reference)).keys() == wrong


def test_a_path_is_escaped_as_in_a_json_pointer():
    evaluator = JsonFields(fields={"/a~1b/c~0d": {"ignore": True}})
    assert evaluator({"a/b": {"c~d": 1}}, {"a/b": {"c~d": 2}}).passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields": {"price": {}}}, "fields: 'price' is not a path such as '/items"),
        (
            {"fields": {"/a": {"tolerence": 1}}},
            r"fields\['/a'\]: 'tolerence' is not a setting; there are",
        ),
        ({"fields": {"/a": {"is_number": True}}}, "'is_number' is not a setting"),
        ({"fields": {"/a": 1}}, "is not a mapping of settings"),
        ({"fields": {"/a": {"similarity": 1.5}}}, "similarity=1.5 is not a number from 0 to 1"),
        (
            {"fields": {"/a": {"tolerance": -1}}},
            "tolerance=-1 is not a finite number of at least 0",
        ),
        ({"fields": {"/a": {"tolerance": None}}}, "tolerance=None is not a finite number"),
        ({"fields": {"/a": {"weight": float("nan")}}}, "weight=nan is not a finite number"),
        ({"fields": {"/a": {"multiple_of": 0}}}, "multiple_of=0 is not a number above 0"),
        ({"fields": {"/a": {"format": "iban"}}}, "format='iban' is not one of date"),
        ({"fields": {"/a": {"order": "random"}}}, "order='random' is not one of ordered"),
        ({"fields": {"/a": {"order": "by_key"}}}, "order='by_key' needs the key"),
        ({"fields": {"/a": {"key": ""}}}, "key='' is not the name of a member"),
        ({"fields": {"/a": {"compare": "equal"}}}, "compare='equal' is not a function"),
        ({"fields": {"/a": {"ignore": 1}}}, "ignore=1 is not True or False"),
        ({"fields": {"/a": {"judge": True}}}, "'judge' is not a setting"),
        ({"defaults": {"nonsense": 1}}, "defaults: 'nonsense' is not a setting"),
        ({"fields": []}, "fields"),
        ({"min_score": 2}, "min_score=2"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(InvalidOptionError, match=message):
        JsonFields(**options)


def test_bad_calls_raise():
    with pytest.raises(MissingFieldError):
        JsonFields()("{}")
    with pytest.raises(InvalidReferenceError):
        JsonFields()("{}", "{")
    with pytest.raises(InvalidSchemaError):
        JsonFields(schema="no schema")
    with pytest.raises(InvalidSchemaError):
        JsonFields()({}, {}, variables={"schema": "[1]"})
    told = JsonFields(fields={"/a": {"compare": lambda one, other: 2}})
    with pytest.raises(InvalidOptionError, match="compare returned 2"):
        told({"a": 1}, {"a": 2})


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"fields": {"/a/*/n": {"compare": lambda one, other: float(one) == other}}}, "fields['/a/*/n']"),
        ({"defaults": {"compare": lambda one, other: float(one) == other}}, "defaults, at '/a/*/n'"),
        ({"fields": {"/a": {"key": "n"}, "/a/*/n": {"compare": lambda one, other: float(one) == other}}}, "fields['/a/*/n']"),
    ],
    ids=["a field's", "the default", "a key's"],
)  # fmt: skip
def test_what_a_function_of_the_callers_raises_says_where_and_for_what(options, where):
    evaluator = JsonFields(**options)
    with pytest.raises(InvalidOptionError) as raised:
        evaluator({"a": [{"n": "1,250.50"}]}, {"a": [{"n": 1250.5}]})
    assert str(raised.value) == (
        f"{where}: compare raised ValueError: could not convert string to float: '1,250.50', "
        "for '1,250.50' and 1250.5"
    )
    assert isinstance(raised.value.__cause__, ValueError)


def test_an_output_that_is_no_json_misses_every_field():
    result = JsonFields()('{"id": ', INVOICE)
    assert (result.score, result.passed, result.label) == (0.0, False, "truncated")
    assert {outcome["kind"] for outcome in result.metadata["outcomes"]} == {"missing"}
    assert result.metadata["recall"] == 0.0
    assert result.metadata["precision"] is None
    assert len(result.metadata["fields"]) == len(INVOICE)


def test_a_lower_bar_can_be_set():
    result = JsonFields(min_score=0.8)({**INVOICE, "id": "x"}, INVOICE)
    assert (result.passed, result.metadata["perfect"]) == (True, False)


def test_many_names_of_a_models_own_making_take_no_memory_for_good():
    evaluator = JsonFields(fields={"/*": {"ignore_case": True}})
    for start in range(0, 120_000, 10_000):
        document = {f"name {number}": "x" for number in range(start, start + 10_000)}
        assert evaluator.evaluate(Sample(document, document)).passed
    assert len(vars(evaluator)["_layout"].root(Sample(1)).members) == 100_000


def test_a_name_costs_little_where_nothing_is_said_of_it():
    """Only the path is its own; how values are compared is worked out once for all such names."""
    schema = {"properties": {"id": {"type": "integer"}}, "additionalProperties": {"type": "number"}}
    root = vars(JsonFields(schema, fields={"/total": {"tolerance": 1}}))["_layout"].root(Sample(1))
    of_names = {name: root.member(name).rule for name in ("id", "total", "a", "b")}
    assert of_names["a"] is of_names["b"]
    assert of_names["a"].is_number
    assert not of_names["id"].is_number
    assert of_names["total"].tolerance == 1
    assert root.member("a").path == "/a"
    patterns = {"patternProperties": {"^n": {"type": "number"}}}
    root = vars(JsonFields(patterns))["_layout"].root(Sample(1))
    assert [root.member(name).rule.is_number for name in ("a", "n1", "b", "n2")] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        ({"a": None}, {"a": {"b": 1, "c": 2}}, '/a null, expected {"b":1,"c":2}'),
        ({"a": "x"}, {"a": ["x"]}, '/a "x", expected ["x"]'),
        ({"a": {"b": 1}}, {"a": None}, '/a {"b":1}, expected null'),
        ({}, {"a": {"b": 1, "c": 2}}, "/a missing (2 fields)"),
        ({"a\n\x1b[31m": 1}, {"a\n\x1b[31m": 2}, "/a\\n\\x1b[31m 1, expected 2"),
    ],
)
def test_the_reason_is_one_line_that_says_each_thing_once(output, reference, reason):
    assert JsonFields()(output, reference).reason == reason
    for evaluator in (JsonMatch(), JsonEquality()):
        assert "\x1b" not in evaluator(output, reference).reason
