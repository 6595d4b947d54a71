"""Side by side with LangChain: equal in drop-in configuration, else as the table says."""

import json
import logging
import warnings

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

pytest.importorskip("langchain_classic")
pytest.importorskip("jsonschema")

from jsonschema import SchemaError
from langchain_classic import evaluation

from llmeval_integrations import InvalidReferenceError, InvalidSchemaError
from llmeval_integrations.frameworks.langchain import load_evaluator

NAMES = ("json_validity", "json_equality", "json_edit_distance", "json_schema_validation")
OURS = {name: load_evaluator(name) for name in NAMES}
LENIENT = {name: load_evaluator(name, parsing="lenient") for name in NAMES}
THEIRS = {name: evaluation.load_evaluator(name) for name in NAMES}
FENCE = "```"
DEFECT = "Expecting value: line 1 column 1 (char 0)"

generated = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # fmt: skip


def said(evaluator, **arguments):
    """Give an evaluator's result, or the error that it raises."""
    logging.disable(logging.CRITICAL)  # LangChain logs with traceback what it then swallows
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return evaluator.evaluate_strings(**arguments)
    except Exception as error:  # noqa: BLE001
        return error
    finally:
        logging.disable(logging.NOTSET)


def agree(ours, theirs, worst):
    """Whether two answers say the same: where LangChain raises, ours is low and has the reason."""
    if isinstance(theirs, Exception):
        return ours == {"score": worst, "reasoning": str(theirs)}
    return ours == theirs


# --- documents, and what models do to them -----------------------------------------------------

# Without what the table lists: booleans beside 0 and 1, numbers beyond a float.
numbers = st.integers(2, 2**70) | st.floats(2, 1e20, allow_nan=False) | st.just(-0.5)
words = st.text(st.sampled_from('ab"\\\n\té😀{}[],:` '), max_size=6)
leaves = st.none() | st.booleans() | numbers | words
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "é", "action_input"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def texts(draw, values=documents):
    """A document as a model might write it."""
    value = draw(values)
    indent = draw(st.sampled_from([None, 2]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    cut = draw(st.integers(0, len(text)))
    more = draw(st.sampled_from(["", " ok", "}", "]", ",", "\n\nDone.", FENCE, text]))
    forms = [
        text,
        text[:cut],
        text + more,
        f"{FENCE}json\n{text}\n{FENCE}",
        f"{FENCE}{text}{FENCE}",
        f"Here it is:\n{FENCE}json\n{text}\n{FENCE}\nAnything else?",
        f"{FENCE}json\n{text[:cut]}",
        f"{FENCE}json\n{text}\n{FENCE}\n{FENCE}json\n{text}\n{FENCE}",
        f"The result is {text}{more}",
        text[:cut] + draw(st.sampled_from('{}[]",:\\`\n1tN\x00')) + text[cut:],
        text[:cut] + text[cut + 1 :],
        text.replace('"', "'"),
        text.replace("true", "True").replace("null", "NaN"),
        text.replace("\\n", "\n").replace("\\t", "\t"),
        draw(words),
    ]
    around = draw(st.sampled_from(["", " ", "\n", "`", "\ufeff", "\xa0"]))
    return around + draw(st.sampled_from(forms)) + around.strip("\ufeff\xa0")


@generated
@given(texts())
@example("}")
@example("")
@example('{"action_input": "two\nlines"}')
def test_lenient_validity_is_langchains_to_the_letter(prediction):
    ours = said(LENIENT["json_validity"], prediction=prediction)
    assert ours == said(THEIRS["json_validity"], prediction=prediction)


@pytest.mark.parametrize(("name", "worst"), [("json_equality", False), ("json_edit_distance", 1.0)])
@generated
@given(texts(), texts())
@example('{"a": 1', '{"a": 1}')
@example("}", "null")
@example("[NaN]", "[NaN]")
def test_lenient_comparisons_are_langchains(name, worst, prediction, reference):
    broken = isinstance(said(THEIRS[name], prediction="0", reference=reference), Exception)
    for output in (prediction, reference):
        ours = said(LENIENT[name], prediction=output, reference=reference)
        theirs = said(THEIRS[name], prediction=output, reference=reference)
        same = isinstance(ours, InvalidReferenceError) if broken else agree(ours, theirs, worst)
        assert same, (ours, theirs)


@generated
@given(st.lists(leaves.filter(lambda leaf: not isinstance(leaf, str)), max_size=5), st.data())
def test_lenient_equality_takes_top_level_lists_in_any_order_as_langchain_does(items, data):
    prediction = json.dumps(data.draw(st.permutations(items)))
    reference = json.dumps(items)
    for nested in ("{}", '{{"a": {}}}'):
        arguments = {"prediction": nested.format(prediction), "reference": nested.format(reference)}
        ours = said(LENIENT["json_equality"], **arguments)
        assert ours == said(THEIRS["json_equality"], **arguments)


kinds = st.sampled_from(["string", "integer", "number", "object", "array", "null", "boolean"])
rules = st.recursive(
    st.fixed_dictionaries({"type": kinds | st.lists(kinds, min_size=2, max_size=2, unique=True)})
    | st.fixed_dictionaries({"enum": st.lists(leaves, min_size=1, max_size=3)})
    | st.sampled_from(
        [
            {"minimum": 3.5},
            {"exclusiveMaximum": 100},
            {"multipleOf": 2},
            {"minLength": 2},
            {"maxLength": 1},
            {"pattern": "^[ab]+$"},
            {"required": ["a", "é"]},
            {"uniqueItems": True},
            {"minItems": 2},
            {"maxProperties": 1},
            {"format": "date"},
        ]
    ),
    lambda inner: st.fixed_dictionaries({"properties": st.fixed_dictionaries({"a": inner, "b": inner}), "additionalProperties": st.just(False) | inner})
    | st.fixed_dictionaries({"items": inner, "type": st.just("array")})
    | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=3), "not": inner})
    | st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
    max_leaves=6,
)  # fmt: skip


