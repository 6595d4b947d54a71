"""Side by side with LangChain on texts gone wrong: each difference is a row of the guide's table.

The drop-ins run as they come and in lenient mode. Where their answer is not LangChain's to the
letter, `row_of` has to name the row of "Where we differ, and why" that says so, and in lenient
mode that row has to be marked "always". `EXAMPLES=200000` makes the search that long.
"""

import json
import os
import warnings
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from json_strategies import broken_texts, clashing, documents, json_texts

pytest.importorskip("langchain_classic")
pytest.importorskip("jsonschema")

from langchain_classic import evaluation
from langchain_rows import ALWAYS, FENCE, OURS, ROWS, TABLE, THEIRS, differences

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.frameworks.langchain import load_evaluator

# --- examples ----------------------------------------------------------------------------------

OBJECT = {"type": "object"}
VALUE_EXPECTED = "Expecting value: line 1 column 1 (char 0)"
NO_JSON = {"score": False, "reasoning": VALUE_EXPECTED}
DIGIT = {"score": False, "reasoning": "<ValidationError: {!r}>".format("'\u0663' does not match '^\\\\d$'")}  # fmt: skip


def because(score, reason):
    return {"score": score, "reasoning": reason}


EXAMPLES = [
    # row, evaluator, prediction, reference, our answer, LangChain's; an error stands by its name
    ("cut", "json_equality", '{"a": 1', '{"a": 1}', because(False, "Expecting ',' delimiter: line 1 column 8 (char 7)"), {"score": True}),
    ("cut", "json_edit_distance", '{"a": 1', '{"a": 1}', because(1.0, "Expecting ',' delimiter: line 1 column 8 (char 7)"), {"score": 0.0}),
    ("cut", "json_schema_validation", '{"a": 1', OBJECT, because(False, "Expecting ',' delimiter: line 1 column 8 (char 7)"), {"score": True}),
    ("first", "json_validity", f"Here:\n{FENCE}json\n{{}}\n{FENCE}", "", because(0, VALUE_EXPECTED), {"score": 1}),
    ("first", "json_equality", '{"a": 1} and more', '{"a": 1}', because(False, "Extra data: line 1 column 10 (char 9)"), {"score": True}),
    ("first", "json_equality", '{"a": 1}{"a": 2}', '{"a": 1}', because(False, "Extra data: line 1 column 9 (char 8)"), {"score": True}),
    ("first", "json_equality", "5 kg", "5", because(False, "Extra data: line 1 column 3 (char 2)"), {"score": True}),
    ("before", "json_equality", "[1, 'x'", "[1]", because(False, "Expecting value: line 1 column 5 (char 4)"), {"score": True}),
    ("before", "json_equality", '{"a": 1, b: 2', '{"a": 1}', because(False, "Expecting property name enclosed in double quotes: line 1 column 10 (char 9)"), {"score": True}),
    ("raw", "json_equality", '"a\nb"', '"a\\nb"', because(False, "Invalid control character at: line 1 column 3 (char 2)"), {"score": True}),
    ("raw", "json_validity", '{"action_input": "a\nb"}', "", because(0, "Invalid control character at: line 1 column 20 (char 19)"), {"score": 1}),
    ("back-tick", "json_validity", "`{}", "", because(0, VALUE_EXPECTED), {"score": 1}),
    ("stray bracket", "json_equality", "}", "null", NO_JSON, {"score": True}),
    ("stray bracket", "json_equality", '{"a": 1]', "null", because(False, "Expecting ',' delimiter: line 1 column 8 (char 7)"), {"score": True}),
    ("NaN", "json_validity", '{"a": NaN}', "", because(0, "NaN is not JSON: line 1 column 7 (char 6)"), {"score": 1}),
    ("NaN", "json_schema_validation", "-Infinity", {}, because(False, "-Infinity is not JSON: line 1 column 1 (char 0)"), {"score": True}),
    ("surrogate", "json_validity", '["\\ud800"]', "", because(0, "Lone surrogate: line 1 column 3 (char 2)"), {"score": 1}),
    ("fence", "json_validity", "~~~json\n{}\n~~~", "", {"score": 1}, because(0, VALUE_EXPECTED)),
    ("fence", "json_validity", f"{FENCE}JSON\n{{}}\n{FENCE}", "", {"score": 1}, because(0, VALUE_EXPECTED)),
    ("fence", "json_equality", f"{FENCE}json5\n{{}}\n{FENCE}", "5", {"score": False}, {"score": True}),
    ("reason", "json_validity", " [1, x]", "", because(0, "Expecting value: line 1 column 6 (char 5)"), because(0, "Expecting value: line 1 column 5 (char 4)")),
    ("reason", "json_validity", f"{FENCE}json\n[1,\n x]\n{FENCE}", "", because(0, "Expecting value: line 3 column 2 (char 13)"), because(0, "Expecting value: line 2 column 2 (char 5)")),
    ("reference", "json_equality", "{}", '{"a": 1', "InvalidReferenceError", {"score": False}),
    ("reference", "json_equality", "[NaN]", "[NaN]", "InvalidReferenceError", {"score": True}),
    ("reference", "json_schema_validation", "{}", '{"type": "object"', "InvalidSchemaError", {"score": True}),
    ("prose", "json_equality", "I cannot help.", "{}", NO_JSON, "JSONDecodeError"),
    ("prose", "json_edit_distance", "", "{}", because(1.0, VALUE_EXPECTED), "JSONDecodeError"),
    ("prose", "json_schema_validation", "I cannot help.", OBJECT, NO_JSON, "JSONDecodeError"),
    ("boolean", "json_equality", "[true]", "[1]", {"score": False}, {"score": True}),
    ("0", "json_equality", "{}", "[]", {"score": False}, {"score": 0}),
    ("infinite", "json_equality", "1e400", "1e5", because(False, "Number out of range: line 1 column 1 (char 0)"), {"score": False}),
    ("digits", "json_equality", "1" * 5000, "1" * 5000, {"score": True}, "ValueError"),
    ("order", "json_equality", '[{"b": 1, "a": 2}, {"a": 3}]', '[{"a": 3}, {"a": 2, "b": 1}]', {"score": True}, {"score": False}),
    ("order", "json_equality", '[1, "1"]', '["1", 1]', {"score": True}, {"score": False}),
    ("deep", "json_equality", "[" * 10**5 + "]" * 10**5, "[]", because(False, "Nested 100000 levels deep: line 1 column 100000 (char 99999)"), "RecursionError"),
    ("value", "json_validity", {"a": 1}, "", {"score": 1}, because(0, "'dict' object has no attribute 'strip'")),
    ("value", "json_validity", b"{}", "", {"score": 1}, because(0, "a bytes-like object is required, not 'str'")),
    ("like JSON", "json_equality", (1, 2), [1, 2], {"score": True}, {"score": 0}),
    ("like JSON", "json_equality", b"{}", {}, {"score": True}, {"score": False}),
    ("like JSON", "json_edit_distance", Decimal("1.5"), 1.5, {"score": 0.0}, "TypeError"),
    ("unlike JSON", "json_equality", {1: 2}, {}, because(False, "the key 1 is not text at /1"), {"score": False}),
    ("unlike JSON", "json_equality", {}, {1, 2}, "InvalidReferenceError", {"score": False}),
    ("unlike JSON", "json_edit_distance", {1, 2}, {}, because(1.0, "set is not a JSON value at the root"), "TypeError"),
    ("no reference", "json_equality", "{}", "no JSON", "InvalidReferenceError", "JSONDecodeError"),
    ("no schema", "json_schema_validation", "1", {"type": "objekt"}, "InvalidSchemaError", "SchemaError"),
    ("no schema", "json_schema_validation", "1", "5", "InvalidSchemaError", "TypeError"),
    ("no schema", "json_schema_validation", "1", {"$ref": "#/nowhere"}, "InvalidSchemaError", "_WrappedReferencingError"),
    ("remote", "json_schema_validation", "1", {"$schema": "http://example.com/none"}, "InvalidSchemaError", {"score": True}),
    ("no keyword", "json_schema_validation", "1", {"name": "string"}, "InvalidSchemaError", {"score": True}),
    ("arithmetic", "json_schema_validation", "0.3", {"multipleOf": 0.1}, {"score": True}, because(False, "<ValidationError: '0.3 is not a multiple of 0.1'>")),
    ("arithmetic", "json_schema_validation", '{"a": 1}', {"dependencies": {"a": ["b"]}}, because(False, "<ValidationError: '\"b\" is a required property'>"), {"score": True}),
    ("loop", "json_schema_validation", "1", {"$ref": "#"}, {"score": True}, "RecursionError"),
    ("pattern", "json_schema_validation", '"\u0663"', {"pattern": "^\\d$"}, DIGIT, {"score": True}),
    ("pattern", "json_schema_validation", '"a"', {"pattern": "^\\p{L}$"}, {"score": True}, "SchemaError"),
    ("words", "json_schema_validation", '{"a": 1}', {"patternProperties": {"^a": {"type": "null"}}}, because(False, "<ValidationError: '1 is not of type \"null\"'>"), because(False, "<ValidationError: \"1 is not of type 'null'\">")),
]  # fmt: skip


