"""What a text of a JSON Schema `format` stands for: texts that mean the same give the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timezone
from typing import Any, Final

from llmeval_integrations.fields.rule import Format

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DATE_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?"
)

# The grammar of RFC 3986; unlike urlsplit it tells an empty query from none.
_URI: Final = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?", re.ASCII
)
_HOST: Final = re.compile(r"(\[[^]]*\]|[^:]*)(?::([0-9]*))?")
_ESCAPED: Final = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = re.compile("[A-Za-z0-9._~-]")
_PORTS: Final = {"http": "80", "https": "443", "ftp": "21"}


def _date(text: str) -> Any:
    """Give a date of RFC 3339; a text that is none stands for itself."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else text
    except ValueError:
        return text


def _date_time(text: str) -> Any:
    """Give a moment of RFC 3339, or a local one where there is no offset."""
    found = _DATE_TIME.fullmatch(text)
    if not found:
        return text
    day, clock, fraction, offset = found.groups()
    zone = "" if offset is None else "+00:00" if offset in "Zz" else offset
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
        moment = moment.astimezone(timezone.utc) if zone else moment
    except (ValueError, OverflowError):
        return text
    return moment.isoformat(), (fraction or "").rstrip("0")


def _email(text: str) -> str:
    """Give an address in small letters, as mail servers read it in practice."""
    return text.lower()


def _uri(text: str) -> Any:
    """Give an address without what RFC 3986, 6.2.2 and 6.2.3, says that makes no difference.

    What has white space or control characters in it is none, and stands for itself.
    """
    found = _URI.fullmatch(text)
    if not found or " " in text or not text.isprintable():
        return text
    scheme, authority, path, query, fragment = (
        part and _ESCAPED.sub(_plainest, part) for part in found.groups()
    )
    scheme = scheme.lower()
    if path.startswith("/"):
        path = _without_dots(path)
    server = None if authority is None else _server(authority, _PORTS.get(scheme))
    return scheme, server, path or (authority and "/"), query, fragment


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


def _server(authority: str, usual_port: str | None) -> Any:
    """Give login, host and port, None where it is the usual one."""
    login, at, place = authority.rpartition("@")
    found = _HOST.fullmatch(place)
    if not found:
        return authority
    host, port = found.groups()
    return login + at, host.lower(), None if port in ("", usual_port) else port


MEANINGS: Final[dict[Format, Callable[[str], Any]]] = {
    "date": _date,
    "date-time": _date_time,
    "email": _email,
    "uri": _uri,
}
"""What a text stands for, by its format."""
