"""What the schemas of a place say of how its values are compared, and what defaults may add."""

import pytest
from one_field import passes

from llmeval_integrations import JsonFields
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.paths import read_overrides

MOMENT, SAME = "2024-01-05T10:00:00Z", "2024-01-05T11:00:00+01:00"
LOOSE = {"tolerance": 0.1, "relative_tolerance": 0.1, "multiple_of": 1, "similarity": 0.1}


@pytest.mark.parametrize(
    "schema",
    [
        {"const": 1},
        {"enum": [1, 1.0001]},
        {"type": "number", "enum": [1, 1.0001]},
        {"const": 1, "multipleOf": 0.5},
        {"anyOf": [{"const": 1}, {"type": "null"}]},
        {"type": "integer"},
    ],
    ids=str,
)
def test_numbers_that_the_schema_fixes_are_compared_exactly(schema):
    for defaults in (LOOSE, {"compare": lambda one, other: True}):
        assert not passes(schema, 1.0001, 1, defaults=defaults)
        assert passes(schema, 1.0, 1, defaults=defaults)
    assert passes(schema, 1.0001, 1, defaults=LOOSE, fields={"/a": {"tolerance": 0.1}})


def test_texts_that_the_schema_fixes_say_nothing_of_numbers_beside_them():
    decimal = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9.]+$"}]}
    for schema in (decimal, {"anyOf": [{"const": "auto"}, {"type": "number"}]}):
        assert passes(schema, 0.1 + 0.2, 0.3)
        assert passes(schema, 1.05, 1, defaults=LOOSE)
        assert not passes(schema, "1.05", "1", defaults=LOOSE)


def test_what_the_schema_fixes_is_no_address_by_default():
    assert not passes({"pattern": "@"}, "A@b.c", "a@b.c", defaults={"format": "email"})
    for fixed in ({"pattern": "@"}, {"enum": ["A@b.c", "a@b.c"]}, {"const": "a@b.c"}):
        assert not passes({**fixed, "format": "email"}, "A@b.c", "a@b.c")
    either = {"anyOf": [{"const": "auto"}, {"format": "date-time"}]}
    assert passes(either, "2024-01-05T10:00:00z", "2024-01-05T10:00:00Z")
    assert not passes(either, "Auto", "auto")
    assert passes({"format": "email"}, "A@b.c", "a@b.c")


# --- Defaults, which are for values ----------------------------------------------------------------


def test_what_is_left_out_by_default_is_not_what_is_named():
    evaluator = JsonFields(defaults={"ignore": True}, fields={"/a/*/x": {"ignore": False}})
    output = {"a": [{"x": 1, "y": 1}, {"x": 2, "y": 2}], "b": 1, "c": {"x": 1}}
    reference = {"a": [{"x": 1, "y": 3}, {"x": 3, "y": 3}], "b": 2, "c": {"x": 2}}
    result = evaluator(output, reference=reference)
    assert (result.score, result.passed) == (0.5, False)
    assert result.metadata["fields"] == {"/a/*/x": {"match": 1, "mismatch": 1}}
    assert not evaluator({}, reference=reference).passed
    assert evaluator({"b": 1}, reference={"b": 2}).passed
    one = JsonFields(defaults={"ignore": True}, fields={"/a": {"ignore": False}})
    assert not one({"a": 1}, reference={"a": 2}).passed
    told = JsonFields(fields={"/a": {"ignore": True}})
    assert told({"a": {"x": 1}}, reference={"a": {"x": 2}}).passed  # with all that is in it


def test_what_is_left_out_by_name_is_not_what_is_named_further_in():
    told = JsonFields(fields={"": {"ignore": True}, "/a/*/x": {"ignore": False}})
    output = {"a": [{"x": 1, "y": 1}, {"x": 2, "y": 2}], "b": 1}
    result = told(output, {"a": [{"x": 1, "y": 3}, {"x": 3, "y": 3}], "b": 2, "c": 1})
    assert result.metadata["fields"] == {"/a/*/x": {"match": 1, "mismatch": 1}}
    assert told({"b": 1}, {"b": 2}).passed


def test_what_is_put_to_a_judge_is_not_left_out_by_default():
    root = Field.root(None, read_overrides({}, ["/items/*/text"]), {"ignore": True})
    item = root.member("items").item(0)
    assert [item.member(name).rule.ignore for name in ("text", "price")] == [False, True]