def named(answer):
    return type(answer).__name__ if isinstance(answer, Exception) else answer


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda row: f"{row[0]} {str(row[2])[:20]!r}")
def test_the_examples_differ_as_their_row_says(example):
    row, name, prediction, reference, ours, theirs = example
    found = {mode: answer for mode, *answer in differences(name, prediction, reference)}
    assert found["markdown"][0] == row
    assert repr([*map(named, found["markdown"][1:])]) == repr([ours, theirs])
    if row not in ALWAYS:
        assert "lenient" not in found
    elif row not in ("NaN", "surrogate") or name == "json_schema_validation":
        assert found["lenient"][0] == row


def test_an_option_that_langchain_swallows_is_refused():
    assert evaluation.JsonEqualityEvaluator(opeartor=None)
    with pytest.raises(InvalidOptionError, match="has no option 'opeartor'"):
        load_evaluator("json_equality", opeartor=None)


def test_what_langchain_warns_of_is_no_reason_to_warn():
    arguments = {"prediction": "{}", "reference": "[]"}
    with pytest.warns(UserWarning, match="Ignoring reference"):
        THEIRS["json_validity"].evaluate_strings(**arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OURS["json_validity", "markdown"].evaluate_strings(**arguments)


def test_every_row_of_the_readme_is_known_once_and_has_an_example():
    for line in TABLE:
        assert sum(line.startswith(beginning) for beginning in ROWS.values()) == 1, line
    assert len(TABLE) == len(ROWS)
    assert {example[0] for example in EXAMPLES} | {"option", "warning"} == {*ROWS}


# --- texts gone wrong --------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', "'", ",", ":", "\\", "`", FENCE, f"{FENCE}json\n", "~~~", "\n", "\t"),
        *("\x00", "\x0b", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff", "\u200b", "\ud800", "😀", "é", "“"),
        *("\\u", "\\ud800", "\\x", "\\'", "NaN", "-Infinity", "None", "True", "undefined", "null", "true"),
        *("0", "1", "-", ".5", "1.", "+1", "1e", "1E+400", "-1e500", "1e-400", "007", "1_000", "1,5"),
        *("//", "/*", "#", "...", "Sure! ", "\n\nDone.", '"action_input": "a\nb"', ', "a": 1', "5" * 4301),
    ]
)  # fmt: skip
ODD = st.sampled_from(
    [
        *("", " ", "`", FENCE, "null", "NaN", "[NaN]", "-Infinity", "1e400", "[1e500, -1e400]", "}", "]", "},{"),
        *("\ufeff{}", "\xa0{}", "{}\u3000", '"\\ud800"', '["\ud800"]', "1e99999999999999999999", "9" * 4301, "-0"),
        *("[" * 901 + "]" * 901, "[" * 1001, '{"a":' * 901, "{" * 40, '{"a": 1, "a": 2}', '{"action_input": "a\nb"}'),
        *(f"{FENCE}json\n{{}}\n{FENCE}\n{FENCE}json\n[]\n{FENCE}", f"{FENCE}JSON\n{{}}\n{FENCE}", "~~~\n{}\n~~~"),
    ]
)  # fmt: skip
WRAPPERS = st.sampled_from(
    [
        *("{}", "{}", "{}", "{}", " {}\n", "`{}`", "``{}``", "{}`", "`{}", "\xa0{}", "{}\u200b", "{},", "[{}"),
        *(f"{FENCE}json\n{{}}\n{FENCE}", f"{FENCE}{{}}{FENCE}", f"{FENCE}json5\n{{}}\n{FENCE}", "~~~json\n{}\n~~~"),
        *(f"{FENCE}json\n{{}}", f"{{}}\n{FENCE}", f"Here it is:\n{FENCE}json\n{{}}\n{FENCE}\nAnything else?"),
        *("The result is {}", "{} and more", "{}\n{}", "'{}'", '"{}"'),
    ]
)  # fmt: skip
CHANGES = {
    "cut": lambda text, at, _: text[:at],
    "behead": lambda text, at, _: text[at:],
    "delete": lambda text, at, _: text[:at] + text[at + 1 :],
    "insert": lambda text, at, piece: text[:at] + piece + text[at:],
    "replace": lambda text, at, piece: text[:at] + piece + text[at + len(piece) :],
    "repeat": lambda text, *_: text + text,
    "other quotes": lambda text, *_: text.replace('"', "'"),
    "other literals": lambda text, *_: text.replace("true", "True").replace("null", "NaN"),
    "raw line breaks": lambda text, *_: text.replace("\\n", "\n"),
}


