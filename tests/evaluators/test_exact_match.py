"""Is the output's text the reference's, with what may be left out left out?"""

import datetime as dt

import pytest

from llmeval_integrations import ExactMatch, LengthPenalty


class Name(str):
    __slots__ = ()

    def __str__(self):
        return "something else"


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ("a", "a", 1), ("a", "b", 0), ("a", "A", 0), ("a", "a ", 0), ("a\n", "a", 0), ("", "", 1), ("", "a", 0),
        ("é", "e\u0301", 0), ('{"a": 1}', '{"a":1}', 0), ("1", "1.0", 0), ("\ud800", "\ud800", 1),
        (1, "1", 1), (1.0, "1", 1), (None, "", 1), (None, "null", 0), ({"b": 1, "a": 2}, '{"a":2,"b":1}', 1),
        ({"a": 1}, {"a": 1.0}, 1), (True, 1, 0), (b"a", "a", 1), ("a", b"a", 1), ((1, 2), "[1,2]", 1),
        (Name("x"), "x", 1), (b"\xff", "\ufffd", 1),
        (dt.date(2024, 2, 29), "datetime.date(2024, 2, 29)", 1),
    ],
)  # fmt: skip
def test_texts_are_compared_to_the_letter_and_values_as_their_json(output, reference, score):
    result = ExactMatch()(output, reference)
    assert (result.score, result.passed) == (score, score == 1)
    if score and reference and isinstance(reference, str):
        assert LengthPenalty()(output).metadata["length"] == len(reference)


@pytest.mark.parametrize(
    ("options", "output", "reference", "score"),
    [
        ({"ignore_case": True}, "ABC é", "abc É", 1),
        ({"ignore_punctuation": True}, "a, b!", "a b", 1),
        ({"ignore_punctuation": True}, "«a»", "a", 0),
        ({"ignore_numbers": True}, "a1b22", "ab", 1),
        ({"ignore_numbers": True, "ignore_case": True, "ignore_punctuation": True}, "A-1!", "a", 1),
    ],
)
def test_what_may_be_ignored_is_left_out_on_both_sides(options, output, reference, score):
    assert ExactMatch(**options)(output, reference).score == score
    assert ExactMatch(**options)(reference, output).score == score


def test_a_difference_is_shown_in_few_words_however_far_behind():
    assert ExactMatch()("a", "b").reason == "'a' is not 'b'"
    output, reference = ExactMatch()("a" * 10**6 + "x", "a" * 10**6 + "y").reason.split(" is not ")
    assert len(output + reference) < 300
    assert output.endswith("x'")
    assert reference.endswith("y'")
