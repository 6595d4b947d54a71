"""JsonSchema: the classes and size of patterns; nothing is fetched, hangs or fills the memory."""

import contextlib
import json
import subprocess
import sys
import urllib.request

import pytest
from pace import at_most
from server import ModelServer, answer

from llmeval_integrations import (
    InvalidOptionError,
    InvalidSchemaError,
    JsonSchema,
    RegexTimeoutError,
    ToolCallSchema,
)
from llmeval_integrations.schemas.patterns import matches

DRAFTS = ["4", "6", "7", "2019-09", "2020-12"]

# --- classes of characters -----------------------------------------------------------------------

CHARACTERS = [
    *map(chr, [*range(0x250), *range(0x2000, 0x2070)]),
    *"٣字😀\u1680\u1681\u180e\u2fff\u3000\u3001\ufefe\ufeff\uff00\U0010ffff",
]


@pytest.mark.parametrize("letter", "dDwWsS")
@pytest.mark.parametrize("brackets", [r"\%s", r"[\]\%s!]", r"[^\]\%s!]"])
def test_a_class_holds_the_same_whether_a_pattern_looks_around_or_not(letter, brackets):
    part = brackets % letter
    schemas = [{"items": {"pattern": f"^{form}{part}$"}} for form in ("", "(?!00)")]
    plain, looking = (
        {error["pointer"] for error in JsonSchema(schema)(CHARACTERS).metadata["errors"]}
        for schema in schemas
    )
    assert 0 < len(plain) < len(CHARACTERS)
    assert looking == plain


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize(
    ("pattern", "text", "other"),
    [
        (r"^(?!x)\w+$", "abc", "xbc"),
        (r"^(?!0)\w+$", "e", "é"),
        (r"^(?=.*\d)[\w@]+$", "a1@", "ab@"),
        (r"^(?!0)\d{4}$", "1234", "٣٣٣٣"),
        (r"^(?!0)\D+$", "٣", "3"),
        (r"^(?!\s)[\s\S]+$", "a b", " a"),
        (r"^(\w)\1$", "aa", "ab"),
        (r"^(?=\S)[^\s]{2,}$", "ab", "a b"),
        (r"^(?!0)[\w.-]+\\d$", r"a.-\d", "a.-1"),  # an escaped backslash before a letter
        (r"^(?!0)[^\W\d]+$", "a", "a1"),
        (r"^(?!\d)\S+$", "ab", "1b"),
        (r"^(?<!x)\W$", "é", "e"),
    ],
)
def test_a_pattern_that_looks_around_has_the_classes_of_ecma_in_every_draft(
    draft, pattern, text, other
):
    named = {"patternProperties": {pattern: {}}, "additionalProperties": False}
    for each, passes in ((text, True), (other, False)):
        assert JsonSchema({"pattern": pattern}, draft=draft)(json.dumps(each)).passed is passes
        assert JsonSchema(named, draft=draft)({each: 1}).passed is passes
        assert matches(pattern, each) is passes


# --- size ----------------------------------------------------------------------------------------

LARGE = [r"^\p{L}{1,255}$", r"^[^<>]{1,10000}$", r"^(?! )\S{1,5000}$"]


@pytest.mark.parametrize("pattern", LARGE)
def test_a_pattern_may_repeat_as_often_as_texts_are_long(pattern):
    schema = {"pattern": pattern}
    for evaluator, reference in ((JsonSchema(schema), None), (JsonSchema(), schema)):
        assert evaluator('"abc"', reference).passed is True
        assert evaluator('"<a\\n >"', reference).passed is False
    assert matches(pattern, "abc")
    assert not matches(pattern, "<a\n >")


# --- nothing leaves the machine ------------------------------------------------------------------


@pytest.fixture
def server():
    with ModelServer() as running:
        yield running


@pytest.mark.parametrize("draft", [None, *DRAFTS])
def test_no_reference_is_fetched(server, tmp_path, draft):
    server.plays(answer({"type": "integer"}))
    file = tmp_path / "schema.json"
    file.write_text('{"type": "integer"}')
    for address in (f"{server.url}/schema.json", file.as_uri(), str(file)):
        own = {"id" if draft == "4" else "$id": address.replace("schema", "other")}
        for schema in (
            {"properties": {"a": {"items": {"$ref": address + "#/x"}}}},
            {"anyOf": [{"$ref": address}, {"type": "string"}]},
            {**own, "properties": {"a": {"$ref": "schema.json"}}},
        ):
            with pytest.raises(InvalidOptionError, match="schema"):
                JsonSchema(schema, draft=draft)
            with pytest.raises(InvalidSchemaError, match="nothing is fetched"):
                JsonSchema(draft=draft)('{"a": ["x"]}', schema)
        for schema in ({"$schema": address}, {"$dynamicRef": address}, {"$recursiveRef": address}):
            with contextlib.suppress(InvalidOptionError):
                JsonSchema(schema, draft=draft)('{"a": "x"}')
    assert server.requests == []
    urllib.request.urlopen(f"{server.url}/noticed").close()
    assert server.last.path == "/noticed"


# --- nothing hangs -------------------------------------------------------------------------------


