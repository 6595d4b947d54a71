"""How two values of one field are compared: numbers of any size, numbers as text, formats."""

from unicodedata import normalize

import pytest
from pace import at_most

from llmeval_integrations import (
    JsonEditDistance,
    JsonEquality,
    JsonFields,
    JsonMatch,
    JsonSimilarity,
    ToolCalls,
)

MOMENT = "2024-01-05T10:00:00Z"
FAR = ["1e1000000", "-1e1000000", "1e-1000000", "1e10000000", "1.5e999999999999", "1e-9999999999"]
NUMBER = {"properties": {"a": {"type": "number"}}}
COMPARING = {
    "fields": JsonFields(),
    "number": JsonFields(NUMBER),
    "tolerance": JsonFields(fields={"/a": {"tolerance": 0.1}}),
    "relative_tolerance": JsonFields(fields={"/a": {"relative_tolerance": 0.1}}),
    "multiple_of": JsonFields(fields={"/a": {"multiple_of": 0.1}}),
    "coerce": JsonFields(defaults={"coerce": True, "tolerance": 0.1}),
    "any_order": JsonFields(defaults={"order": "any_order"}),
    "similarity": JsonSimilarity(),
    "match": JsonMatch(),
    "equality": JsonEquality(),
    "edit_distance": JsonEditDistance(),
    "tool_calls": ToolCalls(),
}


def written(value, name):
    arguments = f'{{"a": {value}}}'
    return f'{{"name": "f", "arguments": {arguments}}}' if name == "tool_calls" else arguments


@pytest.mark.parametrize("name", COMPARING)
@pytest.mark.parametrize("number", FAR)
def test_a_far_exponent_is_a_number_out_of_range_or_zero(name, number):
    evaluator = COMPARING[name]
    result = evaluator(written(number, name), reference=written("7", name))
    assert not result.passed
    if "e-" not in number and name != "tool_calls":
        assert result.label == "number_out_of_range"


@pytest.mark.parametrize("number", FAR)
def test_a_far_exponent_in_a_text_is_no_number(number):
    evaluator = COMPARING["coerce"]
    assert not evaluator(f'{{"a": "{number}"}}', reference='{"a": 7}').passed


