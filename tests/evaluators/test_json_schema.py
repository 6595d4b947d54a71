"""Schemas: verdicts against the `jsonschema` package, nothing fetched, nothing hangs, graded score."""

import functools
import http.server
import json
import threading
import time
import tracemalloc
import typing
import urllib.request

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import (
    EvalError,
    InvalidOptionError,
    InvalidSchemaError,
    JsonSchema,
    RunawayPatternError,
)

DRAFTS = ["4", "6", "7", "2019-09", "2020-12"]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}


# --- verdicts ------------------------------------------------------------------------------------

SCHEMAS = [
    {},
    *({"type": name} for name in ("null", "boolean", "integer", "number", "string", "array", "object")),
    {"type": ["string", "null"]},
    {"enum": [1, "a", None, [1], {"a": 1}]}, {"enum": [True, 0]},
    {"const": 1}, {"const": False}, {"const": {"a": [1.0]}},
    {"minimum": 2}, {"maximum": 2}, {"exclusiveMinimum": 2}, {"exclusiveMaximum": 2},
    {"minimum": 2, "exclusiveMinimum": True},
    {"multipleOf": 2}, {"multipleOf": 0.5},
    {"minLength": 2}, {"maxLength": 2}, {"pattern": "^a+$"}, {"pattern": "b"},
    {"items": {"type": "integer"}}, {"items": False},
    {"items": [{"type": "integer"}, {"type": "string"}]},
    {"items": [{"type": "integer"}], "additionalItems": False},
    {"prefixItems": [{"type": "integer"}], "items": False},
    {"minItems": 2}, {"maxItems": 1}, {"uniqueItems": True},
    {"contains": {"type": "integer"}}, {"contains": {"type": "integer"}, "minContains": 2},
    {"contains": {"type": "integer"}, "minContains": 0},
    {"contains": {"type": "integer"}, "maxContains": 1},
    {"required": ["a"]}, {"properties": {"a": {"type": "integer"}}}, {"properties": {"a": False}},
    {"additionalProperties": False}, {"properties": {"a": {}}, "additionalProperties": False},
    {"additionalProperties": {"type": "integer"}},
    {"patternProperties": {"^a": {"type": "integer"}}},
    {"patternProperties": {"^a": {}}, "additionalProperties": False},
    {"minProperties": 1}, {"maxProperties": 1}, {"propertyNames": {"maxLength": 1}},
    {"dependentRequired": {"a": ["b"]}}, {"dependentSchemas": {"a": {"required": ["b"]}}},
    {"allOf": [{"type": "integer"}, {"minimum": 2}]},
    {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"oneOf": [{"minimum": 2}, {"type": "integer"}]}, {"not": {"type": "integer"}}, {"not": {}},
    {"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"type": "string"}},
    {"unevaluatedProperties": False, "properties": {"a": {}}},
    {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
    {"unevaluatedItems": False, "prefixItems": [{}]},
    {"definitions": {"x": {"type": "integer"}}, "$ref": "#/definitions/x"},
    {"$defs": {"x": {"type": "integer"}}, "$ref": "#/$defs/x", "maximum": 2},
    {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
    {
        "$defs": {
            "tree": {"properties": {"a": {"$ref": "#/$defs/trees"}}},
            "trees": {"type": ["array", "null"], "items": {"$ref": "#/$defs/tree"}},
        },
        "$ref": "#/$defs/tree",
    },
    {"format": "email"}, {"format": "date"}, {"type": "integer", "nonsense": 1}, {"$comment": "x", "default": 1},
]  # fmt: skip
INSTANCES = [
    None, True, False, 0, 1, 2, 3, 1.0, 2.0, 1.5, 2.5, -1, 10**30, "", "a", "aa", "aaa", "b", "é", "😀😀",
    [], [1], [1, 2], [1, 1], [1, 1.0], [1, True], [0, False], ["a", 1], [1, "a"], [1, "a", 2],
    [[1], [1]], [{"a": 1}, {"a": 1.0}], [None, None], {}, {"a": 1}, {"a": 1.0}, {"a": "x"},
    {"a": None}, {"a": 1, "b": 2}, {"b": 1}, {"a": {}}, {"a": {"a": {}}}, {"a": {"b": 1}},
    {"a": [{"a": []}]}, {"a": [{"a": 5}]}, {"ab": 1, "abc": "x"},
]  # fmt: skip


def reference_validator(draft):
    """Give the validator class of the package `jsonschema`."""
    jsonschema = pytest.importorskip("jsonschema")
    return getattr(jsonschema, f"Draft{draft.replace('-', '')}Validator")


def is_schema(kind, schema):
    return kind(kind.META_SCHEMA).is_valid(schema)


@pytest.mark.parametrize("draft", DRAFTS)
def test_verdicts_are_those_of_jsonschema(draft):
    kind = reference_validator(draft)
    for schema in SCHEMAS:
        if not is_schema(kind, schema):
            with pytest.raises(InvalidOptionError):
                JsonSchema(schema, draft=draft)
            continue
        ours, theirs = JsonSchema(schema, draft=draft), kind(schema)
        for instance in INSTANCES:
            result = ours(json.dumps(instance))
            assert result.score is theirs.is_valid(instance), (schema, instance)
            assert (result.metadata["conformity"] == 1.0) is result.passed, (schema, instance)


@pytest.mark.parametrize(
    ("draft", "schema", "instance", "ours", "theirs"),
    [
        # 0.3 is a multiple of 0.1, and 10**300 none of 3: numbers are decimal, not binary.
        ("2020-12", {"multipleOf": 0.1}, 0.3, True, False),
        ("7", {"multipleOf": 3}, 1e300, False, True),
        # Drafts may go on with the keyword that they have split in two.
        ("2019-09", {"dependencies": {"a": ["b"]}}, {"a": 1}, False, True),
        ("2020-12", {"dependencies": {"a": ["b"]}}, {"a": 1}, False, True),
        # Asserted by the validator that we use where a draft lets it.
        ("7", {"contentEncoding": "base64"}, "a", False, True),
        ("2020-12", {"contentEncoding": "base64"}, "a", True, True),
    ],
)
def test_where_verdicts_differ_from_jsonschema(draft, schema, instance, ours, theirs):
    assert JsonSchema(schema, draft=draft)(json.dumps(instance)).score is ours
    assert reference_validator(draft)(schema).is_valid(instance) is theirs


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, "", "a", "ab", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "1", "a/b", "~"]), inner, max_size=3)
    ),
    max_leaves=6,
)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
names = st.lists(st.sampled_from(["a", "b", "1", "a/b", "~"]), max_size=2, unique=True)
schemas = st.recursive(
    st.booleans() | st.fixed_dictionaries({}, optional={
        "type": types, "minimum": st.integers(-2, 2), "maxLength": st.integers(0, 2),
        "minItems": st.integers(0, 2), "maxProperties": st.integers(0, 2), "required": names,
        "uniqueItems": st.booleans(), "const": values, "enum": st.lists(values, min_size=1, max_size=2),
    }),
    lambda inner: st.fixed_dictionaries({}, optional={
        "properties": st.dictionaries(st.sampled_from(["a", "b", "1", "a/b", "~"]), inner, max_size=2),
        "additionalProperties": inner, "patternProperties": st.fixed_dictionaries({"^a": inner}),
        "items": inner, "contains": inner, "not": inner, "propertyNames": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2), "if": inner, "then": inner,
        "oneOf": st.lists(inner, min_size=1, max_size=2), "unevaluatedProperties": inner,
        "dependentSchemas": st.dictionaries(st.sampled_from(["a", "1"]), inner, max_size=1),
    }),
    max_leaves=5,
)  # fmt: skip


