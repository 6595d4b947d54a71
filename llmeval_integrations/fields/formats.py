"""Write the meaning of a text: without differences that do not count, and by its `format`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from fractions import Fraction
from typing import Any, Final
from uuid import UUID

import msgspec

from llmeval_integrations.fields.rule import Format, Rule

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

_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u2039\u203a`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212", "-"),
    }
)
"""Quotes, primes and accents as straight quotes; dashes, bullets and minus signs as a hyphen."""


def fold(rule: Rule, text: str) -> str:
    """Remove the differences that the rule ignores: case, white space, Unicode forms, signs."""
    is_loose = rule.text == "loose"
    if is_loose:  # before NFKC, which turns an accent into a space and a combining mark
        text = text.translate(_SIGNS)
    if rule.normalize_unicode or is_loose:
        text = unicodedata.normalize("NFKC", text)
    if rule.ignore_case or is_loose:
        text = text.casefold()
        if rule.normalize_unicode or is_loose:  # case folding may decompose letters
            text = unicodedata.normalize("NFKC", text)
    if is_loose:  # NFKC turns vertical and small forms into dashes
        text = text.translate(_SIGNS)
    return " ".join(text.split()) if rule.ignore_whitespace or is_loose else text


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


def _convert(text: str, kind: type) -> Any:
    """Read a text by RFC 3339 or RFC 4122; return None if it does not conform."""
    try:
        return msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return None


def write_moment(text: str) -> str | None:
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
    "date-time": write_moment,
    "date": _date,
    "time": _time,
    "duration": _duration,
    "uuid": _uuid,
    "uri": _uri,
    "email": _email,
}

BY_FORM: Final[tuple[Format, ...]] = tuple(_READERS)
"""All formats, in the order in which they are tried: the strictest first."""
