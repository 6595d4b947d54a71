"""How deep a text is nested, told without parsing it."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_strategies import json_texts, law
from pace import at_most

from llmeval_integrations.json_values import depth as json_depth
from llmeval_integrations.json_values.depth import MAX_DEPTH, deepest, is_too_deep

pytestmark = pytest.mark.once


def levels(text: str) -> int:
    """Count the levels of a JSON text one character at a time."""
    depth = most = 0
    inside = escaped = False
    for character in text:
        if inside:
            inside, escaped = escaped or character != '"', not escaped and character == "\\"
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            most = max(most, depth)
        elif character in "]}":
            depth -= 1
    return most


def wrap(text: str, depth: int, kind: str) -> str:
    opening, closing = {"array": ("[", "]"), "object": ('{"a":', "}"), "both": ('[{"b":', "}]")}[
        kind
    ]
    wraps = depth // len(closing)
    return opening * wraps + text + closing * wraps


@pytest.mark.parametrize("kind", ["array", "object", "both"])
@pytest.mark.parametrize("depth", [MAX_DEPTH - 2, MAX_DEPTH, MAX_DEPTH + 2, 3 * MAX_DEPTH])
@pytest.mark.parametrize(
    "inside",
    ["1", '"[[[["', '"\\"[[["', '"\\\\"', '["]]]]", "}}}}"]', "[" + "[],{}," * 4000 + "1]"],
)
def test_a_text_is_too_deep_beyond_the_limit(kind, depth, inside):
    text = wrap(inside, depth, kind)
    assert is_too_deep(text) == (levels(text) > MAX_DEPTH)


@given(
    st.integers(MAX_DEPTH - 2, MAX_DEPTH + 2),
    st.sampled_from([0, 0.01, 0.2, 0.5, 0.99, 1]),
    st.sampled_from(["[]", "{}", "1", '"[[{"']),
    st.sampled_from(["", " ", "\n" * 100]),
    st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_no_spelling_is_too_short_to_be_counted(depth, objects, inside, behind, seed):
    choice = random.Random(seed)
    levels_of = [('{"":', "}") if choice.random() < objects else ("[", "]") for _ in range(depth)]
    text = "".join(opening for opening, _ in levels_of) + inside
    text += "".join(closing for _, closing in reversed(levels_of)) + behind
    assert is_too_deep(text) == (levels(text) > MAX_DEPTH)


def test_brackets_in_texts_are_no_levels():
    assert not is_too_deep(json.dumps(["[" * 9000, '"{' * 9000, '\\"[' * 9000]))


@law
@given(json_texts, st.integers(0, 40), st.sampled_from(["array", "object", "both"]))
def test_the_deepest_level_is_where_it_is(inside, depth, kind):
    text = wrap(inside, depth, kind)
    found, offset = deepest(text, 0)
    assert found == levels(text)
    if found:
        assert text[offset] in "[{"
        assert levels(text[: offset + 1]) == found > levels(text[:offset])


def test_the_deepest_level_is_counted_from_a_start():
    assert deepest("``` [[1]]", 4) == (2, 5)
    assert deepest("no brackets", 0) == (0, 0)


def test_no_text_takes_long():
    for text in ("[" * 10**6, '"' * 10**6, '["\\"",{}],' * 10**5, '"' + "\\" * 10**6):
        with at_most(3):
            is_too_deep(text)
        with at_most(2):
            deepest(text, 0)


def test_the_limit_is_within_what_every_part_can_take():
    assert 400 < json_depth.MAX_DEPTH < 10_000
