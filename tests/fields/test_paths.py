"""Paths of settings: which fields they name, and what the schema has no place for."""

import pytest

from llmeval_integrations import InvalidOptionError, JsonFields, JsonGrounded, ToolCalls, evaluate

LOOSE, EXACT = {"tolerance": 5}, {"tolerance": 0}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"/items/*/price": LOOSE}, {"/total"}),
        ({"/*": LOOSE}, set()),  # holds for all that is inside
        ({"": LOOSE}, set()),
        ({"/items/0/price": LOOSE}, {"/total", "/items/1/price"}),
        ({"/items/*/*": LOOSE, "/items/*/price": EXACT}, {"/total", "/items/0/price", "/items/1/price"}),
        # the longer path counts, of two as long the one with more names, then the later one
        ({"/*": LOOSE, "/items/*": LOOSE, "/*/*/*": EXACT}, {"/items/0/price", "/items/1/price"}),
        ({"/*/0/price": EXACT, "/*": LOOSE, "/*/*/price": LOOSE}, {"/items/0/price"}),
        ({"/items/*/price": EXACT, "/*/0/price": LOOSE, "": LOOSE}, {"/items/1/price"}),
    ],
)  # fmt: skip
def test_paths_name_fields_and_the_most_particular_one_counts(fields, wrong):
    output = {"total": 1.5, "items": [{"price": 1.5}, {"price": 2.5}]}
    reference = {"total": 1, "items": [{"price": 1}, {"price": 2}]}
    outcomes = JsonFields(fields=fields)(output, reference).metadata["outcomes"]
    assert {outcome["pointer"] for outcome in outcomes} == wrong


def test_an_order_is_that_of_one_array_where_it_is_set_and_of_all_by_default():
    document, other = {"a": [1, 2], "b": [[1, 2]]}, {"a": [2, 1], "b": [[2, 1]]}
    order = {"order": "any_order"}
    assert not JsonFields(fields={"": order})(document, other).passed
    assert JsonFields(fields={"/a": order, "/b/*": order})(document, other).passed
    assert not JsonFields(fields={"/a": order, "/b": order})(document, other).passed
    assert JsonFields(defaults=order)(document, other).passed


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"/l": {"order": "any_order"}, "/l/0/a": {"weight": 5}}, "whose order does not count"),
        ({"/l": {"key": "id"}, "/l/1": {"ignore": True}}, "whose order does not count"),
        ({"/a~2b": {}}, "is not a JSON Pointer"),
        ({"/**/price": {}}, r"'\*\*' is not supported; '\*' matches one name or position"),
        ({"price": {}}, "fields: 'price' is not a path such as '/items"),
    ],
)
def test_a_path_that_means_nothing_is_refused(fields, message):
    with pytest.raises(InvalidOptionError, match=message):
        JsonFields(fields=fields)


# --- Places of a schema --------------------------------------------------------------------------

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
TUPLE = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "array",
    "items": [LINE],
    "additionalItems": {"type": "string"},
}


@pytest.mark.parametrize(
    ("schema", "path", "message"),
    [
        (INVOICE, "/dat", "the schema has no '/dat'; did you mean '/date'?"),
        (INVOICE, "/a~1c", "the schema has no '/a~1c'; did you mean '/a~1b'?"),
        (INVOICE, "/lines/sku", r"the schema has no '/lines/sku'; did you mean '/lines/\*'\?$"),
        (INVOICE, "/lines/*/skuu", r"no '/lines/\*/skuu'; did you mean '/lines/\*/sku'"),
        (INVOICE, "/lines/01/sku", r"the schema has no '/lines/01'; did you mean '/lines/\*'"),
        (INVOICE, "/pair/2", r"no '/pair/2'; did you mean '/pair/\*'"),
        (INVOICE, "/two/2", "no '/two/2'"),
        (INVOICE, "/two/1/sku", "no '/two/1/sku'"),
        (INVOICE, "/by_id/x/cost", "no '/by_id/x/cost'.* there are /by_id/x/sku, /by_id/x/price"),
        (INVOICE, "/either/skuu", "did you mean '/either/sku'"),
        (INVOICE, "/both/mor", "did you mean '/both/more'"),
        (INVOICE, "/next/next/dat", "did you mean '/next/next/date'"),
        (TUPLE, "/1/sku", "no '/1/sku'"),
        ({"properties": {"b": {}}, "additionalProperties": False}, "/a", r"no '/a'; there are /b \(\"additional"),
    ],
)  # fmt: skip
def test_a_path_that_the_schema_has_no_place_for_is_named_with_the_nearest(schema, path, message):
    with pytest.raises(InvalidOptionError, match=message):
        JsonFields(schema, {path: {"ignore": True}})


