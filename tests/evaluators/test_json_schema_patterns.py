"""Patterns of a schema: what their classes hold, how large they may be, how long they take."""

import json

import pytest

from llmeval_integrations import InvalidSchemaError, JsonSchema
from llmeval_integrations.schemas.patterns import matches

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


@pytest.mark.parametrize("draft", ["4", "6", "7", "2019-09", "2020-12"])
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


@pytest.mark.parametrize(
    ("schema", "output", "place", "message"),
    [
        ({"pattern": r"^(?!0)\d[\d\w\S]$"}, '"x"', "/pattern", r'"x" does not match "^(?!0)\d[\d\w\S]$"'),
        ({"not": {"pattern": r"^(?!0)\D[\s\W\"]*\d$"}}, '"x3"', "/not", r'{"pattern":"^(?!0)\\D[\\s\\W\\\"]*\\d$"} is not allowed for "x3"'),
        ({"patternProperties": {r"^(?!0)\w/": False}}, '{"x/": 1}', r"/patternProperties/^(?!0)\w~1", "False schema does not allow 1"),
    ],
)  # fmt: skip
def test_a_pattern_is_shown_as_it_is_written(schema, output, place, message):
    (error,) = JsonSchema(schema)(output).metadata["errors"]
    assert (error["schema_pointer"], error["message"]) == (place, message)


def test_a_wrong_pattern_is_shown_as_it_is_written():
    with pytest.raises(
        InvalidSchemaError, match=r'"\^\(\?!\\\\d" is not a "regex" at /patternProperties'
    ):
        JsonSchema({"patternProperties": {r"^(?!\d": {}}})


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


@pytest.mark.parametrize("pattern", ["(((a{100}){100}){100}){100}", r"(?!b)\p{L}{9000}"])
def test_a_pattern_that_would_fill_the_memory_is_named(pattern):
    with pytest.raises(InvalidSchemaError, match="needs too much memory at /pattern"):
        JsonSchema({"pattern": pattern})
