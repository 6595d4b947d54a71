"""Regular expressions: the answers of `re`, no pattern that hangs, patterns and flags named."""

import re
import time

import pytest
from pace import at_most

from llmeval_integrations import (
    InvalidOptionError,
    InvalidReferenceError,
    RegexMatch,
    RegexTimeoutError,
)


@pytest.mark.parametrize(
    ("pattern", "text", "flags"),
    [
        ("a", "a", 0), ("a", "ab", 0), ("a", "ba", 0), ("", "x", 0), ("^b", "a\nb", 0), ("a$", "a\n", 0),
        (r"\d+", "x12", 0), (r"\d+", "٣", 0), ("\\ud800", "\ud800", 0), ("A", "a", re.IGNORECASE), ("A", "a", 2),
        ("a.b", "a\nb", re.DOTALL), (r"\w+", "é", re.ASCII), ("^b", "a\nb", re.MULTILINE), ("a  b # x", "ab", re.VERBOSE),
        ("A.b", "a\nB", re.IGNORECASE | re.DOTALL),
    ],
)  # fmt: skip
def test_it_matches_as_re_does_at_the_beginning_anywhere_and_as_a_whole(pattern, text, flags):
    for where in ("match", "search", "fullmatch"):
        result = RegexMatch(pattern, flags, where)(text)
        assert result.passed is bool(getattr(re, where)(pattern, text, flags))
        assert result.score == result.passed
        assert result == RegexMatch(flags=flags, where=where)(text, pattern)


def test_a_reference_has_at_most_a_thousand_characters_an_option_any_number():
    assert RegexMatch()("a" * 1_000, "a" * 1_000).passed
    with pytest.raises(InvalidReferenceError, match=r"has 1001 characters.* at most 1000"):
        RegexMatch()("a" * 1_001, "a" * 1_001)
    for pattern in ("a|" * 600 + "b", "(?i)" + "A" * 1_100, "(?x)" + "a" * 1_100 + " # x"):
        output = "b" if "|" in pattern else "a" * 1_100
        assert RegexMatch(pattern, where="fullmatch")(output).passed
        assert not RegexMatch(pattern, where="fullmatch")("c").passed


# --- no pattern hangs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a|aa)+$", "a" * 60 + "!"),
        (r"^(\w+\s?)*$", "word " * 30 + "!"),
        (r"(x+x+)+y", "x" * 5_000),
        (r"^((?=a)a+)+$", "a" * 50 + "!"),
        (r"(a?){30}a{30}b", "a" * 30),
    ],
)
def test_a_runaway_pattern_is_an_error_with_a_name_or_answered_in_time(pattern, text):
    for where in ("match", "search", "fullmatch"):
        with at_most(1, time.perf_counter):
            try:
                assert RegexMatch(pattern, where=where, timeout=0.1)(text).score == 0
            except RegexTimeoutError as error:
                said = f"no answer within 0.1 s for a text of {len(text)} characters"
                assert said in str(error)  # noqa: PT017


BOMBS = [
    "(?=(?:a{9000}){9000})b", "(?:|a{9000}){9000}", "(?:" * 30 + "a?" + "){2}" * 30, "(?:" * 30 + "ab" + ")+" * 30,
    "(x)(?:(?(1)a{900}|b)c{900}){900}", "(?:" + "|".join(f"[{chr(n)}-{chr(n + 2)}]" for n in range(200, 600, 4)) + "){6000}",
]  # fmt: skip
REFUSED = {
    **dict.fromkeys(("(", "a**", r"\1", "a{2,1}"), "is not a regular expression: "),
    **dict.fromkeys(BOMBS, "written out"),
}


@pytest.mark.parametrize(("pattern", "said"), REFUSED.items())
def test_what_is_no_pattern_or_fills_the_memory_is_refused(pattern, said):
    with pytest.raises(InvalidOptionError, match=said):
        RegexMatch(pattern)
    with pytest.raises(InvalidReferenceError, match=f"{said}|at most 1000"):
        RegexMatch()("a", pattern)
