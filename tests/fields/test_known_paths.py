"""Paths of settings that the schema has no place for."""

import pytest

from llmeval_integrations import InvalidOptionError, JsonFields

LINE = {"type": "object", "properties": {"sku": {"type": "string"}, "price": {"type": "number"}}}
INVOICE = {
    "type": "object",
    "properties": {
        "date": {"type": "string"},
        "a/b": {"type": "string"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "pair": {"type": "array", "prefixItems": [LINE, {}], "items": False},
        "two": {"type": "array", "prefixItems": [LINE, {"type": "string"}], "maxItems": 2},
        "by_id": {"type": "object", "additionalProperties": LINE},
        "either": {"anyOf": [{"$ref": "#/$defs/Line"}, {"type": "null"}]},
        "both": {"allOf": [LINE, {"type": "object", "properties": {"more": {}}}]},
        "next": {"$ref": "#"},
        "any": {},
    },
    "$defs": {"Line": LINE},
}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/dat", "the schema has no '/dat'; did you mean '/date'?"),
        ("/a~1c", "the schema has no '/a~1c'; did you mean '/a~1b'?"),
        ("/date/year", "the schema has no '/date/year'"),
        ("/lines/sku", r"the schema has no '/lines/sku'; did you mean '/lines/\*'\?$"),
        ("/lines/*/skuu", r"no '/lines/\*/skuu'; did you mean '/lines/\*/sku'"),
        ("/lines/0/skuu", "no '/lines/0/skuu'; did you mean '/lines/0/sku'"),
        ("/lines/*/*/x", r"the schema has no '/lines/\*/\*/x'$"),
        ("/pair/0/skuu", "did you mean '/pair/0/sku'"),
        ("/pair/2", r"no '/pair/2'; did you mean '/pair/\*'"),
        ("/two/2", "no '/two/2'"),
        ("/two/1/sku", "no '/two/1/sku'"),
        ("/lines/01/sku", r"the schema has no '/lines/01'; did you mean '/lines/\*'"),
        ("/lines/\u00b2", "the schema has no '/lines/\u00b2'"),
        ("/by_id/x/cost", "no '/by_id/x/cost'; there are /by_id/x/sku, /by_id/x/price"),
        ("/either/skuu", "did you mean '/either/sku'"),
        ("/both/mor", "did you mean '/both/more'"),
        ("/next/next/dat", "did you mean '/next/next/date'"),
    ],
)
def test_a_path_that_the_schema_has_no_place_for_is_named_with_the_nearest(path, message):
    with pytest.raises(InvalidOptionError, match=message):
        JsonFields(INVOICE, {path: {"ignore": True}})


def test_so_is_one_beyond_a_tuple_of_an_older_draft():
    more = {"additionalItems": {"type": "string"}}
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [LINE], **more}  # fmt: skip
    JsonFields(schema, {"/0/sku": {"ignore": True}, "/7": {"ignore": True}})
    with pytest.raises(InvalidOptionError, match="no '/1/sku'"):
        JsonFields(schema, {"/1/sku": {"ignore": True}})


def test_so_is_a_key_that_no_item_has():
    with pytest.raises(
        InvalidOptionError, match=r"no '/lines/\*/skuu'; did you mean '/lines/\*/sku'"
    ):
        JsonFields(INVOICE, {"/lines": {"key": "skuu"}})
    JsonFields(INVOICE, {"/lines": {"key": "sku"}, "/any": {"key": "sku"}})
    JsonFields(INVOICE, {"/lines": {"order": "ordered", "key": None}})


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/date",
        "/a~1b",
        "/lines/*/sku",
        "/lines/3/sku",
        "/pair/0/sku",
        "/pair/1",
        "/pair/*/sku",
        "/two/1",
        "/by_id/x/sku",
        "/either/sku",
        "/both/sku",
        "/both/more/x",
        "/next/next/date",
        "/any/x/0/y",
        "/*/sku",
        "/*",
    ],
)
def test_a_path_that_it_may_have_is_none(path):
    JsonFields(INVOICE, {path: {"ignore": True}})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"properties": {"b": {}}},
        {"type": "object"},
        {"type": ["object", "null"]},
        {**LINE, "additionalProperties": True},
        {**LINE, "additionalProperties": {}},
        {**LINE, "patternProperties": {"^a": {}}},
        {**LINE, "unevaluatedProperties": True},
        {**LINE, "if": {"required": ["sku"]}, "then": {"properties": {"a": {}}}},
        {**LINE, "dependentSchemas": {"sku": {"properties": {"a": {}}}}},
        {**LINE, "$ref": "https://example.org/other"},
        {**LINE, "$ref": "#/nothing"},
        {**LINE, "allOf": [{"required": ["sku"]}]},
        {"anyOf": [LINE, True]},
        {"oneOf": [LINE, {"enum": [1]}]},
        {"$ref": "#/properties", "properties": {"properties": True}},
    ],
    ids=str,
)
def test_a_schema_that_does_not_say_all_has_any_path(schema):
    JsonFields(schema, {"/a": {"ignore": True}, "/a/x": {"key": "y"}})


