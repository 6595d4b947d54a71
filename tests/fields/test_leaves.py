"""When two leaves match: by the settings of their field, as numbers, by the meaning of a format."""

import pytest
from one_field import passes

from llmeval_integrations import JsonFields, RegexTimeoutError

MOMENT = "2024-01-05T10:00:00Z"


def begins_alike(output, reference):
    return output[0] == reference[0]


# fmt: off
SETTINGS = [
    ({"ignore": True}, [("a", "b"), ({"x": 1}, [])], []),
    ({"tolerance": 0.01}, [(12.5, 12.51), (12, 12.01)], [(12.5, 12.511), ("12.5", 12.5)]),
    ({"tolerance": 0.1}, [(1.1, 1.0)], [(1.10000001, 1.0)]),  # 1.1 - 1 is more than 0.1 in doubles
    ({"tolerance": 1}, [(10**300 + 1, 10**300)], [(10**300 + 2, 10**300), (5e-324, 10**300)]),
    ({"relative_tolerance": 0.1}, [(110, 100), (90.0, 100)], [(111, 100), (0.1, 0)]),
    ({"multiple_of": 5}, [(101, 100), (98, 100)], [(103, 100)]),
    ({"multiple_of": 0.1}, [(0.15, 0.25)], [(0.25, 0.35)]),  # 2.5 and 3.5: to 2 and to 4
    ({"similarity": 0.9}, [("Harbour Ltd.", "Harbour Ltd")], [("Haven Ltd", "Harbour Ltd")]),
    ({"ignore_case": True}, [("STRASSE", "straße"), ("ACME", "Acme")], [("a ", "a")]),
    ({"ignore_whitespace": True}, [(" a\n b ", "a b")], [("ab", "a b"), ("A", "a")]),
    ({"normalize_unicode": True}, [("ﬁne e\u0301", "fine é")], [("E", "e")]),
    (
        {"text": "loose"},
        [("ACME  Corp\n", "Acme Corp"), ("O\u2019Neil", "O'Neil"), ("\u201ca\u201d", '"a"'), ("1\u20132", "1-2"),
         ("Zu\u0308rich", "ZÜRICH"), ("\ufe31", "\u2014"), ("\u00b4", "'"), ("\u2212 5", "- 5")],
        [("ab", "a b"), ("a-b", "a b"), ("'a'", '"a"'), ("é", "e"), (" ", "-")],
    ),
    # a similarity is the larger one of the texts as they are and of what counts in them
    ({"text": "loose", "similarity": 0.9}, [("a        b", "a        c"), ("HARBOR LTD", "Harbour Ltd")], [("a  b", "a  c")]),
    (
        {"pattern": r"INV-\d{4}"},
        [("INV-2024", "INV-1999"), ("INV-0000", 7)],
        [("INV-20245", "INV-1999"), ("inv-2024", "INV-1999"), (None, "INV-1999"), (["INV-2024"], "INV-1999")],
    ),
    ({"pattern": "19.."}, [(1999, 2024), ("1901", 1902)], [(2024, 1999), (19.25, 1)]),
    ({"format": "date"}, [], [("05.01.2024", "2024-01-05")]),
    ({"format": "date-time"}, [("2024-01-05T10:00:00z", MOMENT)], [("x", "y")]),
    (
        {"coerce": True},
        [("3", 3), (3, "3.0"), ("true", True), (" False ", False), ("0.1", 0.1),
         (12.99, "12.99"), (" +0.10 ", 0.1), (".5", 0.5), ("1e2", 100), (str(10**22 + 1), 10**22 + 1)],
        [("3", True), ("three", 3), ("1e999", 3), ("NaN", 3), ("1_0", 10), ({}, "{}"), ("5", "5.0"),
         ("1,250.50", 1250.5), (str(10**22 + 2), 10**22 + 1), ("12.98", 12.99), ("0.1.0", 0.1),
         ("Infinity", 1), ("", 0), ("1" * 100_000 + "x", 1)],
    ),
    (
        {"coerce": True, "tolerance": 1},
        [("3.5", 3), ("1250.50", "1251"), ("+3", " 3.0 ")],
        [("5", 3), ("1250", "1251.5"), ("3", "three"), ("a", "A"), ("1e1000000", 7), ("1e-1000000", 7)],
    ),
    (
        {"number": "any"},
        [("1,250.50", 1250.5), (1250.5, "$1250.50"), ("1250.50 EUR", "1,250.5"), ("12 %", 12), ("12%", "12"), ("1.250,50", "1 250.50"),
         ("€ 1.250.000", "1'250'000 EUR"), ("-$5", "($5.00)"), ("\u2212 5", -5), ("1,25", 1.25), ("1,250", 1250), (".5", 0.5),
         ("0.1", 0.1), ("1e2", 100), ("1,25,000", 125000), (str(10**22 + 1), 10**22 + 1), ("1" * 300, "1" * 300 + ".0")],
        [("$5", "€5"), ("$5", "5 EUR"), ("5 %", "$5"), ("12 %", 0.12), ("1.250", 1250), ("007", 7), ("5 kg", 5), ("1,2,3", 123), ("", 0),
         ("--5", 5), ("5-", -5), ("$5 EUR", 5), ("1250.51", 1250.5), ("true", True), (True, "1"), ("five", 5), (str(10**22 + 2), 10**22 + 1)],
    ),
    (
        {"dates": "any"},
        [(each, "2024-01-05") for each in (
            "05.01.2024", "5.1.2024", "January 5 2024", "January 5, 2024", "Jan. 5th, 2024", "5 Jan 2024", "5. January 2024",
            "5th of january 2024", "5-Jan-2024", "Friday, January 5, 2024", "Fri 5 Jan 2024", "20240105", "2024/01/05", "2024-1-5",
            "5. Jänner 2024", "Freitag, 5. Januar 2024", "vendredi 5 janvier 2024", "5 de enero de 2024",
            "2024-01-05T00:00:00Z", "2024-01-05T00:00:00+01:00", "2024-01-05 00:00", "05.01.2024 00:00:00.000",
        )]
        + [("13/01/2024", "2024-01-13"), ("01/13/2024", "13.01.2024"), ("05/05/2024", "2024-05-05"),
           (MOMENT, "2024-01-05T11:00:00+01:00"), ("5 Jan 2024 10:00 UTC", MOMENT), ("January 5, 2024 at 10:00", "05.01.2024 10:00:00")],
        [(each, "2024-01-05") for each in (
            "05/01/2024", "01-05-2024", "05.01.24", "01.05.2024", "January 2024", "5 Foo 2024", MOMENT, "2024-01-05T00:01", "32.01.2024", "2024-01",
        )]
        + [("05/01/2024", "5-1-2024"), (MOMENT, "2024-01-05T10:00:00"), (20240105, "20240105"), ("5 Feb 2023", "29 Feb 2023"), ("x", "y")],
    ),
    ({"dates": "any", "format": "date-time"}, [(MOMENT, "2024-01-05T11:00:00+01:00"), ("5 Jan 2024", "2024-01-05T00:00:00Z")], []),
    ({"number": "any", "tolerance": 0.01}, [("$12.50", 12.51), ("12,50", "12.51")], [("$12.50", 12.52), ("€1", "$1")]),
    ({"number": "any", "ignore_case": True}, [("ACME", "Acme")], []),
    ({"compare": begins_alike}, [("ab", "ac")], [("bb", "ac")]),
    ({"compare": lambda one, other: 0.7, "similarity": 0.6}, [("x", {"y": 1})], []),
    ({"order": "any_order"}, [([3, 1, 2], [1, 2, 3])], [([1, 2], [1, 2, 3])]),
    (
        {"key": "sku"},
        [([{"sku": "B"}, {"sku": "A"}], [{"sku": "A"}, {"sku": "B"}])],
        [([{"sku": "B"}, {"sku": "C"}], [{"sku": "A"}, {"sku": "B"}])],
    ),
]
# fmt: on