def changed(text, changes, wrapper):
    for change, where, piece in changes:
        text = CHANGES[change](text, round(where * len(text)), piece)
    return wrapper.replace("{}", text)


def gone_wrong(texts):
    change = st.tuples(st.sampled_from([*CHANGES]), st.floats(0, 1), PIECES)
    wrong = st.builds(changed, texts, st.lists(change, max_size=3), WRAPPERS)
    return wrong | wrong | broken_texts | ODD


records = st.lists(
    st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, 1, "1", True, None]), max_size=2),
    max_size=3,
)


def written(value):
    return st.builds(
        json.dumps, st.just(value), ensure_ascii=st.booleans(), indent=st.sampled_from([None, 2])
    )


def shaken(value, random):
    """Give a value that may count as the same: members and items moved, booleans for 0 and 1."""
    if isinstance(value, dict):
        members = [(key, shaken(item, random)) for key, item in value.items()]
        return dict(random.sample(members, len(members)))
    if isinstance(value, list):
        items = [shaken(item, random) for item in value]
        return random.sample(items, len(items)) if random.random() < 0.5 else items
    same = [other for other in (0, False, 0.0, 1, True, 1.0) if other == value]
    return random.choice(same) if same and random.random() < 0.3 else value


@st.composite
def pairs(draw):
    """A prediction and a reference, alike more often than not."""
    value = draw(clashing | records | documents)
    text = draw(written(value) | json_texts)
    same = written(shaken(value, draw(st.randoms(use_true_random=False))))
    prediction = draw(same | gone_wrong(same) | gone_wrong(st.just(text)) | gone_wrong(json_texts))
    return prediction, draw(st.just(text) | st.just(text) | gone_wrong(json_texts))