@pytest.mark.parametrize(
    ("output", "reference", "matches"),
    [
        ("12.99", 12.99, True),
        (12.99, "12.99", True),
        ("0.1", 0.1, True),
        (" +0.10 ", 0.1, True),
        (".5", 0.5, True),
        ("1e2", 100, True),
        ("12345678901234567890123", 12345678901234567890123, True),
        ("12345678901234567890124", 12345678901234567890123, False),
        ("12.98", 12.99, False),
        ("0.1.0", 0.1, False),
        ("1,000", 1000, False),
        ("1_0", 10, False),
        ("Infinity", 1, False),
        ("", 0, False),
        ("1" * 100_000 + "x", 1, False),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_number_may_be_written_as_text_where_that_is_allowed(output, reference, matches):
    evaluator = JsonFields(defaults={"coerce": True})
    assert evaluator({"a": output}, reference={"a": reference}).passed is matches
    assert not JsonFields()({"a": output}, reference={"a": reference}).passed


@pytest.mark.parametrize(
    ("output", "reference", "settings", "matches"),
    [
        (0.3, 0.1 + 0.2, {"tolerance": 1e-16}, True),
        (1.1, 1.0, {"tolerance": 0.1}, True),  # which it is not in doubles
        (1.10000001, 1.0, {"tolerance": 0.1}, False),
        (10**300 + 1, 10**300, {"tolerance": 1}, True),
        (10**300 + 2, 10**300, {"tolerance": 1}, False),
        (5e-324, 10**300, {"tolerance": 1}, False),
        (0.25, 0.35, {"multiple_of": 0.1}, False),  # 2.5 and 3.5: to 2 and to 4
        (0.15, 0.25, {"multiple_of": 0.1}, True),
    ],
)
def test_numbers_are_compared_as_they_are_written(output, reference, settings, matches):
    evaluator = JsonFields(fields={"/a": settings})
    assert evaluator({"a": output}, reference={"a": reference}).passed is matches


EMAILS = [("Ann@Example.org", "ann@example.org", True), ("a@straße.de", "a@strasse.de", False)]
URIS = [
    ("http://e.com/%7Euser", "http://e.com/~user", False),
    ("http://e.com/%41%2e", "http://e.com/A.", False),
    ("http://e.com/%2f", "http://e.com/%2F", False),
    ("http://e.com/%2F", "http://e.com//", False),
    ("http://e.com/a/./b/../c", "http://e.com/a/c", False),
    ("http://e.com/a/%2E%2E/c", "http://e.com/c", False),
    ("http://e.com/a/..", "http://e.com/", False),
    ("http://e.com/a/.", "http://e.com/a/", False),
    ("http://e.com/a/.", "http://e.com/a", False),
    ("http://e.com/../a", "http://e.com/a", False),
    ("http://e.com", "HTTP://E.com:80/", True),
    ("http://e.com:/", "http://e.com/", True),
    ("http://e.com:8080/", "http://e.com/", False),
    ("http://e.com/?", "http://e.com/", False),
    ("http://e.com/#", "http://e.com/", False),
    ("http://e.com/?a=/./b", "http://e.com/?a=/b", False),
    ("http://Ann@e.com/", "http://ann@e.com/", False),
    ("http://[::A]:80/", "http://[::a]/", True),
    ("http://e.com/a\nb", "http://e.com/ab", False),
    ("http://e.com/ab ", "http://e.com/ab", False),
    ("http://e.com/a\tb", "http://e.com/ab", False),
    ("file:///a/./b", "file:///a/b", False),
    ("file:///a", "file:/a", False),
    ("urn:a:%7e", "URN:a:~", False),
    ("urn:a/./b", "urn:a/b", False),
    ("/a/./b", "/a/b", False),
    ("http://e.com:8a/", "http://e.com:8a/.", False),
]


@pytest.mark.parametrize(
    ("kind", "one", "other", "same"),
    [("email", *case) for case in EMAILS] + [("uri", *case) for case in URIS],
)
def test_a_text_is_compared_as_what_its_format_says_it_is(kind, one, other, same):
    evaluator = JsonFields({"properties": {"a": {"format": kind}}})
    for output, reference in ((one, other), (other, one)):
        assert evaluator({"a": output}, reference={"a": reference}).passed is same


@pytest.mark.parametrize("part", ["@", "%", "/..", ":", "[", "%7e"])
def test_a_hostile_address_takes_no_time(part):
    evaluator = JsonFields({"properties": {"a": {"format": "uri"}}})
    with at_most(1):
        assert not evaluator(
            {"a": f"http://{part * 100_000}:x"}, reference={"a": "http://e.com"}
        ).passed


@pytest.mark.parametrize(
    ("kind", "settings", "texts"),
    [
        ("email", {"ignore_whitespace": True}, ["A@B.c", " a@b.c", "a@b.c "]),
        ("uri", {"ignore_case": True}, ["http://e.com", "http://e.com/", "HTTP://E.com:/"]),
        ("uri", {"ignore_case": True}, ["HTTP://E.com/B", "http://e.com/b", "http://e.com:80/b"]),
        ("uri", {"normalize_unicode": True}, ["http://e.com/é", "http://e.com/e\u0301"]),
        ("date-time", {"ignore_whitespace": True}, [" 2024-01-05T10:00:00Z", "2024-01-05  10:00:00z"]),
    ],
)  # fmt: skip
def test_what_does_not_count_in_a_text_does_not_count_in_its_meaning(kind, settings, texts):
    """So that two that match a third one match each other, in whatever order they come."""
    evaluator = JsonFields(fields={"": {"order": "any_order"}, "/*": {"format": kind, **settings}})
    texts = [text if kind != "uri" or ":" in text else f"http://e.com/{text}" for text in texts]
    for first in texts:
        for second in texts:
            assert evaluator([first], [second]).passed
            assert evaluator([first, second], [second, texts[0]]).passed


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("uri", ["urn:", "urn:None", "urn:/", "urn://None", "urn:?None", "urn:#None"]),
        ("uri", ["urn a None", "urn:a", " urn:a", "urn None a None None"]),
        ("uri", ["file:///a", "file:/a", "file:////a", "x://", "x:", "x:///"]),
        ("date-time", [MOMENT, "2024-01-05T10:00:00", f" {MOMENT}", "UTC 1064301720 0 "]),
        ("date-time", ["2024-01-05T10:00:00.1Z", MOMENT, "2024-01-05T10:01:00Z"]),
        ("date", ["2024-01-05", "2024-01-06", "2024-1-05", "24-01-05"]),
    ],
)
def test_texts_that_mean_something_else_never_match(kind, texts):
    evaluator = JsonFields(defaults={"format": kind})
    for place, one in enumerate(texts):
        for other in texts[:place]:
            assert not evaluator([one], [other]).passed, (one, other)
    assert JsonFields(None, {"": {"order": "any_order"}}, {"format": kind})(
        texts, texts[::-1]
    ).passed


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0001-01-01T00:00:00+01:00", "0001-01-01T00:30:00+01:30", False),
        ("9999-12-31T23:59:59-01:00", "9999-12-31T23:29:59-01:30", False),
        ("9999-12-31T23:59:59-01:00", "9999-12-31T23:29:58-01:30", False),
        ("0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00", False),
        ("2024-01-05T00:30:00+01:00", "2024-01-04T23:30:00Z", True),
        ("2024-01-05T10:00:00-05:30", "2024-01-05T15:30:00.000Z", True),
        ("0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00Z", False),
        ("0000-01-01T00:00:00+01:00", "0000-01-01T00:30:00+01:30", False),
        ("0000-02-29T00:00:00Z", "0000-03-01T00:00:00Z", False),
        ("1990-12-31T15:59:60-08:00", "1990-12-31T23:59:60Z", False),
        ("1990-12-31T23:59:60.0Z", "1990-12-31T23:59:60z", False),
        ("1990-12-31T23:59:60Z", "1990-12-31T23:59:59Z", False),
        ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z", False),
        ("1990-12-31T23:59:61Z", "1990-12-31T15:59:61-08:00", False),
    ],
)
def test_a_moment_is_the_same_in_every_zone_and_one_that_python_lacks_is_as_written(
    one, other, same
):
    evaluator = JsonFields({"properties": {"a": {"format": "date-time"}}})
    assert evaluator({"a": one}, reference={"a": other}).passed is same


