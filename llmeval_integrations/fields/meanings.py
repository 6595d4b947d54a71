"""What a text of a JSON Schema `format` stands for: texts that mean the same give the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Final

from llmeval_integrations.fields.rule import Format

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


def _date_time(text: str) -> str:
    """Return a moment of RFC 3339 in UTC, or a local one where there is no offset.

    A leap second and a year outside of 1 to 9999 stand for themselves.
    """
    found = _DATE_TIME.fullmatch(text)
    if not found:
        return _itself(text)
    day, clock, fraction, zone = found.groups()
    # Python 3.10 reads neither Z nor every number of digits in a fraction.
    zone = "+00:00" if zone in ("Z", "z") else zone or ""
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
        moment = moment.astimezone(timezone.utc) if zone else moment
    except (ValueError, OverflowError):
        return _itself(text)
    return f"{moment.isoformat()} {(fraction or '').rstrip('0')}"


def _email(text: str) -> str:
    """Return an address in small letters, as mail servers read it in practice.

    That is one @ with something before it and a domain after it, and no white space.
    """
    name, _, domain = text.partition("@")  # a regular expression takes twice as long
    is_address = name and domain and not ("@" in domain or "/" in domain) and text.split() == [text]
    return text.lower() if is_address else _itself(text)


def _uri(text: str) -> str:
    """Return an address with its scheme and host in small letters, and a path.

    The usual port of a scheme is left out. A text with white space or control characters is no
    address and stands for itself.
    """
    found = _URI.fullmatch(text)
    if not found or " " in text or not text.isprintable():
        return _itself(text)
    scheme, login, host, port, path, rest = found.groups()
    scheme = scheme.lower()
    if host is None:
        return f"{scheme}:{path}{rest}"
    place = host.lower() if port in (None, "", _PORTS.get(scheme)) else f"{host.lower()}:{port}"
    return f"{scheme}://{login or ''}{place}{path or ('/' if login or place else '')}{rest}"


def _itself(text: str) -> str:
    """Return what stands for no more than itself, written as nothing else is."""
    return f" {text}"


MEANINGS: Final[dict[Format, Callable[[str], str]]] = {
    "date": str,  # of RFC 3339, whose dates have one spelling
    "date-time": _date_time,
    "email": _email,
    "uri": _uri,
}
"""Writes what a text stands for, by its format; after a space what has another form."""

BY_FORM: Final[tuple[Format, ...]] = ("date-time", "uri", "email")
"""The formats with forms of their own, those first that let fewer texts mean the same."""


def meant_by_any(formats: tuple[Format, ...], text: str) -> str:
    """Write what a text stands for by the first of these formats whose form it has."""
    found = (MEANINGS[each](text) for each in formats)
    return next((meaning for meaning in found if meaning != _itself(text)), _itself(text))