@generated
@given(documents, rules, st.sampled_from(["", "http://json-schema.org/draft-07/schema#"]))
def test_schema_verdicts_and_their_words_are_langchains(document, schema, draft):
    schema = {"$schema": draft, **schema} if draft else schema
    arguments = {"prediction": json.dumps(document), "reference": schema}
    assert said(OURS["json_schema_validation"], **arguments) == said(
        THEIRS["json_schema_validation"], **arguments
    )


@generated
@given(texts(), rules)
def test_lenient_schema_verdicts_are_langchains(prediction, schema):
    arguments = {"prediction": prediction, "reference": json.dumps(schema)}
    ours = said(LENIENT["json_schema_validation"], **arguments)
    theirs = said(THEIRS["json_schema_validation"], **arguments)
    if "NaN" not in prediction:
        assert agree(ours, theirs, worst=False)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("exact_match", {}),
        ("exact_match", {"ignore_case": True, "ignore_punctuation": True, "ignore_numbers": True}),
        ("string_distance", {}),
        ("string_distance", {"distance": evaluation.StringDistance.DAMERAU_LEVENSHTEIN}),
        ("string_distance", {"distance": evaluation.StringDistance.HAMMING, "normalize_score": False}),
        ("string_distance", {"distance": "indel"}),
        ("string_distance", {"distance": "jaro", "normalize_score": False}),
    ],
)  # fmt: skip
@settings(max_examples=40, deadline=None)
@given(st.text("aAbB1.é ", max_size=8), st.text("aAbB1.é ", max_size=8))
def test_the_evaluators_of_plain_texts_are_langchains(name, options, prediction, reference):
    arguments = {"prediction": prediction, "reference": reference}
    ours = load_evaluator(name, **options).evaluate_strings(**arguments)
    assert ours == evaluation.load_evaluator(name, **options).evaluate_strings(**arguments)


@settings(max_examples=100, deadline=None)
@given(
    st.text("ab\n", max_size=6),
    st.sampled_from(["a", "A|b", "^a*b?$", ".b", "(a)(b)?"]),
    st.sampled_from([0, 2, 16]),
)
def test_regular_expressions_match_as_langchains(prediction, pattern, flags):
    arguments = {"prediction": prediction, "reference": pattern}
    ours = load_evaluator("regex_match", flags=flags).evaluate_strings(**arguments)
    theirs = evaluation.load_evaluator("regex_match", flags=flags).evaluate_strings(**arguments)
    assert ours == theirs


# --- where we differ, and why ------------------------------------------------------------------