def test_a_function_by_default_is_given_values_and_no_objects():
    seen = []

    def compare(output, reference):
        seen.append((output, reference))
        return output.lower() == reference.lower()

    evaluator = JsonFields(
        defaults={"compare": compare, "order": "any_order"},
        fields={"/exact": {"compare": None}, "/size": {"compare": lambda a, b: len(a) == len(b)}},
    )
    output = {"a": {"b": "X", "list": ["Q", []]}, "exact": "X", "size": {"y": 1}, "none": []}
    reference = {"a": {"b": "x", "list": [{}, "q"]}, "exact": "x", "size": {"z": 1}, "none": "x"}
    result = evaluator(output, reference=reference)
    assert result.metadata["fields"]["/a/b"] == {"match": 1}
    assert result.metadata["fields"]["/exact"] == {"mismatch": 1}
    assert result.metadata["fields"]["/size"] == {"match": 1}
    assert result.metadata["fields"]["/none"] == {"wrong_type": 1}
    assert {type(value) for pair in seen for value in pair} == {str}


# --- References and members ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "follows"),
    [
        ("#moment", True),
        ("#/$defs/Moment", True),
        ("#/%24defs/Moment", True),
        ("http://e.com/invoice#moment", True),
        ("http://e.com/invoice#/$defs/Moment", True),
        ("#/$defs/List/prefixItems/1", True),
        ("#nothing", False),
        ("#/$defs/Nothing", False),
        ("#/$defs/List/prefixItems/9", False),
        (f"#/$defs/List/prefixItems/{'1' * 5_000}", False),
        ("http://e.com/order#moment", False),
        ("moment", False),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.parametrize("end", ["", "#"])
def test_a_reference_leads_to_a_schema_of_the_document_or_says_nothing(reference, follows, end):
    schema = {
        "$id": f"http://e.com/invoice{end}",
        "format": "email",
        "properties": {"a": {"$ref": reference}},
        "$defs": {
            "Moment": {"$anchor": "moment", "format": "date-time"},
            "List": {"prefixItems": [{}, {"format": "date-time"}]},
        },
    }
    evaluator = JsonFields(schema)
    assert evaluator({"a": SAME}, reference={"a": MOMENT}).passed is follows
    assert not evaluator({"a": "A@b.c"}, reference={"a": "a@b.c"}).passed  # not the whole schema's


@pytest.mark.parametrize(
    ("reference", "draft"),
    [({"$dynamicRef": "#tree"}, "2020-12"), ({"$recursiveRef": "#"}, "2019-09")],
    ids=str,
)
def test_a_reference_to_what_extends_a_schema_is_followed(reference, draft):
    tree = {
        "$schema": f"https://json-schema.org/draft/{draft}/schema",
        **({"$dynamicAnchor": "tree"} if draft == "2020-12" else {"$recursiveAnchor": True}),
        "properties": {"at": {"format": "date-time"}, "next": reference},
    }
    assert JsonFields(tree)({"next": {"at": SAME}}, reference={"next": {"at": MOMENT}}).passed


@pytest.mark.parametrize("reference", ["#", "http://e.com/tree", "http://e.com/tree#"])
def test_the_document_may_be_meant_by_its_own_address(reference):
    tree = {
        "$id": "http://e.com/tree",
        "properties": {"at": {"format": "date-time"}, "next": {"$ref": reference}},
    }
    assert JsonFields(tree)(
        {"next": {"next": {"at": SAME}}}, reference={"next": {"next": {"at": MOMENT}}}
    ).passed


def test_a_member_has_the_schemas_of_its_name_and_of_its_patterns():
    schema = {
        "properties": {"on_day": {"type": "string"}, "x": {}},
        "patternProperties": {"^on_": {"format": "date-time"}},
        "additionalProperties": {"format": "email"},
    }
    evaluator = JsonFields(schema)
    assert evaluator(
        {"on_day": SAME, "y": "A@b.c"}, reference={"on_day": MOMENT, "y": "a@b.c"}
    ).passed
    assert not evaluator({"x": "A@b.c"}, reference={"x": "a@b.c"}).passed
    assert not evaluator({"on_y": "A@b.c"}, reference={"on_y": "a@b.c"}).passed
