"""Side by side with LangChain: the same in lenient mode, and by default on clean JSON.

What differs otherwise is in test_langchain_differences.py.
"""

import json
import re

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

pytest.importorskip("langchain_classic")
pytest.importorskip("jsonschema")

from langchain_classic import evaluation
from langchain_rows import FENCE, OURS, THEIRS, said

from llmeval_integrations import InvalidReferenceError
from llmeval_integrations.frameworks.langchain import load_evaluator

generated = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # fmt: skip


def agree(ours, theirs, worst):
    """Whether two answers say the same: where LangChain raises, ours is low and has the reason."""
    if isinstance(theirs, Exception):
        return ours == {"score": worst, "reasoning": str(theirs)}
    return ours == theirs


# --- documents, and what models do to them -----------------------------------------------------

# Without what the table lists: numbers beyond a float, half a surrogate pair.
HALVES = re.compile(r"\\ud83d(?!\\ude00)|(?<!\\ud83d)\\ude00")
numbers = st.integers(0, 2**70) | st.floats(-1, 1e20, allow_nan=False) | st.sampled_from([0, 1])
words = st.text(st.sampled_from('ab"\\\n\té😀{}[],:` '), max_size=6)
no_booleans = st.none() | numbers | words
leaves = no_booleans | st.booleans()


def documents_of(leaves):
    keys = st.sampled_from(["a", "b", "é", "action_input"])
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


documents = documents_of(leaves)


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
    ours = said(OURS["json_validity", "lenient"], prediction=prediction)
    assert ours == said(THEIRS["json_validity"], prediction=prediction)


@pytest.mark.parametrize(("name", "worst"), [("json_equality", False), ("json_edit_distance", 1.0)])
@generated
@given(texts(), texts())
@example('{"a": 1', '{"a": 1}')
@example("}", "null")
@example("[NaN]", "[NaN]")
def test_lenient_comparisons_are_langchains(name, worst, prediction, reference):
    assume(not HALVES.search(f"{prediction} {reference}"))
    broken = isinstance(said(THEIRS[name], prediction="0", reference=reference), Exception)
    for output in (prediction, reference):
        ours = said(OURS[name, "lenient"], prediction=output, reference=reference)
        theirs = said(THEIRS[name], prediction=output, reference=reference)
        same = isinstance(ours, InvalidReferenceError) if broken else agree(ours, theirs, worst)
        assert same, (ours, theirs)


@generated
@given(st.lists(documents, max_size=5), st.data())
def test_lenient_equality_takes_top_level_lists_in_any_order_as_langchain_does(items, data):
    prediction = json.dumps(data.draw(st.permutations(items)))
    reference = json.dumps(items)
    for nested in ("{}", '{{"a": {}}}'):
        arguments = {"prediction": nested.format(prediction), "reference": nested.format(reference)}
        ours = said(OURS["json_equality", "lenient"], **arguments)
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
    assert said(OURS["json_schema_validation", "markdown"], **arguments) == said(
        THEIRS["json_schema_validation"], **arguments
    )


@generated
@given(texts(), rules)
@example('["\\ud83d', {"type": "array"})
def test_lenient_schema_verdicts_are_langchains(prediction, schema):
    arguments = {"prediction": prediction, "reference": json.dumps(schema)}
    ours = said(OURS["json_schema_validation", "lenient"], **arguments)
    theirs = said(THEIRS["json_schema_validation"], **arguments)
    if isinstance(ours, dict) and (ours.get("reasoning") or "").startswith("Lone surrogate"):
        assert ours["score"] is False  # the guide's row "half a surrogate pair": always
    elif "NaN" not in prediction:
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


@generated
@given(documents_of(no_booleans), documents_of(no_booleans))
def test_the_defaults_agree_with_langchain_on_clean_json(one, other):
    for name in ("json_validity", "json_equality", "json_edit_distance"):
        for prediction, reference in ((one, one), (one, other)):
            arguments = {"prediction": json.dumps(prediction), "reference": json.dumps(reference)}
            assert said(OURS[name, "markdown"], **arguments) == said(THEIRS[name], **arguments)
