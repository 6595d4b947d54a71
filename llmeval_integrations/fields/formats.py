"""What a text means by its `format`: texts that mean the same have the same meaning written."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Final

from llmeval_integrations.fields.rule import Format, Rule

_DATE_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_URI: Final = re.compile(
    r"([a-z][a-z0-9+.-]*):"
    r"(?://([^/?#]*@)?(\[[^]/?#]*\]|[^:/?#@]*)(?::([0-9]*))?(?=[/?#]|$))?"
    r"([^?#]*)(.*)",
    re.ASCII | re.IGNORECASE,
)
_PORTS: Final = {"http": "80", "https": "443", "ftp": "21"}


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


def _date_time(text: str) -> str | None:
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
    "date": str,  # RFC 3339 has one spelling of each date
    "date-time": _date_time,
    "email": _email,
    "uri": _uri,
}

BY_FORM: Final[tuple[Format, ...]] = ("date-time", "uri", "email")
"""The formats that a text tells apart, those first that let fewer texts mean the same."""