@pytest.mark.parametrize(("settings", "same", "other"), SETTINGS)
def test_settings_of_a_field(settings, same, other):
    for output, reference in same:
        assert passes({}, output, reference, fields={"/a": settings}), (output, reference)
        assert not passes({}, output, reference)
    for output, reference in other:
        assert not passes({}, output, reference, fields={"/a": settings}), (output, reference)


def test_a_similarity_is_the_score_and_nothing_below_its_threshold():
    evaluator = JsonFields(fields={"/a": {"similarity": 0.5}})
    result = evaluator({"a": "abcd"}, {"a": "abcx"})
    assert (result.score, result.passed) == (0.75, True)
    assert result.metadata["outcomes"][0]["score"] == 0.75
    assert evaluator({"a": "abcd"}, {"a": "axyz"}).score == 0.0
    at_threshold = JsonFields(defaults={"similarity": 0.93})(["b" * 7 + "a" * 93], ["a" * 100])
    assert (at_threshold.passed, at_threshold.score) == (True, 0.93)


def test_the_share_that_a_function_finds_right_counts_with_and_without_a_match():
    for similarity, passed in ((0.4, True), (0.5, False), (None, False)):
        settings = {"compare": lambda *_: 0.4, "similarity": similarity}
        result = JsonFields(fields={"/a": settings})({"a": "abcd"}, {"a": "axyz"})
        assert (result.score, result.passed) == (0.4, passed)