SCHEMAS = st.sampled_from(
    [
        *({}, True, False, OBJECT, {"type": "array", "items": {"type": "number"}}, {"type": "null"}),
        *({"enum": [1, "a", None, [True], {"a": 1}]}, {"const": 0}, {"const": False}, {"maximum": 10, "type": "number"}),
        *({"required": ["a"], "properties": {"a": {"type": ["string", "null"]}}}, {"uniqueItems": True}, {"minLength": 2}),
        *({"multipleOf": 0.1}, {"name": "string"}, {"dependencies": {"a": ["b"]}}, {"type": "integer"}, {"maxProperties": 1}, {"not": {"type": "string"}}, {"$ref": "#"}),
        *({"type": "objekt"}, {"required": "a"}, [], 5, "text", {"$schema": "http://example.com/none"}),
    ]
)  # fmt: skip

thorough = settings(
    max_examples=int(os.environ.get("EXAMPLES", "300")) // 2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def check_differences(name, prediction, reference):
    for mode, row, *answers in differences(name, prediction, reference):
        assert row, (name, mode, answers)
        assert mode != "lenient" or row in ALWAYS, (name, row, answers)
        event(row)


@pytest.mark.timeout(0)
@thorough
@given(pairs())
def test_texts_gone_wrong_differ_as_the_table_says(pair):
    for name in ("json_validity", "json_equality", "json_edit_distance"):
        check_differences(name, *pair)


@pytest.mark.timeout(0)
@thorough
@given(
    gone_wrong((clashing | documents).flatmap(written) | json_texts),
    SCHEMAS | SCHEMAS.flatmap(lambda schema: gone_wrong(written(schema))),
)
def test_schemas_of_texts_gone_wrong_differ_as_the_table_says(prediction, schema):
    check_differences("json_schema_validation", prediction, schema)
