"""A text that is no JSON becomes what it was meant to be, or is refused; every change is told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import broken_texts, json_texts, law

from llmeval_integrations.guards import repair
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse

# The text, its value, and the defects that are repaired, in order.
REPAIRED = [
    ('Here it is: {"a": 1} ok?', {"a": 1}, "prose_around prose_around"),
    ('Sure!\n```json\n{"a": 1,}\n```\nDone', {"a": 1}, "prose_around trailing_comma prose_around"),
    ('{"a": 1},', {"a": 1}, "trailing_comma"),
    ('{"a": "b", # c\n}', {"a": "b"}, "comment trailing_comma"),
    ('/* a */ {"a": 1} // done', {"a": 1}, "comment comment"),
    ("{'a': 'it's', 'b': None}", {"a": "it's", "b": None},
     "single_quotes single_quotes single_quotes python_literal"),
    ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}, "single_quotes single_quotes"),
    ("{'a': TRUE}", {"a": True}, "single_quotes bare_word"),
    ("{a: 1, $b-c: 2}", {"a": 1, "$b-c": 2}, "unquoted_key unquoted_key"),
    ('{"a": "x\ny\x01"}', {"a": "x\ny\x01"}, "control_character control_character"),
    ('{"a": "it\\\'s"}', {"a": "it's"}, "invalid_escape"),
    ('{"a": 1}}]', {"a": 1}, "mismatched_bracket"),
    ("\ufeff{}", {}, "byte_order_mark"),
]  # fmt: skip

# What was meant is not in the text, or two things may have been.
REFUSED = [
    ("", "empty"),
    ("I cannot help with that.", "prose"),
    ("As [1, 2] show, there is none.", "prose_around"),
    ('Either {"a": 1} or {"a": 2}', "prose_around"),
    ('{"a": {"b": 1}}, "c": 2}', "extra_data"),
    ('{"a": 1, "b": "hel', "truncated"),
    ("[1, ..., 9]", "ellipsis"),
    ("[1,,2]", "missing_value"),
    ("[1 2]", "missing_comma"),
    ('{"a": yes}', "bare_word"),
    ("{“a”: 1}", "smart_quotes"),
    ('{"a": NaN}', "nan_or_infinity"),
    ('{"a": "\\d+"}', "invalid_escape"),
    ("[1,000]", "number"),
    ('{"size": 5 kg}', "number"),
    ('{"a": 1]', "mismatched_bracket"),
    ('{"a": "the "large" one"}', "unescaped_quote"),
    ("['the boys', she said']", "bare_word"),
    ("[1e999]", "number_out_of_range"),
]


@pytest.mark.parametrize(("text", "value", "defects"), REPAIRED)
def test_what_can_mean_one_thing_is_repaired(text, value, defects):
    done = repair(text)
    assert repr(done.value) == repr(value)
    assert done.refusal is None
    assert " ".join(edit.defect for edit in done.edits) == defects


@pytest.mark.parametrize(("text", "name"), REFUSED)
def test_what_can_mean_more_is_refused(text, name):
    done = repair(text)
    assert (done.value, done.refusal.name) == (None, name)


def test_edits_are_told_by_their_places_in_the_text_that_was_given():
    text = "Here: {'a': 'b',\n \"c\": None,}"
    done = repair(text)
    assert [edit.offset for edit in done.edits] == [0, 7, 12, 23, 27]
    for offset, _, old, new in reversed(done.edits):
        assert text[offset:].startswith(old)
        text = text[:offset] + new + text[offset + len(old) :]
    assert text == done.text == '{"a": "b",\n "c": null}'


@law
@given(json_texts | broken_texts)
def test_any_text_is_repaired_or_refused_and_json_stays(text):
    value, done = parse(text), repair(text)
    assert repr(parse(done.text)) == repr(done.refusal or done.value)
    assert all(0 <= edit.offset <= len(text) for edit in done.edits)
    if not isinstance(value, Defect) or value.is_json:  # such as a number out of range
        assert (done.edits, done.text) == ([], text)


DRESSES = [
    repr,
    lambda value: json.dumps(value, indent=1).replace(",\n", ", // [what, {follows}\n"),
    lambda value: json.dumps(value, indent=1).replace("\n]", ",\n]").replace("\n}", ",\n}"),
    lambda value: f"Here you are:\n{json.dumps(value)}\nIs it right?",
    lambda value: json.dumps(value).replace("true", "True").replace("null", "None"),
]
_TEXTS = st.text("ab ',:é\"\\\n{}[]#/", max_size=6) | st.sampled_from(["it's", "a, b", "None"])
_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, -1e30]) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
).map(lambda value: {"a": value})


@law
@given(_DOCUMENTS, st.sampled_from(DRESSES))
def test_a_dressed_document_is_itself_or_refused(value, dress):
    done = repair(dress(value))
    assert done.refusal is not None or done.value == value