def test_a_reason_says_which_date_is_ambiguous():
    evaluator = JsonFields({"properties": {"due": {"format": "date"}}}, defaults={"dates": "any"})
    assert evaluator({"due": "5 Jan 2024"}, {"due": "2024-01-05"}).passed
    result = evaluator({"due": "05/01/2024"}, {"due": "2024-01-05"})
    assert not result.passed
    assert result.reason == (
        '/due "05/01/2024", expected "2024-01-05" (05/01/2024: day or month first?)'
    )


def test_a_pattern_that_gives_no_answer_is_an_error():
    evaluator = JsonFields(fields={"/a": {"pattern": "(a|aa)+b"}})
    with pytest.raises(RegexTimeoutError, match=r"/a: the pattern .* gives no answer"):
        evaluator({"a": "a" * 100 + "c"}, {"a": ""})


# --- Numbers of any size -------------------------------------------------------------------------


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
    assert evaluator(one, other).passed is evaluator(other, one).passed is same


# --- Formats -------------------------------------------------------------------------------------

FORMATS = [
    ("date", "2024-01-05", [], ["2024-1-5", "2024-01-05T00:00:00Z", "2024-01-06", "24-01-05"]),
    (
        "date-time",
        MOMENT,
        ["2024-01-05T11:00:00+01:00", "2024-01-05t10:00:00.000z", "2024-01-05 10:00:00+00:00"],
        ["2024-01-05T10:00:00", "2024-01-05T10:00:01Z", "2024-01-05T10:00:00.5Z", "2024-01-05"],
    ),
    ("date-time", "2024-01-05T00:30:00+01:00", ["2024-01-04T23:30:00Z"], []),
    # what Python has no moment for is as it is written
    ("date-time", "0001-01-01T00:00:00+01:00", [], ["0001-01-01T00:30:00+01:30", "0001-01-01T00:00:00"]),
    ("date-time", "1990-12-31T23:59:60Z", [], ["1990-12-31T15:59:60-08:00", "1990-12-31T23:59:59Z", "1991-01-01T00:00:00Z", "1990-12-31T23:59:60.0Z"]),
    ("time", "10:00:00Z", ["11:00:00+01:00", "10:00Z", "10:00:00.000z"], ["10:00:00", "10:00:01Z", "10 am"]),
    ("time", "00:30:00+01:00", ["23:30Z"], ["00:30:00"]),
    ("uuid", "12345678-1234-5678-1234-567812345678", ["urn:uuid:12345678-1234-5678-1234-567812345678"], ["12345678-1234-5678-1234-567812345679"]),
    ("uuid", "abcdefab-1234-5678-1234-567812345678", ["ABCDEFAB-1234-5678-1234-567812345678"], ["{abcdefab-1234-5678-1234-567812345678}"]),
    ("duration", "PT1H30M", ["PT90M", "PT5400S", "P0DT1H30M"], ["PT1H", "P1H30M", "1:30"]),
    ("duration", "P1Y", ["P12M"], ["P365D", "P52W"]),
    ("duration", "P1W", ["P7D", "PT168H"], ["P1M"]),
    ("email", "ann@example.org", ["Ann@Example.ORG"], ["bob@example.org"]),
    ("email", "a@straße.de", [], ["a@strasse.de"]),
    ("email", "Sales/EU@X.org", ["sales/eu@x.org"], []),
    ("uri", "https://example.org/a%2fb", ["HTTPS://EXAMPLE.org:443/a%2fb"], ["http://example.org/a%2fb", "https://example.org/A%2fb", "https://example.org/a%2fb/", "https://example.org/a%2Fb"]),
    ("uri", "http://e.com", ["HTTP://E.com:80/", "http://e.com:/"], ["http://e.com:8080/"]),
    ("uri", "http://e.com/a/c", [], ["http://e.com/a/./b/../c", "http://e.com/x/%2E%2E/a/c"]),
    ("uri", "http://[::A]:80/", ["http://[::a]/"], []),
    ("uri", "http://e.com/ab", [], ["http://e.com/a\nb", "http://e.com/ab ", "http://e.com/a\tb"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "same", "others"), FORMATS)
def test_a_text_is_compared_by_the_meaning_of_its_format(kind, text, same, others):
    for one in [text, *same]:
        assert passes({"format": kind}, one, text)
        assert passes({"format": kind}, text, one)
    for one in others:
        assert not passes({"format": kind}, one, text), one
        assert not passes({"format": kind}, text, one), one
