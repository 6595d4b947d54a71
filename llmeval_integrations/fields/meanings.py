"""What a text means: without differences that do not count, as a moment, an address, an amount."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import msgspec

from llmeval_integrations.fields.rule import Format, Rule
from llmeval_integrations.text.dates import WEEKDAYS, Day, find_dates
from llmeval_integrations.text.numbers import read_digits
from llmeval_integrations.text.words import find_words
from llmeval_integrations.text.words import fold as fold_words

_NO_SECONDS: Final = re.compile(r"(\d\d:\d\d)([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
_DURATION: Final = re.compile(
    r"P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)
_URI: Final = re.compile(
    r"([a-z][a-z0-9+.-]*):"
    r"(?://([^/?#]*@)?(\[[^]/?#]*\]|[^:/?#@]*)(?::([0-9]*))?(?=[/?#]|$))?"
    r"([^?#]*)(.*)",
    re.ASCII | re.IGNORECASE,
)
_PORTS: Final = {"http": "80", "https": "443", "ftp": "21"}

_MARKS: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u2039\u203a`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212", "-"),
    }
)
"""Quotes, primes and accents as straight quotes; dashes, bullets and minus signs as a hyphen."""


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
    found = _URI.fullmatch(text)
    if not found or " " in text or not text.isprintable():
        return None
    scheme, login, host, port, path, rest = found.groups()
    scheme = scheme.lower()
    if host is None:
        return f"{scheme}:{path}{rest}"
    place = host.lower() if port in (None, "", _PORTS.get(scheme)) else f"{host.lower()}:{port}"
    return f"{scheme}://{login or ''}{place}{path or ('/' if login or place else '')}{rest}"


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


# --- dates in words, and amounts -----------------------------------------------------------------

_LONGEST_DATE: Final = 60

_DATE: Final = re.compile(
    r"(?P<day>.+?)"
    r"(?:(?:t|,? | at )(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d+)?)?"
    r" ?(?P<zone>z|utc|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
_YEAR: Final = re.compile(r"(?<!\d)\d{4}", re.ASCII)


@lru_cache(maxsize=1_024)
def read_dates(text: str) -> tuple[str, ...]:
    """Return the day or moment of a text, or both if it is midnight; an empty tuple if it is none.

    Two texts have the same meaning if they have one of these in common.
    """
    found, days = _find_days(text)
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


def is_ambiguous(text: str) -> bool:
    """Return whether a date, such as 05/01/2024, can be read with the day or the month first."""
    return len(_find_days(text)[1]) > 1


def _find_days(text: str) -> tuple[re.Match[str] | None, frozenset[Day]]:
    """Split a text into a day and a time, and return the days that it may mean.

    Its year must have four digits.
    """
    text = " ".join(text.lower().split())
    found = _DATE.fullmatch(text) if len(text) <= _LONGEST_DATE else None
    if not found:
        return None, frozenset()
    folded = fold_words(found["day"])
    dates, rest = find_dates(folded)
    if len(dates) != 1 or not _YEAR.search(folded) or not WEEKDAYS.issuperset(find_words(rest)):
        return None, frozenset()
    return found, frozenset(day for day in dates[0].days if all(day))


_LONGEST_NUMBER: Final = 400
"""Characters of the longest number: all digits that a JSON number may have, and separators."""

# fmt: off
_SIGNS: Final = {
    "$": "USD", "US$": "USD", "A$": "AUD", "C$": "CAD", "HK$": "HKD", "R$": "BRL",
    "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "%": "%",
}
# fmt: on
_CODES: Final = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES|"
    "KRW|KWD|MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|"
    "USD|UYU|VND|ZAR"
)
_UNIT: Final = "|".join([*map(re.escape, _SIGNS), _CODES])
_AMOUNT: Final = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>(?:{_UNIT})?) ?(?P<inner>[+-]?)"
    rf"(?P<digits>[0-9.][0-9.,' ]*(?:[eE][+-]?[0-9]{{1,3}})?) ?(?P<behind>(?:{_UNIT})?)"
)
_SPACES: Final = str.maketrans(
    {**dict.fromkeys("\u00a0\u2009\u202f", " "), "\u2019": "'", "\u2212": "-"}
)


@lru_cache(maxsize=1_024)
def read_amount(text: str) -> tuple[Decimal, str] | None:
    """Return the number in a text, with the code of its currency, `%` or the empty text.

    Return None if the text is no number with at most one unit.
    """
    if len(text) > _LONGEST_NUMBER:
        return None
    text = text.translate(_SPACES).strip()
    is_below_zero = text[:1] == "(" and text[-1:] == ")"  # as accountants write it
    found = _AMOUNT.fullmatch(text[1:-1] if is_below_zero else text)
    if not found:
        return None
    sign = found["sign"] + found["inner"] + "-" * is_below_zero
    units = {_SIGNS.get(each, each) for each in (found["before"], found["behind"]) if each}
    digits = next(read_digits(found["digits"].strip()), None)
    if digits is None or len(sign) > 1 or len(units) > 1:
        return None
    return Decimal(sign + digits), "".join(units)
