"""What a text means: without what does not count in it, and by its `format`."""

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
    """Remove from a text what does not count."""
    is_loose = rule.text == "loose"
    if is_loose:  # before NFKC, which makes a space and a mark of an accent
        text = text.translate(_SIGNS)
    if rule.normalize_unicode or is_loose:
        text = unicodedata.normalize("NFKC", text)
    if rule.ignore_case or is_loose:
        text = text.casefold()
        if rule.normalize_unicode or is_loose:  # small letters may be taken apart
            text = unicodedata.normalize("NFKC", text)
    if is_loose:  # NFKC has made dashes of their vertical and small forms
        text = text.translate(_SIGNS)
    return " ".join(text.split()) if rule.ignore_whitespace or is_loose else text


def write_meaning(rule: Rule, text: str) -> str:
    """Write what a text means by the rule's format, of several the first whose form it has.

    A text that has no such form means itself, with a space before it, which no other meaning has.
    """
    formats = rule.format
    if formats is None:
        return text
    for each in formats if isinstance(formats, tuple) else (formats,):
        meaning = _READERS[each](text)
        if meaning is not None:  # addresses may escape capitals
            return meaning.casefold() if rule.ignore_case else meaning
    return f" {text}"


def _convert(text: str, kind: type) -> Any:
    """Read a text as RFC 3339 or RFC 4122 has it; None where it is none."""
    try:
        return msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return None


def write_moment(text: str) -> str | None:
    """Write a moment of RFC 3339 in UTC, or a local one where there is no offset.

    A leap second and a year outside of 1 to 9999 are none.
    """
    moment = _convert(text, datetime)
    if moment is None or moment.tzinfo is None:
        return moment and str(moment)
    try:
        return str(moment.astimezone(timezone.utc))
    except OverflowError:
        return None


def _date(text: str) -> str | None:
    """Write a day of ISO 8601, with or without hyphens."""
    if len(text) == len("20240105"):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    day = _convert(text, date)
    return day and str(day)


def _time(text: str) -> str | None:
    """Write a time of RFC 3339 in UTC, or a local one where there is no offset.

    Seconds may be left out; they are 0.
    """
    short = _NO_SECONDS.fullmatch(text)
    clock = _convert(f"{short[1]}:00{short[2] or ''}" if short else text, time)
    if clock is None or clock.tzinfo is None:
        return clock and str(clock)
    moment = datetime.combine(date(2000, 1, 2), clock).astimezone(timezone.utc)
    return f"{moment.time()}Z"


def _uuid(text: str) -> str | None:
    """Write a UUID in small letters, without `urn:uuid:`."""
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
    """Write an address in small letters, as mail servers read it in practice.

    That is one @ with something before it and a domain after it, and no white space.
    """
    name, _, domain = text.partition("@")  # a regular expression takes twice as long
    is_address = name and domain and not ("@" in domain or "/" in domain) and text.split() == [text]
    return text.lower() if is_address else None


def _uri(text: str) -> str | None:
    """Write an address with its scheme and host in small letters, without a usual port."""
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
"""The formats that a text tells apart, those first that let fewer texts mean the same."""
