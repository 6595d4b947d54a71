"""What a text means: without what does not count in it, and by its `format`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, timezone
from fractions import Fraction
from typing import Final

from llmeval_integrations.fields.rule import Format, Rule

_DATE_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_DATE: Final = re.compile(r"(\d{4})(-?)(\d\d)\2(\d\d)", re.ASCII)
_TIME: Final = re.compile(
    r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:\.(\d+))?)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
_UUID: Final = re.compile(r"(?:urn:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.ASCII)
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


def write_moment(text: str) -> str | None:
    """Write a moment of RFC 3339 in UTC, or a local one where there is no offset.

    A leap second and a year outside of 1 to 9999 are none.
    """
    found = _DATE_TIME.fullmatch(text)
    if not found:
        return None
    day, clock, fraction, zone = found.groups()
    # Python 3.10 reads neither Z nor every number of digits in a fraction.
    zone = "+00:00" if zone in ("Z", "z") else zone or ""
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
        moment = moment.astimezone(timezone.utc) if zone else moment
    except (ValueError, OverflowError):
        return None
    return f"{moment.isoformat()} {(fraction or '').rstrip('0')}"


def _date(text: str) -> str | None:
    """Write a day of ISO 8601, with or without hyphens."""
    found = _DATE.fullmatch(text)
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[3]), int(found[4])).isoformat()
    except ValueError:
        return None


def _time(text: str) -> str | None:
    """Write a time of RFC 3339 in UTC, or a local one where there is no offset.

    Seconds may be left out; they are 0.
    """
    found = _TIME.fullmatch(text)
    if not found:
        return None
    hour, minute, second, fraction, zone = found.groups()
    minutes = int(hour) * 60 + int(minute)
    if zone and zone not in ("Z", "z"):
        off = int(zone[1:3]) * 60 + int(zone[4:])
        minutes = (minutes - off if zone[0] == "+" else minutes + off) % (24 * 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{second or '00'}.{(fraction or '').rstrip('0')}"
    return clock + ("Z" if zone else "")


def _uuid(text: str) -> str | None:
    """Write a UUID in small letters, without `urn:uuid:`."""
    found = _UUID.fullmatch(text.lower())
    return found[1] if found else None


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
    "date": _date,
    "date-time": write_moment,
    "duration": _duration,
    "email": _email,
    "time": _time,
    "uri": _uri,
    "uuid": _uuid,
}

BY_FORM: Final[tuple[Format, ...]] = (
    "date-time",
    "date",
    "time",
    "duration",
    "uuid",
    "uri",
    "email",
)
"""The formats that a text tells apart, those first that let fewer texts mean the same."""