def test_a_similarity_as_high_as_its_threshold_is_enough():
    for length in range(1, 101):
        for wrong in range(length):
            threshold = round(1 - wrong / length, 2)
            if threshold == (length - wrong) / length:
                evaluator = JsonFields(defaults={"similarity": threshold})
                result = evaluator(["b" * wrong + "a" * (length - wrong)], ["a" * length])
                assert (result.passed, result.score) == (True, threshold), (length, wrong)


@pytest.mark.parametrize("text", ["Μα\u0390ου", "\u01f0", "\u1fb7", "ﬁne ſ", "㎒"])
def test_text_that_looks_the_same_does_so_in_capitals_too(text):
    both = {"ignore_case": True, "normalize_unicode": True}
    for defaults in (both, {"ignore_case": True}):
        assert JsonFields(defaults=defaults)([text], [text.upper()]).passed
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert JsonFields(defaults=both)([normalize(form, text.upper())], [text]).passed


ZEROS = "0" * 299


@pytest.mark.parametrize(
    ("output", "reference", "grid", "same"),
    [
        (f"1{ZEROS}1", f"1{ZEROS}0", 1, False),
        (f"1{ZEROS}1", f"1{ZEROS}0", 5, True),
        (f"1{ZEROS}3", f"1{ZEROS}0", 5, False),
        ("1e300", "2e300", 1, False),
        ("1e300", "7", 7, False),
    ],
    ids=lambda value: str(value)[:12],
)
def test_the_grid_is_as_fine_for_large_numbers(output, reference, grid, same):
    evaluator = JsonFields(fields={"": {"multiple_of": grid}})
    with at_most(1):
        assert evaluator(output, reference).passed is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10000000001", "10000000000", False),
        ("10000000001.0", "10000000000", False),
        ("1.0000000001e10", "10000000000.0", False),
        ("1" * 308, "1" * 307 + "2", False),
        ("10000000000.5", "10000000000", True),
        ("10000000000.5", "10000000001.0", True),
        ("0.30000000000000004", "0.3", True),
    ],
)
@pytest.mark.parametrize("text", [[], [{"type": "string"}]], ids=["number", "decimal"])
def test_whole_numbers_are_exact_however_they_are_written(one, other, same, text):
    evaluator = JsonFields({"anyOf": [{"type": "number"}, *text]})
    assert evaluator(one, other).passed is same
    assert evaluator(other, one).passed is same
