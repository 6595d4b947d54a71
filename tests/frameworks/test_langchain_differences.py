"""Side by side with LangChain: each difference is a row of the guide's table, with an example.

In lenient mode only the rows that are marked "always" differ.
"""

import json
import logging
import re
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from json_strategies import broken_texts, clashing, json_texts, law, nested
from pace import at_most

pytest.importorskip("langchain_classic")
pytest.importorskip("jsonschema")

from framework_runners import attempt
from langchain_classic import evaluation

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.frameworks.langchain import load_evaluator


def because(score, reason):
    return {"score": score, "reasoning": reason}


def said(evaluator, **arguments):
    """Give an evaluator's result, or the error that it raises."""
    return attempt(evaluator.evaluate_strings, **arguments)


def agree(ours, theirs, worst):
    """Whether two answers say the same: where LangChain raises, ours is low and has the reason."""
    if isinstance(theirs, str):
        _, _, theirs = theirs.partition(": ")
        return ours == because(worst, theirs)
    return ours == theirs


logging.getLogger("langchain_classic").setLevel(logging.CRITICAL + 1)  # it logs what it swallows
pytestmark = pytest.mark.filterwarnings("ignore:Ignoring ")

PAGE = Path(__file__).parents[2] / "docs/explanation/where-we-differ.md"
_, _, PART = PAGE.read_text(encoding="utf-8").partition("| output | LangChain |")
TABLE = [line.removeprefix("| ") for line in PART.partition("\n\n")[0].splitlines()[2:]]
"""The rows as they stand on the page."""

WORST = {"json_validity": 0, "json_equality": False, "json_edit_distance": 1.0}
WORST["json_schema_validation"] = False
"""The evaluators, and what each gives to what is not JSON."""