DIFFERENCES = [
    # name, prediction, reference, ours, LangChain's (a result or an error), and whose lenient
    # mode gives
    ("json_validity", '{"a": NaN}', None, {"score": 0, "reasoning": "NaN is not JSON: line 1 column 7 (char 6)"}, {"score": 1}, "theirs"),
    ("json_validity", '["\\ud800"]', None, {"score": 0, "reasoning": "Lone surrogate: line 1 column 3 (char 2)"}, {"score": 1}, "theirs"),
    ("json_validity", '{"action_input": "a\nb"}', None, {"score": 0, "reasoning": "Invalid control character at: line 1 column 20 (char 19)"}, {"score": 1}, "theirs"),
    ("json_validity", f"Here:\n{FENCE}json\n{{}}\n{FENCE}", None, {"score": 0, "reasoning": DEFECT}, {"score": 1}, "theirs"),
    ("json_validity", f"{FENCE}json\n{{}}\n{FENCE}\n{FENCE}json\n[]\n{FENCE}", None, {"score": 0, "reasoning": "Extra data: line 3 column 1 (char 11)"}, {"score": 0, "reasoning": "Extra data: line 2 column 1 (char 3)"}, "theirs"),
    ("json_validity", "~~~json\n{}\n~~~", None, {"score": 1}, {"score": 0, "reasoning": DEFECT}, "theirs"),
    ("json_validity", f"{FENCE}JSON\n{{}}\n{FENCE}", None, {"score": 1}, {"score": 0, "reasoning": DEFECT}, "theirs"),
    ("json_validity", {"a": 1}, None, {"score": 1}, {"score": 0, "reasoning": "'dict' object has no attribute 'strip'"}, "ours"),
    ("json_validity", b"{}", None, {"score": 1}, {"score": 0, "reasoning": "a bytes-like object is required, not 'str'"}, "ours"),
    ("json_equality", '{"a": 1', '{"a": 1}', {"score": False, "reasoning": "Expecting ',' delimiter: line 1 column 8 (char 7)"}, {"score": True}, "theirs"),
    ("json_equality", '{"a": 1} and more', '{"a": 1}', {"score": False, "reasoning": "Extra data: line 1 column 10 (char 9)"}, {"score": True}, "theirs"),
    ("json_equality", '{"a": 1}{"a": 2}', '{"a": 1}', {"score": False, "reasoning": "Extra data: line 1 column 9 (char 8)"}, {"score": True}, "theirs"),
    ("json_equality", '"a\nb"', '"a\\nb"', {"score": False, "reasoning": "Invalid control character at: line 1 column 3 (char 2)"}, {"score": True}, "theirs"),
    ("json_equality", "}", "null", {"score": False, "reasoning": DEFECT}, {"score": True}, "theirs"),
    ("json_equality", "I cannot help.", "{}", {"score": False, "reasoning": DEFECT}, json.JSONDecodeError, "ours"),
    ("json_equality", "{}", '{"a": 1', InvalidReferenceError, {"score": False}, "theirs"),
    ("json_equality", "{}", "no JSON", InvalidReferenceError, json.JSONDecodeError, "ours"),
    ("json_equality", "[NaN]", "[NaN]", InvalidReferenceError, {"score": True}, "theirs"),
    ("json_equality", "[true]", "[1]", {"score": False}, {"score": True}, "ours"),
    ("json_equality", '[{"b": 1, "a": 2}, {"a": 3}]', '[{"a": 3}, {"a": 2, "b": 1}]', {"score": True}, {"score": False}, "ours"),
    ("json_equality", '[1, "1"]', '["1", 1]', {"score": True}, {"score": False}, "ours"),
    ("json_equality", "1e400", "1e500", {"score": False}, {"score": True}, "ours"),
    ("json_equality", "1" * 5000, "1" * 5000, {"score": True}, ValueError, "ours"),
    ("json_equality", (1, 2), [1, 2], {"score": True}, {"score": 0}, "ours"),
    ("json_edit_distance", '{"a": 1', '{"a": 1}', {"score": 1.0, "reasoning": "Expecting ',' delimiter: line 1 column 8 (char 7)"}, {"score": 0.0}, "theirs"),
    ("json_edit_distance", "I cannot help.", "{}", {"score": 1.0, "reasoning": DEFECT}, json.JSONDecodeError, "ours"),
    ("json_schema_validation", '{"a": 1', {"type": "object"}, {"score": False, "reasoning": "Expecting ',' delimiter: line 1 column 8 (char 7)"}, {"score": True}, "theirs"),
    ("json_schema_validation", "I cannot help.", {"type": "object"}, {"score": False, "reasoning": DEFECT}, json.JSONDecodeError, "ours"),
    ("json_schema_validation", "1", '{"type": "object"', InvalidSchemaError, {"score": False, "reasoning": "<ValidationError: \"1 is not of type 'object'\">"}, "theirs"),
    ("json_schema_validation", "1", {"$ref": "#"}, {"score": True}, RecursionError, "ours"),
    ("json_schema_validation", '"\u0663"', {"pattern": "^\\d$"}, {"score": False, "reasoning": "<ValidationError: {!r}>".format("'\u0663' does not match '^\\\\d$'")}, {"score": True}, "ours"),
    ("json_schema_validation", '"a"', {"pattern": "^\\p{L}$"}, {"score": True}, SchemaError, "ours"),
    ("json_schema_validation", '{"a": 1}', {"patternProperties": {"^a": {"type": "null"}}}, {"score": False, "reasoning": "<ValidationError: '1 is not of type \"null\"'>"}, {"score": False, "reasoning": "<ValidationError: \"1 is not of type 'null'\">"}, "ours"),
]  # fmt: skip


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: f"{row[0]} {str(row[1])[:20]!r}")
def test_the_defaults_differ_from_langchain_as_the_table_says(row):
    name, prediction, reference, ours, theirs, whose = row
    lenient = {"ours": ours, "theirs": theirs}[whose]
    for evaluator, expected in (
        (OURS[name], ours),
        (THEIRS[name], theirs),
        (LENIENT[name], lenient),
    ):
        answer = said(evaluator, prediction=prediction, reference=reference)
        assert isinstance(answer, expected) if isinstance(expected, type) else answer == expected


@generated
@given(documents, documents)
def test_the_defaults_agree_with_langchain_on_clean_json(one, other):
    for name in NAMES[:3]:
        for prediction, reference in ((one, one), (one, other)):
            arguments = {"prediction": json.dumps(prediction), "reference": json.dumps(reference)}
            assert said(OURS[name], **arguments) == said(THEIRS[name], **arguments)