def union(keyword):
    """Give a schema whose node is a number, a group or a wrap, each of which has a node."""
    child = {"type": "object", "properties": {"child": {"$ref": "#/definitions/node"}}}
    kinds = [
        {"type": "integer"},
        {"$ref": "#/definitions/group"},
        {"$ref": "#/definitions/wrap", "description": "of the same form"},
    ]
    definitions = {"group": child, "wrap": child, "node": {keyword: kinds}}
    return {"$ref": "#/definitions/group", "definitions": definitions}


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_recursive_union_takes_linear_time(draft, keyword):
    depth = 200
    with at_most(1):
        result = JsonSchema(union(keyword), draft=draft)('{"child":' * depth + '"x"' + "}" * depth)
    (error,) = result.metadata["errors"]
    assert (error["pointer"], error["schema_pointer"], error["keyword"]) == (
        "/child",
        f"/definitions/node/{keyword}",
        keyword,
    )
    assert error["message"].startswith('{"child":{"child":')
    assert error["message"].endswith(f"any of the schemas listed in the '{keyword}' keyword")


TWICE = {"properties": {"c": {"$ref": "#/$defs/n"}}}
TWO = {
    f"d{n}": {"properties": {"c": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2}}}
    for n in range(40)
}
DEEP = '{"c":' * 40 + "1" + "}" * 40
WIDE = json.dumps({f"k{n}": "v" * 90 for n in range(5_000)})


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"$defs": {"n": {"type": "object", **TWICE, "allOf": [TWICE]}}, "$ref": "#/$defs/n"}, DEEP),
        ({"$defs": {**TWO, "d40": {"type": "object"}}, "$ref": "#/$defs/d0"}, DEEP),
        ({"propertyNames": {"pattern": "^[a-z]+$"}}, WIDE),
        ({"required": [f"missing {n}" for n in range(1_000)]}, WIDE),
        ({"dependentRequired": {f"k{n}": ["missing"] for n in range(1_000)}}, WIDE),
    ],
    ids=["twice at each level", "twice along references", "names", "required", "dependent"],
)  # fmt: skip
def test_of_many_errors_of_a_deep_or_wide_value_the_first_is_listed(schema, output):
    with at_most(1):
        result = JsonSchema(schema)(output)
    assert result.passed is False
    assert result.metadata["limit_reached"] == [""]
    assert len(result.metadata["errors"]) == 1


def nest(value, levels):
    for _ in range(levels):
        value = {"c": value}
    return value


NUMBERS = {"properties": {"a": {"type": "number"}, "b": {"type": "number"}, "c": {}}}


@pytest.mark.parametrize(
    ("schema", "count"),
    [
        (NUMBERS, 2),
        ({"$ref": "#/$defs/n", "$defs": {"n": NUMBERS, "unused": {"$ref": "#/$defs/n"}}}, 2),
        ({"allOf": [NUMBERS, {"properties": {"c": {"$ref": "#"}}}]}, 1),
        ({**NUMBERS, "$defs": {"n": {"$id": "http://example.org/", "$ref": "#"}}}, 1),
        ({**NUMBERS, "$defs": {"n": {"$anchor": "n"}, "m": {"$ref": "#n"}}}, 1),
    ],
    ids=["plain", "references", "recursive", "another base", "an anchor"],
)
def test_of_a_deep_value_all_errors_are_listed_unless_the_schema_refers_to_itself(schema, count):
    value = {"a": "x", "b": "x", **nest(1, 20)}
    result = JsonSchema(schema)(value)
    assert len(result.metadata["errors"]) == count
    assert ("limit_reached" in result.metadata) is (count == 1)
    tool = {"name": "f", "parameters": {**schema, "type": "object"}}
    (row,) = ToolCallSchema([tool])({"name": "f", "arguments": value}).metadata["calls"]
    assert len(row["errors"]) == count


RUNAWAY = r"^((?=a)a+)+$"
"""A look-ahead keeps it from being matched in linear time."""

AAA, LOOK = "a" * 40 + "!", {"pattern": RUNAWAY}


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        (LOOK, AAA),
        ({"not": {"not": LOOK}}, AAA),
        ({"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "$defs": {"a": LOOK}}, AAA),
        ({"patternProperties": {RUNAWAY: {}}, "additionalProperties": False}, {AAA: 1}),
    ],
)  # fmt: skip
def test_a_pattern_that_backtracks_for_ever_is_an_error_and_no_verdict(schema, output):
    with at_most(2), pytest.raises(RegexTimeoutError, match="pattern"):
        JsonSchema(schema)(json.dumps(output))


MEASURED = """
import resource
from llmeval_integrations import JsonSchema

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

evaluator = JsonSchema({"items": {"enum": [f"value number {n} of all" for n in range(2_000)]}})
evaluator(["value number 5 of all", "none"])
before = peak()
result = evaluator(["none"] * 2_000)
print(len(result.metadata["errors"]), peak() - before < 100)
"""


def test_many_values_beside_a_long_enum_take_no_room():
    said = subprocess.check_output([sys.executable, "-c", MEASURED], text=True, timeout=60)
    assert said == "100 True\n"


LONG = [10**299 + n for n in range(2_000)]


@pytest.mark.parametrize(
    ("schema", "value", "keyword"),
    [
        ({"uniqueItems": True}, LONG, None),
        ({"uniqueItems": True}, [*LONG, 10**299], "uniqueItems"),
        ({"uniqueItems": True}, [*LONG, [1], [1.0]], "uniqueItems"),
        ({"uniqueItems": True}, [*LONG, True, 1, "1", None, {}, []], None),
        ({"uniqueItems": False}, [*LONG, 10**299], None),
    ],
    ids=["unique", "repeated", "equal", "not equal", "not asked"],
)
def test_many_long_integers_are_unique_or_not_at_once(schema, value, keyword):
    with at_most(1):
        result = JsonSchema(schema)(json.dumps(value))
    assert result.label == keyword