def test_a_schema_that_lets_nothing_else_in_needs_no_type():
    with pytest.raises(InvalidOptionError, match=r"no '/a'; did you mean '/b'\? \(\"additional"):
        JsonFields({"properties": {"b": {}}, "additionalProperties": False}, {"/a": {}})


def test_a_samples_own_schema_need_not_have_all_paths():
    told = JsonFields(fields={"/dat": {"ignore": True}})
    assert told({"date": "x"}, {"date": "x"}, variables={"schema": INVOICE}).passed


@pytest.mark.parametrize("fields", [{"/totl": {}}, {"/lines": {"key": "sk"}}], ids=str)
@pytest.mark.parametrize("as_adapter", [False, True])
def test_a_slip_beside_a_model_is_refused(fields, as_adapter):
    pydantic = pytest.importorskip("pydantic")
    line = pydantic.create_model("Line", sku=(str, pydantic.Field(alias="SKU")))
    model = pydantic.create_model("Bill", total=(float, ...), lines=(list[line], ...))
    schema = pydantic.TypeAdapter(model) if as_adapter else model
    with pytest.raises(InvalidOptionError, match="did you mean"):
        JsonFields(schema, fields)
    for key in ("sku", "SKU"):
        JsonFields(schema, {"/total": {"tolerance": 0.1}, "/lines": {"key": key}})


def test_a_model_may_be_dumped_by_other_names():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("P", price=(float, pydantic.Field(alias="unitPrice")))
    told = JsonFields(model, {"/price": {"tolerance": 0.1}, "/unitPrice": {"tolerance": 0.1}})
    assert told({"unitPrice": 1.05}, model(unitPrice=1)).passed
    dumped = pydantic.Field(validation_alias="unitPrice", serialization_alias="cost")
    model = pydantic.create_model("P", price=(float, dumped))
    by_name = JsonFields(model, {"/price": {"tolerance": 0.1}})
    assert by_name({"price": 1.05}, model(unitPrice=1)).passed


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "object", "properties": {"a": {}}, "required": ["b"]}, "/b"),
        (
            {
                "type": "object",
                "properties": {
                    "c": {
                        "$id": "https://x/c",
                        "type": "object",
                        "properties": {"next": {"$ref": "#"}, "n": {}},
                    }
                },
            },
            "/c/next/n",
        ),
        ({"type": "object", "properties": {"*": {"type": "string"}, "l": LINE}}, "/*/sku"),
    ],
)
def test_what_is_named_elsewhere_is_there(schema, path):
    JsonFields(schema, {path: {"ignore": True}})


@pytest.mark.parametrize("path", ["/a~2b", "/a~", "/a/b~~0"])
def test_what_is_not_a_json_pointer_is_refused(path):
    with pytest.raises(InvalidOptionError, match="is not a JSON Pointer"):
        JsonFields(fields={path: {"ignore": True}})


@pytest.mark.parametrize("path", ["/**/price", "/items/**"])
def test_two_stars_for_any_depth_are_refused(path):
    with pytest.raises(InvalidOptionError, match=r"there is no '\*\*'; '\*' is any one name"):
        JsonFields(fields={path: {"ignore": True}})


def test_names_may_be_odd_or_empty():
    evaluator = JsonFields(fields={"/a/": {"ignore": True}, "/i[*]~1~01": {"ignore": True}})
    assert evaluator({"a": {"": 1}, "i[*]/~1": 1}, {"a": {"": 2}, "i[*]/~1": 2}).passed
