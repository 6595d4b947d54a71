"""Dates as people write them, in figures and English words."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Final

from llmeval_integrations.fields.formats import write_moment

_LONGEST: Final = 60

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH: Final = "|".join((*_MONTHS, *(f"{name[:3]}" for name in _MONTHS), "sept"))
_WEEKDAY: Final = r"(?:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?[.,]* )?"
_DAY: Final = r"(?P<d>\d\d?)(?:st|nd|rd|th|\.)?"

_PARTS: Final = re.compile(
    r"(?P<day>.+?)"
    r"(?:(?:t|,? | at )(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d+)?)?"
    r" ?(?P<zone>z|utc|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
_YEAR_FIRST: Final = re.compile(
    r"(?P<y>\d{4})(?P<sep>[-/.]?)(?P<m>\d\d)(?P=sep)(?P<d>\d\d)"
    r"|(?P<y2>\d{4})(?P<sep2>[-/.])(?P<m2>\d\d?)(?P=sep2)(?P<d2>\d\d?)",
    re.ASCII,
)
_DAY_FIRST: Final = re.compile(r"(?P<d>\d\d?)\. ?(?P<m>\d\d?)\. ?(?P<y>\d{4})", re.ASCII)
_EITHER: Final = re.compile(r"(\d\d?)([-/])(\d\d?)\2(\d{4})", re.ASCII)
_IN_WORDS: Final = [
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"{_WEEKDAY}(?P<m>{_MONTH})\.? {_DAY},? (?P<y>\d{{4}})",
        rf"{_WEEKDAY}{_DAY}(?: of)?[ -]?(?P<m>{_MONTH})[.,]*[ -]?(?P<y>\d{{4}})",
    )
]


@lru_cache(maxsize=1_024)
def read_dates(text: str) -> tuple[str, ...]:
    """Return what a text may stand for: a day, a moment, or both at midnight; nothing for none.

    Two texts mean the same where one of these is the same.
    """
    text = " ".join(text.lower().split())
    found = _PARTS.fullmatch(text) if len(text) <= _LONGEST else None
    day = _read_day(found["day"]) if found else None
    if not (found and day):
        return ()
    if not found["hour"]:
        return (day,)
    zone = (found["zone"] or "").replace("utc", "z")
    if len(zone) == len("+0100"):
        zone = f"{zone[:3]}:{zone[3:]}"
    clock = f"{found['hour']:0>2}:{found['minute']}:{found['second'] or '00'}"
    moment = write_moment(f"{day}t{clock}{found['fraction'] or ''}{zone}")
    if moment is None:
        return ()
    is_midnight = clock == "00:00:00" and not (found["fraction"] or "").strip(".0")
    return (moment, day) if is_midnight else (moment,)


@lru_cache(maxsize=1_024)
def is_ambiguous(text: str) -> bool:
    """Whether a text may be a date with the day or the month first, such as 05/01/2024."""
    parts = _PARTS.fullmatch(" ".join(text.lower().split())) if len(text) <= _LONGEST else None
    found = _EITHER.fullmatch(parts["day"]) if parts else None
    if not found:
        return False
    one, other = int(found[1]), int(found[3])
    return one != other and 1 <= one <= 12 and 1 <= other <= 12


def _read_day(text: str) -> str | None:
    """Write a day of one reading as ISO 8601 does."""
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = (found[name] or found[f"{name}2"] for name in "ymd")
    elif found := _DAY_FIRST.fullmatch(text):
        year, month, day = (found[name] for name in "ymd")
    elif found := _EITHER.fullmatch(text):
        if is_ambiguous(text):
            return None
        one, _, other, year = found.groups()
        day, month = (one, other) if int(one) > 12 else (other, one)
    else:
        found = next(filter(None, (form.fullmatch(text) for form in _IN_WORDS)), None)
        if not found:
            return None
        year, day = found["y"], found["d"]
        month = str([name[:3] for name in _MONTHS].index(found["m"][:3]) + 1)
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
