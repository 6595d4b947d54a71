"""What a text of a JSON Schema `format` stands for: texts that mean the same give the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from llmeval_integrations.fields.rule import Format

_DATE_TIME: Final = re.compile(
    r"(\d{4})(-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):\d\d):([0-5]\d|60)(?:\.(\d+))?"
    r"([Zz]|[+-]\d\d:\d\d)?"
)
_MINUTE: Final = timedelta(minutes=1)
_YEARS_400: Final = 146_097 * 1_440
"""The minutes of 400 years, after which dates come again."""

# The grammar of RFC 3986; unlike urlsplit it tells an empty query from none.
_URI: Final = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?", re.ASCII
)
_HOST: Final = re.compile(r"(\[[^]]*\]|[^:]*)(?::([0-9]*))?")
_ESCAPED: Final = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = re.compile("[A-Za-z0-9._~-]")
_PORTS: Final = {"http": "80", "https": "443", "ftp": "21"}


def _date_time(text: str) -> str:
    """Return a moment of RFC 3339, or a local one where there is no offset.

    That may be in the year 0000, or a leap second, which is another moment than the next one.
    """
    found = _DATE_TIME.fullmatch(text)
    if not found:
        return _itself(text)
    year, day, clock, second, fraction, zone = found.groups()
    zone = "" if zone is None else "+00:00" if zone in "Zz" else zone
    is_first = year == "0000"  # which Python's calendar lacks
    try:
        moment = datetime.fromisoformat(f"{'0400' if is_first else year}{day}T{clock}{zone}")
    except ValueError:
        return _itself(text)
    # not as a date of another zone: an offset may lead out of the years that there are
    minutes = moment.toordinal() * 1_440 + moment.hour * 60 + moment.minute
    minutes -= _YEARS_400 if is_first else 0
    offset = moment.utcoffset()
    if offset:
        minutes -= offset // _MINUTE
    kind = "local" if offset is None else "UTC"
    return f"{kind} {minutes} {second} {(fraction or '').rstrip('0')}"


def _email(text: str) -> str:
    """Return an address in small letters, as mail servers read it in practice.

    That is one @ with something before it and a domain after it, and no white space.
    """
    name, _, domain = text.partition("@")  # a regular expression takes twice as long
    is_address = name and domain and not ("@" in domain or "/" in domain) and text.split() == [text]
    return text.lower() if is_address else _itself(text)


def _uri(text: str) -> str:
    """Return an address without what RFC 3986, 6.2.2 and 6.2.3, says that makes no difference.

    What has white space or control characters in it is none, and stands for itself.
    """
    found = _URI.fullmatch(text)
    if not found or " " in text or not text.isprintable():
        return _itself(text)
    scheme, authority, path, query, fragment = (
        part and _ESCAPED.sub(_plainest, part) for part in found.groups()
    )
    scheme = scheme.lower()
    if path.startswith("/"):
        path = _without_dots(path)
    elif not path and authority:
        path = "/"
    server = None if authority is None else _server(authority, _PORTS.get(scheme))
    return f"{scheme} {server} {path} {query} {fragment}"


def _itself(text: str) -> str:
    """Return what stands for no more than itself, written as nothing else is."""
    return f" {text}"


def _plainest(escaped: re.Match[str]) -> str:
    """Write an escaped character as itself where that means the same, else in capitals."""
    character = chr(int(escaped[1], 16))
    return character if _UNRESERVED.match(character) else escaped[0].upper()


def _without_dots(path: str) -> str:
    """Follow the steps `.` and `..` of a path (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    steps = path.split("/")[1:]
    for step in steps:
        if step == "..":
            del kept[-1:]
        elif step != ".":
            kept.append(step)
    if steps[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _server(authority: str, usual_port: str | None) -> str:
    """Return login, host and port, None where it is the usual one."""
    login, at, place = authority.rpartition("@")
    found = _HOST.fullmatch(place)
    if not found:
        return authority
    host, port = found.groups()
    return f"{login}{at} {host.lower()} {None if port in ('', usual_port) else port}"


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