def resolve(document, pointer):
    """Follow a JSON Pointer."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


@settings(max_examples=200, deadline=None)
@given(schemas, values)
def test_conformity_is_from_0_to_1_and_1_exactly_where_valid(schema, value):
    result = JsonSchema(schema)(json.dumps(value))
    conformity = result.metadata["conformity"]
    assert 0.0 <= conformity <= 1.0
    assert (conformity == 1.0) is result.passed is (not result.metadata.get("errors"))
    for error in result.metadata.get("errors", []):
        resolve(value, error["pointer"])
        resolve(schema, error["schema_pointer"])


@settings(max_examples=200, deadline=None)
@given(schemas, values)
def test_verdicts_on_generated_schemas_are_those_of_jsonschema(schema, value):
    theirs = reference_validator("2020-12")(schema).is_valid(value)
    assert JsonSchema(schema)(json.dumps(value)).score is theirs


@pytest.mark.parametrize(
    ("schema", "output", "score"),
    [
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [False]},
            "[1]",
            True,
        ),
        (
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [False]},
            "[1]",
            False,
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "minimum": 1,
                "exclusiveMinimum": True,
            },
            "1",
            False,
        ),
        ({"prefixItems": [False]}, "[1]", False),
    ],
)
def test_the_draft_is_that_of_the_schema_else_the_newest(schema, output, score):
    assert JsonSchema(schema)(output).score is score
    assert JsonSchema()(output, schema).score is score


def test_the_draft_option_goes_before_what_the_schema_says():
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [False]}
    assert JsonSchema(schema, draft="7")("[1]").passed
    assert not JsonSchema(schema, draft="2020-12")("[1]").passed


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"format": "email"}, '"x"'),
        ({"format": "date"}, '"2024-13-01"'),
        ({"format": "date-time"}, '"yesterday"'),
        ({"format": "uri"}, '"a b"'),
        ({"format": "ipv4"}, '"1.2.3"'),
        ({"format": "uuid"}, '"x"'),
        ({"properties": {"day": {"format": "date"}}}, '{"day": "31.12.2024"}'),
    ],
)
@pytest.mark.parametrize("draft", [None, "7", "2020-12"])
def test_formats_are_asserted_only_where_asked(schema, output, draft):
    if draft == "7" and schema == {"format": "uuid"}:
        pytest.skip("draft 7 has no such format")
    assert JsonSchema(schema, draft=draft)(output).passed
    failed = JsonSchema(schema, draft=draft, check_formats=True)(output)
    assert (failed.passed, failed.label) == (False, "format")


def test_an_unknown_format_is_a_remark():
    assert JsonSchema({"format": "nonsense"}, check_formats=True)('"x"').passed


# --- what a schema may be ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer"},
        '{"type": "integer"}',
        ' {"type": "integer"}\n',
        '```json\n{"type": "integer"}\n```',
        {"type": ("integer",)},
    ],
)
def test_a_schema_may_be_a_mapping_or_text(schema):
    for evaluator, reference in ((JsonSchema(schema), None), (JsonSchema(), schema)):
        assert evaluator("1", reference).score is True
        assert evaluator('"x"', reference).score is False


@pytest.mark.parametrize("schema", [True, False, "true", "false"])
def test_a_schema_may_be_a_boolean(schema):
    expected = schema in (True, "true")
    assert JsonSchema(schema)("1").score is expected
    assert JsonSchema()("1", schema).score is expected


def test_a_schema_may_be_a_pydantic_model_or_a_type_adapter():
    pydantic = pytest.importorskip("pydantic")

    class Line(pydantic.BaseModel):
        count: int

    class Invoice(pydantic.BaseModel):
        number: str
        lines: tuple[Line, ...] = ()

    for schema, good, bad, pointer in (
        (Invoice, '{"number": "a", "lines": [{"count": 1}]}', '{"number": "a", "lines": [{"count": "x"}]}', "/lines/0/count"),
        (pydantic.TypeAdapter(list[int]), "[1]", '[1, "x"]', "/1"),
        (pydantic.TypeAdapter(Invoice), '{"number": "a"}', '{"number": 1}', "/number"),
    ):  # fmt: skip
        for evaluator, reference in ((JsonSchema(schema), None), (JsonSchema(), schema)):
            assert evaluator(good, reference).score is True
            failed = evaluator(bad, reference)
            assert failed.score is False
            assert failed.metadata["errors"][0]["pointer"] == pointer


def test_the_output_may_be_a_pydantic_model():
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):
        name: str
        age: int | None = None

    assert not JsonSchema(PERSON)(Person(name="a")).passed  # null is no integer
    assert JsonSchema(PERSON)(Person(name="a", age=3)).passed
    assert JsonSchema(Person)(Person(name="a")).passed


def test_two_models_of_the_same_name_are_two_schemas():
    pydantic = pytest.importorskip("pydantic")
    one = pydantic.create_model("Model", a=(int, ...))
    other = pydantic.create_model("Model", a=(str, ...))
    assert JsonSchema(one)('{"a": 1}').passed
    assert not JsonSchema(other)('{"a": 1}').passed


WRONG = [
    [], 5, 1.5, "[]", "5", "null", "{", "", "nonsense", object(), int, list, {"type": "nonsense"}, {"type": 5},
    {"minimum": "2"}, {"required": "a"}, {"properties": []}, {"pattern": "["}, {"pattern": "(?P<"},
    {"multipleOf": 0}, {"minLength": -1}, {"$ref": "#/definitions/absent"}, {"$ref": "#absent"},
    {"$schema": "http://json-schema.org/draft-03/schema#"}, {"$schema": "urn:own"}, {"$schema": 5},
    {"const": float("nan")}, {"const": {1, 2}}, {"\ud800": 1}, '{"title": "\\ud800"}', "[" * 100_000,
    functools.reduce(lambda inner, _: {"not": inner}, range(100_000), {}),
]  # fmt: skip


@pytest.mark.parametrize("schema", WRONG, ids=lambda schema: type(schema).__name__)
def test_what_is_no_schema_is_named_as_such(schema):
    with pytest.raises(InvalidOptionError, match="schema"):
        JsonSchema(schema)
    with pytest.raises(InvalidSchemaError, match="schema") as raised:
        JsonSchema()("1", schema)
    assert len(str(raised.value)) < 1_000


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"name": "string", "age": "integer"}, "its members belong under 'properties'"),
        ({"id": 5, "title": "An answer", "total": 12.5}, "its members belong under 'properties'"),
        ({"name": "f", "strict": True, "schema": {"type": "object"}}, "is its 'schema' meant?"),
        ({"json_schema": {"schema": {"type": "object"}}}, "is its 'json_schema' meant?"),
    ],
)
def test_an_object_without_a_keyword_is_no_schema(schema, hint):
    for evaluator, reference in ((lambda: JsonSchema(schema), None), (JsonSchema, schema)):
        with pytest.raises(InvalidSchemaError, match="without a keyword of JSON Schema") as raised:
            evaluator()("1", reference)
        assert str(raised.value).endswith(hint)


@pytest.mark.parametrize(
    "schema",
    [{}, {"title": "Anything"}, {"description": "Any", "x-internal": 1}, {"$defs": {}, "name": 1}],
)
def test_a_schema_that_asks_for_nothing_may_say_so(schema):
    assert JsonSchema(schema)("1").passed


@pytest.mark.parametrize("schema", ['{"enum": [NaN]}', '{"minimum": -Infinity}', '{"\\ud800": 1}'])
def test_what_lenient_parsing_lets_in_has_no_place_in_a_schema(schema):
    with pytest.raises(InvalidSchemaError, match="is not JSON"):
        JsonSchema(parsing="lenient")("null", schema)


def test_a_null_reference_is_no_schema():
    with pytest.raises(InvalidSchemaError):
        JsonSchema()("1", None)


def test_a_model_without_a_schema_is_named_as_such():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", call=(typing.Callable, ...))
    with pytest.raises(InvalidOptionError, match="Model"):
        JsonSchema(model)
    with pytest.raises(InvalidSchemaError, match="Model"):
        JsonSchema()("1", model)
    with pytest.raises(InvalidOptionError):
        JsonSchema(pydantic.create_model("Model", a=(int, ...))(a=1))


def test_numbers_of_any_size_are_exact():
    assert not JsonSchema({"maximum": 10**30})(str(10**30 + 1)).passed
    assert JsonSchema({"maximum": 10**30})(str(10**30)).passed
    assert not JsonSchema({"enum": [10**30]})(str(10**30 + 1)).passed
    assert JsonSchema({"type": "integer"})("9" * 5_000).passed
    assert JsonSchema({"type": "integer"})(10**5_000).passed
    assert JsonSchema({"type": "integer"})("1.0").passed
    assert not JsonSchema({"type": "integer"})("true").passed
    for output in ("9" * 5_000, 10**5_000, [10**5_000], "[%s]" % ("9" * 5_000), "1e400"):
        for schema in ({"maximum": 5, "items": {"maximum": 5}}, {"type": "string"}, {"const": 5}):
            failed = JsonSchema(schema)(output)
            assert failed.passed is False
            assert failed.metadata["errors"]


@pytest.mark.parametrize(
    "schema", ['{"minimum": %s}' % ("9" * 5_000), {"minimum": 10**5_000}, {"const": [10**5_000]}]
)
def test_a_schema_with_a_huge_number_holds_or_is_named_as_wrong(schema):
    try:
        assert JsonSchema()("[1]", schema).score in (True, False)
        assert JsonSchema()("1", schema).score is False
    except EvalError as error:
        assert "schema" in str(error)  # noqa: PT017


# --- what is told --------------------------------------------------------------------------------


def test_all_errors_are_told_with_pointers():
    schema = {
        "required": ["a", "b"],
        "properties": {"c": {"type": "string"}, "d/~": {"items": {"minimum": 3}}},
        "additionalProperties": False,
    }
    result = JsonSchema(schema)('{"c": 1, "d/~": [1, 5, 2], "x": 1}')
    told = {(e["pointer"], e["schema_pointer"], e["keyword"]) for e in result.metadata["errors"]}
    assert told == {
        ("", "/required", "required"),
        ("/c", "/properties/c/type", "type"),
        ("/d~1~0/0", "/properties/d~1~0/items/minimum", "minimum"),
        ("/d~1~0/2", "/properties/d~1~0/items/minimum", "minimum"),
        ("", "/additionalProperties", "additionalProperties"),
    }
    assert len(result.metadata["errors"]) == 6  # required twice
    assert all(error["message"] for error in result.metadata["errors"])
    first = result.metadata["errors"][0]
    assert result.label == first["keyword"]
    assert result.reason == f"{first['message']} at the root; and 5 more"


def test_the_reason_names_the_place():
    result = JsonSchema(PERSON)('{"name": "a", "age": -1}')
    assert result.reason == "-1 is less than the minimum of 0 at /age"
    assert result.label == "minimum"
    assert JsonSchema(PERSON)('{"name": "a"}').reason is None


def test_an_output_that_is_no_json_is_invalid_with_its_defect():
    result = JsonSchema(PERSON)('{"name": "a",}')
    assert (result.score, result.passed, result.label) == (False, False, "trailing_comma")
    assert result.metadata["line"] == 1


CONFORMITY = [
    # schema, output, share of values without an error
    ({}, '{"a": 1}', 1.0),
    # 1 of 3 values: the object, name, age
    ({"properties": {"age": {"type": "integer"}}}, '{"name": "a", "age": "x"}', 2 / 3),
    # a missing member counts as one more value: 1 of 2
    ({"required": ["a"]}, "{}", 1 / 2),
    ({"required": ["a", "b"]}, '{"a": 1}', 2 / 3),
    # what is unexpected is wrong itself, its container is not: 1 of 3
    ({"properties": {"a": {}}, "additionalProperties": False}, '{"a": 1, "b": 2}', 2 / 3),
    # with all that it holds: b, its list and the number in it, 3 of 5
    ({"properties": {"a": {}}, "additionalProperties": False}, '{"a": 1, "b": {"c": [1]}}', 2 / 5),
    # items: 2 of 4 values
    ({"items": {"type": "integer"}}, '[1, "x", "y"]', 2 / 4),
    # an error about a container's members as a whole concerns the container alone: 1 of 3
    ({"minItems": 3}, "[1, 2]", 2 / 3),
    ({"uniqueItems": True}, "[1, 1, 1]", 3 / 4),
    ({"contains": {"type": "string"}}, "[1]", 1 / 2),
    ({"maxProperties": 1}, '{"a": 1, "b": 2}', 2 / 3),
    ({"propertyNames": {"maxLength": 1}}, '{"ab": 1}', 1 / 2),
    # a wrong type concerns all that is inside
    ({"type": "array"}, '{"a": 1, "b": 2}', 0.0),
    ({"properties": {"a": {"type": "array"}}}, '{"a": {"b": {"c": 1}}, "d": 1}', 2 / 5),
    ({"anyOf": [{"type": "array"}, {"type": "string"}]}, '{"a": 1}', 0.0),
    (False, "1", 0.0),
    ({"properties": {"1": False}}, '{"1": 1}', 1 / 2),
    ({"properties": {"0": {"prefixItems": [{}, False]}}}, '{"0": [1, 2]}', 3 / 4),
    # two errors at one place count once
    ({"properties": {"a": {"minimum": 3, "multipleOf": 3}}}, '{"a": 1}', 1 / 2),
    ({"required": ["b"], "properties": {"a": {"type": "string"}}}, '{"a": 1}', 1 / 3),
    ({"minimum": 3}, "1", 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "output", "share"), CONFORMITY)
def test_conformity_is_the_share_of_values_without_an_error(schema, output, share):
    assert JsonSchema(schema)(output).metadata["conformity"] == pytest.approx(share)


# --- nothing leaves the machine ------------------------------------------------------------------


@pytest.fixture(scope="module")
def server():
    """Serve a schema on this machine, and record who asks for it."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "integer"}')

        do_HEAD = do_POST = do_GET

        def log_message(self, *arguments):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    running.asked = asked
    yield running
    running.shutdown()
    running.server_close()


