"""Compare two leaves of one field: numbers, texts, texts with numbers, and texts by a format."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from math import isnan
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from llmeval_integrations.fields.meanings import find_days, read_amount
from llmeval_integrations.fields.rule import Format, Rule
from llmeval_integrations.json_values.values import TYPES, canonical, exact_decimal, read_number
from llmeval_integrations.matching.node import MATCH, MISMATCH, Verdict
from llmeval_integrations.text.edit_distance import count_edits

_NOISE: Final = 1e-9
"""The relative tolerance for fractions of a schema's type "number", unless a rule sets another. Two
whole numbers are compared exactly."""

_ARITHMETIC: Final = Context(prec=10_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
"""Exact for all floats and integers, and fast for a number such as 1e-1000000, too."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""A number as JSON writes it. Without `coerce`, "007" and "+49" are texts."""

_NO_SECONDS: Final = re.compile(r"(\d\d:\d\d)([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
_DURATION: Final = re.compile(
    r"P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)
_PORTS: Final = {"http": ":80", "https": ":443", "ftp": ":21"}

_MARKS: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u2039\u203a`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212", "-"),
    }
)
"""Quotes, primes and accents as straight quotes; dashes, bullets and minus signs as a hyphen."""


def write_leaf(rule: Rule, text: str) -> str:
    """Write a text so that two leaves with the same text match."""
    if rule.compare or rule.judge:
        return canonical(text)
    number = _parse_number(rule, text) if rule.is_decimal else None
    if number is not None:
        return canonical(number)
    amount = read_amount(text) if rule.number else None
    if amount is not None:
        return " ".join(map(str, amount))
    if rule.coerce:
        number = read_number(text)
        # The text of the number or boolean itself, so that 3 and "3" match.
        if text in ("true", "false") or (number is not None and canonical(number) == text):
            return text
    text = fold(rule, text)
    return repr((rule.dates and read_dates(text)) or write_meaning(rule, text))


# --- numbers -------------------------------------------------------------------------------------


def match_scalars(rule: Rule, output: Any, reference: Any) -> bool:
    """Return whether two values, at least one a text, are the same number, boolean or null."""
    one, other = _read_numbers(rule, output, reference), _read_numbers(rule, reference, output)
    for number, unit in one:
        for expected, its_unit in other:
            is_unit = unit == its_unit or not (unit and its_unit)
            if is_unit and match_numbers(rule, number, expected):
                return True
    text, value = (output, reference) if type(output) is str else (reference, output)
    is_word = rule.coerce and type(value) in (bool, type(None))
    return is_word and text.strip().lower() == canonical(value)


def _read_numbers(rule: Rule, value: Any, other: Any) -> list[tuple[Any, str]]:
    """Return the numbers that a value may mean beside another one, each with its unit."""
    if TYPES[type(value)] == "number":
        return [(value, "")]
    if type(value) is not str:
        return []
    is_near = rule.tolerance or rule.relative_tolerance or rule.multiple_of
    found: list[tuple[Any, str]] = []
    if type(other) is not str or rule.is_decimal or is_near:  # "5" is not "5.0" by `coerce` alone
        number = _parse_number(rule, value)
        found += [] if number is None else [(number, "")]
    amount = read_amount(value) if rule.number else None
    return found if amount is None else [*found, amount]


def _parse_number(rule: Rule, text: str) -> int | float | Decimal | None:
    """Read a text as a number; return None if it is none, or if the rule compares it as a text.

    A number of a Decimal field is not read as a float, which could lose digits.
    """
    if not (rule.coerce or (rule.is_decimal and _NUMBER.fullmatch(text))):
        return None
    number = read_number(text.strip())
    if not (rule.is_decimal and type(number) is float):
        return number
    try:
        return exact_decimal(text)
    except InvalidOperation:  # the exponent is too small for a Decimal
        return None


def match_numbers(rule: Rule, output: Any, reference: Any) -> bool:
    """Return whether two numbers are equal, or as near as the rule allows."""
    if output == reference or (
        type(output) is type(reference) is float and isnan(output) and isnan(reference)
    ):
        return True
    share = rule.relative_tolerance
    if share is None:
        share = _NOISE if rule.is_number and _is_noisy(rule, output, reference) else 0.0
    if not (rule.tolerance or share or rule.multiple_of):  # 0.1 != Decimal("0.1") in Python
        are_decimals = rule.is_decimal or Decimal in (type(output), type(reference))
        return are_decimals and _to_decimal(output) == _to_decimal(reference)
    one, other = _to_decimal(output), _to_decimal(reference)
    if not (one.is_finite() and other.is_finite()):  # lenient parsing accepts NaN and Infinity
        return False
    off = _ARITHMETIC.subtract(one, other).copy_abs()
    allowed = _ARITHMETIC.multiply(_to_decimal(share), other.copy_abs())
    if off <= max(_to_decimal(rule.tolerance), allowed):
        return True
    if rule.multiple_of is None:
        return False
    grid = _to_decimal(rule.multiple_of)
    points = [_ARITHMETIC.divide(number, grid) for number in (one, other)]
    nearest, expected = (point.to_integral_value(ROUND_HALF_EVEN) for point in points)
    return nearest == expected


def _is_noisy(rule: Rule, output: Any, reference: Any) -> bool:
    """Return whether one of two numbers is a fraction that may have lost digits as a float."""
    if rule.is_decimal and float not in (type(output), type(reference)):
        return False
    return any(number != _to_decimal(number).to_integral_value() for number in (output, reference))


@lru_cache(maxsize=1_024, typed=True)  # long integers take long, and are often repeated
def _to_decimal(number: Any) -> Decimal:
    """Return a number as it is written: 0.1 is one tenth, not the double that is nearest to it."""
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


# --- texts ---------------------------------------------------------------------------------------


def compare_texts(rule: Rule, output: str, reference: str) -> Verdict:
    """Compare two texts: without differences that do not count, by meaning, then by similarity."""
    one, other = fold(rule, output), fold(rule, reference)
    if one == other or (rule.format and write_meaning(rule, one) == write_meaning(rule, other)):
        return MATCH
    if rule.dates and not set(read_dates(one)).isdisjoint(read_dates(other)):
        return MATCH
    if rule.similarity is None:
        return MISMATCH
    verdict = grade(rule.similarity, one, other)
    if (one, other) == (output, reference):
        return verdict
    # Folding shortens texts, so that the same edits are a larger share of them.
    return max(verdict, grade(rule.similarity, output, reference), key=lambda each: each.score)


def grade(needed: float, output: str, reference: str) -> Verdict:
    """Compare two texts by their similarity, which must be at least `needed`."""
    longest = max(len(output), len(reference))
    allowed = (1.0 - needed) * longest
    edits = count_edits(int(allowed) + 1, output, reference)
    score = (longest - edits) / longest  # 1 - edits / longest would miss a threshold of 0.93
    return Verdict("match", score) if score >= needed else MISMATCH


def fold(rule: Rule, text: str) -> str:
    """Remove the differences that the rule ignores: case, white space, Unicode forms, signs."""
    if rule.text:  # before NFKC, which turns an accent into a space and a combining mark
        text = text.translate(_MARKS)
    if rule.normalize_unicode:
        text = unicodedata.normalize("NFKC", text)
    if rule.ignore_case:
        text = text.casefold()
        if rule.normalize_unicode:  # case folding may decompose letters
            text = unicodedata.normalize("NFKC", text)
    if rule.text:  # NFKC turns vertical and small forms into dashes
        text = text.translate(_MARKS)
    return " ".join(text.split()) if rule.ignore_whitespace else text


def write_meaning(rule: Rule, text: str) -> str:
    """Write the meaning of a text by the rule's format, or by the first of its formats that fits.

    A text that fits no format means itself. A space before it tells it from all other meanings.
    """
    formats = rule.format
    if formats is None:
        return text
    for each in formats if isinstance(formats, tuple) else (formats,):
        meaning = _READERS[each](text)
        if meaning is not None:  # a URI may contain escaped capitals, such as %C3
            return meaning.casefold() if rule.ignore_case else meaning
    return f" {text}"


@lru_cache(maxsize=1_024)
def read_dates(text: str) -> tuple[str, ...]:
    """Return the day or moment of a text, or both if it is midnight; an empty tuple if it is none.

    Two texts have the same meaning if they have one of these in common.
    """
    found, days = find_days(text)
    if found is None or len(days) != 1:
        return ()
    day = date(*next(iter(days))).isoformat()
    if not found["hour"]:
        return (day,)
    zone = (found["zone"] or "").replace("utc", "z")
    if len(zone) == len("+0100"):
        zone = f"{zone[:3]}:{zone[3:]}"
    clock = f"{found['hour']:0>2}:{found['minute']}:{found['second'] or '00'}"
    moment = _moment(f"{day}t{clock}{found['fraction'] or ''}{zone}")
    if moment is None:
        return ()
    is_midnight = clock == "00:00:00" and not (found["fraction"] or "").strip(".0")
    return (moment, day) if is_midnight else (moment,)


# --- formats -------------------------------------------------------------------------------------


def _convert(text: str, kind: type) -> Any:
    """Read a text by RFC 3339 or RFC 4122; return None if it does not conform."""
    try:
        return msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return None


def _moment(text: str) -> str | None:
    """Write a moment of RFC 3339 in UTC, or as local time if it has no offset.

    Return None for a leap second or a year outside 1 to 9999.
    """
    moment = _convert(text, datetime)
    if moment is None or moment.tzinfo is None:
        return moment and str(moment)
    try:
        return str(moment.astimezone(timezone.utc))
    except OverflowError:
        return None


def _date(text: str) -> str | None:
    """Write a day of ISO 8601, which may lack its hyphens."""
    if len(text) == len("20240105"):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    day = _convert(text, date)
    return day and str(day)


def _time(text: str) -> str | None:
    """Write a time of RFC 3339 in UTC, or as local time if it has no offset.

    Seconds that are left out are 0.
    """
    short = _NO_SECONDS.fullmatch(text)
    clock = _convert(f"{short[1]}:00{short[2] or ''}" if short else text, time)
    if clock is None or clock.tzinfo is None:
        return clock and str(clock)
    moment = datetime.combine(date(2000, 1, 2), clock).astimezone(timezone.utc)
    return f"{moment.time()}Z"


def _uuid(text: str) -> str | None:
    """Write a UUID in lower case, without `urn:uuid:`."""
    found = _convert(text.lower().removeprefix("urn:uuid:"), UUID)
    return found and str(found)


def _duration(text: str) -> str | None:
    """Write a duration of ISO 8601 as months and seconds; a month has no fixed number of days."""
    found = _DURATION.fullmatch(text)
    if not found:
        return None
    years, months, weeks, days, hours, minutes, seconds = (
        Fraction(part or 0) for part in found.groups()
    )
    clock = ((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds
    return f"{years * 12 + months} months {clock} seconds"


def _email(text: str) -> str | None:
    """Write an e-mail address in lower case, as mail servers treat it in practice.

    An address has one @ with a name before it and a domain after it, and no white space.
    """
    name, _, domain = text.partition("@")  # a regular expression takes twice as long
    is_address = name and domain and not ("@" in domain or "/" in domain) and text.split() == [text]
    return text.lower() if is_address else None


def _uri(text: str) -> str | None:
    """Write a URI with scheme and host in lower case, without the default port of its scheme."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if not (parts.scheme and text.isprintable()) or " " in text:
        return None
    login, at, host = parts.netloc.rpartition("@")
    host = host.lower().removesuffix(_PORTS.get(parts.scheme, ":")).removesuffix(":")
    path = parts.path or ("/" if parts.netloc else "")
    return parts._replace(netloc=f"{login}{at}{host}", path=path).geturl()


_READERS: Final[dict[Format, Callable[[str], str | None]]] = {
    "date-time": _moment,
    "date": _date,
    "time": _time,
    "duration": _duration,
    "uuid": _uuid,
    "uri": _uri,
    "email": _email,
}

BY_FORM: Final[tuple[Format, ...]] = tuple(_READERS)
"""All formats, in the order in which they are tried: the strictest first."""