OURS = {name: load_evaluator(name) for name in WORST}
LENIENT = {name: load_evaluator(name, parsing="lenient") for name in WORST}
THEIRS = {name: evaluation.load_evaluator(name) for name in WORST}
VALUE_EXPECTED = "Expecting value: line 1 column 1 (char 0)"
NO_JSON = because(False, VALUE_EXPECTED)
DIGIT = because(False, "<ValidationError: {!r}>".format('"\u0663" does not match "^\\d$"'))
EXAMPLES = [
    # beginning of the row, evaluator, prediction, reference, our answer, LangChain's; an error stands by its name
    ('`{"a":', "json_equality", '{"a": 1', '{"a": 1}', because(False, "Expecting ',' delimiter: line 1 column 8 (char 7)"), {"score": True}),
    ("`Here", "json_validity", "Here:\n```json\n{}\n```", "", because(0, VALUE_EXPECTED), {"score": 1}),
    ("`[1,", "json_equality", "[1, 'x'", "[1]", because(False, "Expecting value: line 1 column 5 (char 4)"), {"score": True}),
    ("a raw", "json_equality", '"a\nb"', '"a\\nb"', because(False, "Invalid control character at: line 1 column 3 (char 2)"), {"score": True}),
    ("one", "json_validity", "`{}", "", because(0, VALUE_EXPECTED), {"score": 1}),
    ("`}`", "json_equality", "}", "null", NO_JSON, {"score": True}),
    ("`NaN`", "json_validity", '{"a": NaN}', "", because(0, "NaN is not JSON: line 1 column 7 (char 6)"), {"score": 1}),
    ("half", "json_validity", '["\\ud800"]', "", because(0, "Lone surrogate: line 1 column 3 (char 2)"), {"score": 1}),
    ("a fence", "json_validity", "~~~json\n{}\n~~~", "", {"score": 1}, because(0, VALUE_EXPECTED)),
    ("the reason", "json_validity", " [1, x]", "", because(0, "Expecting value: line 1 column 6 (char 5)"), because(0, "Expecting value: line 1 column 5 (char 4)")),
    ("a reference or", "json_equality", "{}", '{"a": 1', "InvalidReferenceError", {"score": False}),
    ("plain", "json_equality", "I cannot help.", "{}", NO_JSON, "JSONDecodeError"),
    ("`true`", "json_equality", "[true]", "[1]", {"score": False}, {"score": True}),
    ("anything", "json_equality", "{}", "[]", {"score": False}, {"score": 0}),
    ("`1e400`", "json_equality", "1e400", "1e5", because(False, "Number out of range: line 1 column 1 (char 0)"), {"score": False}),
    ("an integer", "json_equality", "1" * 5000, "1" * 5000, {"score": True}, "ValueError"),
    ('`[{"b":', "json_equality", '[{"b": 1, "a": 2}, {"a": 3}]', '[{"a": 3}, {"a": 2, "b": 1}]', {"score": True}, {"score": False}),
    ("more", "json_equality", "[" * 10**5 + "]" * 10**5, "[]", because(False, "Nested 100000 levels deep: line 1 column 100000 (char 99999)"), "RecursionError"),
    ("a value", "json_validity", {"a": 1}, "", {"score": 1}, because(0, "'dict' object has no attribute 'strip'")),
    ("bytes,", "json_equality", (1, 2), [1, 2], {"score": True}, {"score": 0}),
    ("`{1:", "json_equality", {1: 2}, {}, because(False, "the key 1 is not text at /1"), {"score": False}),
    ("a reference that", "json_equality", "{}", "no JSON", "InvalidReferenceError", "JSONDecodeError"),
    ("a schema", "json_schema_validation", "1", {"type": "objekt"}, "InvalidSchemaError", "SchemaError"),
    ("`$ref`", "json_schema_validation", "1", {"$schema": "http://example.com/none"}, "InvalidSchemaError", {"score": True}),
    ("an object", "json_schema_validation", "1", {"name": "string"}, "InvalidSchemaError", {"score": True}),
    ("`multipleOf`", "json_schema_validation", "0.3", {"multipleOf": 0.1}, {"score": True}, because(False, "<ValidationError: '0.3 is not a multiple of 0.1'>")),
    ('`{"$ref":', "json_schema_validation", "1", {"$ref": "#"}, {"score": True}, "RecursionError"),
    ("patterns", "json_schema_validation", '"\u0663"', {"pattern": "^\\d$"}, DIGIT, {"score": True}),
    ("the words", "json_schema_validation", '"a"', {"pattern": "^b"}, because(False, "<ValidationError: '\"a\" does not match \"^b\"'>"), because(False, "<ValidationError: \"'a' does not match '^b'\">")),
]  # fmt: skip
texts = json_texts | broken_texts
PAIRS = st.tuples(texts, texts) | st.lists(clashing, max_size=5).flatmap(
    lambda items: st.tuples(st.permutations(items).map(json.dumps), st.just(json.dumps(items)))
)
"""Outputs with references; of these, some are the same arrays in another order."""
LISTED = re.compile(r"(?i:e)\+?[0-9]{3}|[0-9]{300}|\\u[dD][89a-fA-F]|\ud800")
"""What the table lists: numbers beyond a float, and half a surrogate pair."""
RULES = [
    {"type": "object", "required": ["a", "é"]}, {"type": ["string", "array"]},
    {"enum": [None, "a", 1]}, {"minimum": 3.5}, {"multipleOf": 2},
    {"minLength": 2}, {"uniqueItems": True}, {"format": "date"},
]  # fmt: skip
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
RUNAWAY = "^(a+)+$"
LONG = "a" * 40 + "!"
TREE = {"properties": {"child": {"$ref": "#/$defs/node"}}}
NODE = {"if": TREE, "then": TREE, "else": False}
ROWS = {"items": {"required": ["a", "z"], "properties": {"a": {"type": "integer"}}}}
NEEDS_Z = '"z" is a required property'
WORDS = [
    ({"type": 5}, {"$ref": "https://json-schema.org/draft/2020-12/schema"}, "5 is not valid under any of the given schemas"),
    ({"a": {"a": 1}}, {"$schema": DRAFT_7, "properties": {"a": {"$ref": "#"}}, "type": "object"}, "1 is not of type 'object'"),
    ({"a": 1}, {"$id": "https://example.invalid/root", "properties": {"a": {"$ref": "root#/$defs/b"}}, "$defs": {"b": {"type": "null"}}}, "1 is not of type 'null'"),
    # what would keep `jsonschema` busy is in our words
    (5, {"allOf": [{"$ref": "#"}], "type": "string"}, '5 is not of type "string"'),
    (LONG, {"pattern": RUNAWAY}, f'"{LONG}" does not match "{RUNAWAY}"'),
    (nested(60, {}, "object"), {"$ref": "#/$defs/node", "required": ["z"], "$defs": {"node": NODE}}, NEEDS_Z),
    ([{"a": 1}] * 30_000, ROWS, NEEDS_Z),
]  # fmt: skip


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: f"{row[0]} {str(row[2])[:20]!r}")
def test_the_examples_differ_as_their_row_says(row):
    row_begins, name, prediction, reference, ours, theirs = row
    arguments = {"prediction": prediction, "reference": reference}
    found = [said(one[name], **arguments) for one in (OURS, THEIRS, LENIENT)]
    names = [one.partition(":")[0] if isinstance(one, str) else one for one in found]
    assert repr(names[:2]) == repr([ours, theirs])
    if not any(line.startswith(row_begins) and "always" in line for line in TABLE):
        assert agree(found[2], found[1], WORST[name]) or isinstance(found[2], str)