@pytest.mark.parametrize("draft", [None, *DRAFTS])
@pytest.mark.parametrize("where", ["http", "file", "relative"])
def test_no_reference_is_fetched(server, tmp_path, draft, where):
    file = tmp_path / "schema.json"
    file.write_text('{"type": "integer"}')
    address = {
        "http": f"http://127.0.0.1:{server.server_port}/schema.json",
        "file": file.as_uri(),
        "relative": str(file),
    }[where]
    key = "id" if draft == "4" else "$id"
    for schema in (
        {"$ref": address},
        {"$ref": address + "#/x"},
        {"properties": {"a": {"items": {"$ref": address}}}},
        {"anyOf": [{"$ref": address}, {"type": "string"}]},
        {"allOf": [{key: address.replace("schema", "other"), "$ref": "schema.json"}]},
        {key: address.replace("schema", "other"), "properties": {"a": {"$ref": "schema.json"}}},
        {key: address.replace("schema", "other"), "not": {"$ref": "schema.json"}},
    ):
        with pytest.raises(InvalidOptionError, match="schema"):
            JsonSchema(schema, draft=draft)
        with pytest.raises(InvalidSchemaError, match="nothing is fetched"):
            JsonSchema(draft=draft)('{"a": ["x"]}', schema)
    for schema in ({"$schema": address}, {"$dynamicRef": address}, {"$recursiveRef": address}):
        try:
            JsonSchema(schema, draft=draft)('{"a": "x"}')
        except InvalidOptionError as error:
            assert "schema" in str(error)  # noqa: PT017
    assert server.asked == []