def test_a_key_has_to_be_one_that_items_have():
    with pytest.raises(InvalidOptionError, match=r"no '/lines/\*/skuu'; did you mean '/lines/\*/s"):
        JsonFields(INVOICE, {"/lines": {"key": ["sku", "skuu"]}})
    JsonFields(INVOICE, {"/lines": {"key": "sku"}, "/any": {"key": "sku"}})
    JsonFields(INVOICE, {"/lines": {"order": "ordered", "key": None}})


def test_a_path_that_no_sample_of_a_run_has_is_named():
    met = ["/date", "/lines/*/price", "/lines", "/lines/0", "/*"]
    unmet = ["/dat", "/lines/*/prize", "/date/day", "/vendr"]
    settings = {path: {"weight": 2} for path in (*met, *unmet)}
    settings |= {"/vendr": {"ignore": True}, "/lines/*/id": {"ignore": True}}
    rows = [
        {"output": text, "reference": {"date": "x", "lines": [{"price": 1, "id": 2}]}}
        for text in ('{"date": "x"}', "{")
    ]
    figures = evaluate(rows, [JsonFields(fields=settings)]).summary["evaluators"]["json_fields"]
    assert figures["unmet_paths"] == unmet
    figures = evaluate(rows, [JsonFields()]).summary["evaluators"]["json_fields"]
    assert "unmet_paths" not in figures
    rows = [{"output": {"date": "x", "lines": [{"price": 1}]}, "input": "x"}]
    figures = evaluate(rows, [JsonGrounded(fields=settings)]).summary["evaluators"]["json_grounded"]
    assert figures["unmet_paths"] == unmet[:-1]  # the last is ignored


def test_a_path_of_arguments_that_no_call_of_a_run_has_is_named():
    met = ["weather/city", "*/city", "weather", "weather/days/n"]
    unmet = ["weather/cty", "wether/city", "*/days/m", "book/x"]
    settings = {path: {"weight": 2} for path in (*met, *unmet)}
    settings |= {path: {"ignore": True} for path in ("book/x", "weather/id", "*/days/unit")}
    given = {"city": "Rome", "days": {"n": 1, "unit": "h"}, "id": 7}
    call = {"name": "weather", "arguments": given}
    run = evaluate([{"output": call, "reference": call}], [ToolCalls(fields=settings)])
    assert run.summary["evaluators"]["tool_calls"]["unmet_paths"] == unmet


@pytest.mark.parametrize("as_adapter", [False, True])
def test_paths_of_a_model_are_aliases(as_adapter):
    pydantic = pytest.importorskip("pydantic")
    line = pydantic.create_model("Line", sku=(str, pydantic.Field(alias="SKU")))
    price = pydantic.Field(alias="unitPrice")
    model = pydantic.create_model("Bill", price=(float, price), lines=(list[line], ...))
    schema = pydantic.TypeAdapter(model) if as_adapter else model
    for fields in ({"/unitPric": {}}, {"/lines": {"key": "sku"}}, {"/lines/*/sku": {}}):
        with pytest.raises(InvalidOptionError, match="did you mean"):
            JsonFields(schema, fields)
    evaluator = JsonFields(schema, {"/unitPrice": {"tolerance": 0.1}, "/lines": {"key": "SKU"}})
    assert evaluator({"unitPrice": 1.05}, {"unitPrice": 1}).passed