def test_every_row_of_the_guide_is_known_once_and_has_an_example():
    beginnings = {*(row[0] for row in EXAMPLES), "an option", "input"}
    for line in TABLE:
        assert sum(line.startswith(beginning) for beginning in beginnings) == 1, line
    assert len(TABLE) == len(beginnings)
    with pytest.raises(InvalidOptionError, match="has no option 'opeartor'"):
        load_evaluator("json_equality", opeartor=None)  # which LangChain swallows
    with pytest.warns(UserWarning, match="Ignoring reference"):
        THEIRS["json_validity"].evaluate_strings(prediction="{}", reference="[]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OURS["json_validity"].evaluate_strings(prediction="{}", reference="[]")


@pytest.mark.parametrize("name", ["json_validity", "json_edit_distance"])
@law
@given(PAIRS, st.sampled_from(["%s", '{"a": %s}']))
@example(('{"a": 1', '{"a": 1}'), "%s")
@example(("}", "null"), "%s")
@example(("[NaN]", "[NaN]"), "%s")
@example(('{"action_input": "two\nlines"}', ""), "%s")
def test_lenient_evaluators_are_langchains_to_the_letter(name, pair, form):
    assume(not LISTED.search(" ".join(pair)))
    prediction, reference = (form % text for text in pair)
    broken = isinstance(said(THEIRS[name], prediction="0", reference=reference), str)
    for output in (prediction, reference):
        ours = said(LENIENT[name], prediction=output, reference=reference)
        theirs = said(THEIRS[name], prediction=output, reference=reference)
        same = str(ours).startswith("Invalid") if broken else agree(ours, theirs, WORST[name])
        assert same, (ours, theirs)


@law
@given(clashing, st.lists(st.sampled_from(RULES), min_size=1, max_size=3), st.booleans())
def test_schema_verdicts_and_their_words_are_langchains(document, rules, is_old):
    either = {"anyOf": rules, "properties": {"a": rules[0]}, "items": {"oneOf": rules}}
    for schema in ({"allOf": rules}, either, {"if": rules[0], "then": rules[-1]}):
        draft = {"$schema": DRAFT_7} if is_old else {}
        arguments = {"prediction": json.dumps(document), "reference": {**draft, **schema}}
        ours = said(OURS["json_schema_validation"], **arguments)
        assert ours == said(THEIRS["json_schema_validation"], **arguments)


@pytest.mark.parametrize(("value", "schema", "message"), WORDS, ids=lambda each: str(each)[:30])
@pytest.mark.usefixtures("nothing_leaves")
def test_the_words_take_bounded_time_and_nothing_is_fetched(value, schema, message, monkeypatch):
    def words(value, schema):
        arguments = {"prediction": json.dumps(value), "reference": schema}
        return OURS["json_schema_validation"].evaluate_strings(**arguments)["reasoning"]

    with at_most(10):
        assert words(value, schema) == f"<ValidationError: {message!r}>"
    monkeypatch.setitem(sys.modules, "jsonschema", None)  # without it the words are ours
    assert words(5, {"type": "string"}) == "<ValidationError: '5 is not of type \"string\"'>"