def test_an_address_of_its_own_does_not_keep_a_schema_from_working(server):
    address = f"http://127.0.0.1:{server.server_port}/schema.json"
    schema = {
        "$id": address,
        "$defs": {
            "x": {"$id": "x.json", "type": "integer"},
            "y": {"$anchor": "y", "type": "string"},
        },
        "properties": {
            "a": {"$ref": "x.json"},
            "b": {"$ref": address + "#/$defs/x"},
            "c": {"$ref": "#y"},
        },
    }
    assert JsonSchema(schema)('{"a": 1, "b": 1, "c": "x"}').passed
    assert JsonSchema(schema)('{"a": "", "b": "", "c": 1}').metadata["conformity"] == 1 / 4
    assert server.asked == []


def test_the_server_would_notice(server):
    address = f"http://127.0.0.1:{server.server_port}/noticed"
    urllib.request.urlopen(address).close()
    assert server.asked.pop() == "/noticed"


def test_the_schema_of_schemas_is_at_hand():
    schema = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    assert JsonSchema(schema)('{"type": "string"}').passed
    assert not JsonSchema(schema)('{"type": 5}').passed


# --- nothing hangs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "output", "score"),
    [
        ({"$ref": "#"}, "1", True),
        ({"$ref": "#"}, "[[]]", True),
        ({"anyOf": [{"$ref": "#"}, {"type": "string"}]}, '"x"', True),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "1", True),
        ({"items": {"$ref": "#"}, "type": "array"}, "[[[]], []]", True),
        ({"items": {"$ref": "#"}, "type": "array"}, "[[[]], [1]]", False),
        ({"items": {"$ref": "#"}, "type": "array"}, "[" * 100 + "]" * 100, True),
        ({"$ref": "#/$defs/0", "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(22)} | {"22": {"type": "integer"}}}, "1", True),
    ],
)  # fmt: skip
def test_recursive_references_come_to_an_end(schema, output, score):
    start = time.perf_counter()
    assert JsonSchema(schema)(output).score is score
    assert time.perf_counter() - start < 3


RUNAWAY = r"^((?=a)a+)+$"
"""A look-ahead keeps it from being matched in linear time."""

AAA = "a" * 40 + "!"


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"pattern": RUNAWAY}, AAA),
        ({"not": {"pattern": RUNAWAY}}, AAA),
        ({"not": {"not": {"pattern": RUNAWAY}}}, AAA),
        ({"anyOf": [{"pattern": RUNAWAY}, {"type": "number"}]}, AAA),
        ({"oneOf": [{"pattern": RUNAWAY}, {"type": "string"}]}, AAA),
        ({"allOf": [{"type": "string"}, {"pattern": RUNAWAY}]}, AAA),
        ({"if": {"pattern": RUNAWAY}, "then": False}, AAA),
        ({"if": {"pattern": RUNAWAY}, "then": True, "else": False}, AAA),
        ({"contains": {"pattern": RUNAWAY}}, [AAA, "b"]),
        ({"items": {"pattern": RUNAWAY}}, ["a", AAA]),
        ({"patternProperties": {RUNAWAY: False}}, {AAA: 1}),
        ({"patternProperties": {RUNAWAY: {}}, "additionalProperties": False}, {AAA: 1}),
        ({"patternProperties": {RUNAWAY: {}}, "unevaluatedProperties": False}, {AAA: 1}),
        ({"propertyNames": {"pattern": RUNAWAY}}, {AAA: 1}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"pattern": RUNAWAY}}}, AAA),
        (
            {"dependentSchemas": {"q": {"properties": {"q": {"not": {"pattern": RUNAWAY}}}}}},
            {"q": AAA},
        ),
    ],
)
def test_a_pattern_that_backtracks_for_ever_is_an_error_and_no_verdict(schema, output):
    start = time.perf_counter()
    with pytest.raises(RunawayPatternError, match="pattern"):
        JsonSchema(schema)(json.dumps(output))
    assert time.perf_counter() - start < 2


def test_where_the_verdict_does_not_hang_on_the_runaway_there_is_one():
    assert JsonSchema({"anyOf": [{"type": "string"}, {"pattern": RUNAWAY}]})(json.dumps(AAA)).passed


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){12}$", "^([a-z]+)*$"]
)
def test_classic_runaways_are_answered_in_linear_time(pattern):
    start = time.perf_counter()
    assert JsonSchema({"pattern": pattern})(json.dumps("a" * 100_000 + "!")).score is False
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("last", [{"a": -1, "b": [0]}, {"b": [77], "a": 77}])
def test_unique_items_of_5000_objects_take_no_time(last):
    items = [*({"a": n, "b": [n]} for n in range(5_000)), last]
    start = time.perf_counter()
    result = JsonSchema({"uniqueItems": True})(json.dumps(items))
    assert time.perf_counter() - start < 2
    assert result.score is (last["a"] == -1)


def test_compiled_schemas_are_kept_but_not_for_ever():
    evaluator = JsonSchema()
    tracemalloc.start()
    try:
        for number in range(1_000, 2_200):
            assert evaluator("{}", {"title": str(number) * 7_500}).passed
        assert tracemalloc.get_traced_memory()[0] < 25_000_000
    finally:
        tracemalloc.stop()


def test_the_second_call_with_the_same_schema_is_far_cheaper_than_the_first():
    schema = {"properties": {f"p{n}": {"type": "integer", "minimum": n} for n in range(2_000)}}
    text = json.dumps(schema)

    def seconds():
        start = time.perf_counter()
        JsonSchema()("{}", text)
        return time.perf_counter() - start

    first = seconds()
    assert min(seconds() for _ in range(5)) < first / 5


def test_a_schema_that_is_changed_between_calls_is_read_anew():
    schema = {"type": "integer"}
    evaluator = JsonSchema()
    assert evaluator("1", schema).passed
    schema["type"] = "string"
    assert not evaluator("1", schema).passed


def test_what_is_wrong_with_a_schema_is_said_with_its_place():
    with pytest.raises(InvalidSchemaError, match="at /properties/a/type in the schema"):
        JsonSchema({"properties": {"a": {"type": "int"}}})
    with pytest.raises(InvalidSchemaError, match="is it a path"):
        JsonSchema("schema.json")
