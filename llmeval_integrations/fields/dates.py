"""Read dates as people write them, in figures and words."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Final

from llmeval_integrations.fields.formats import write_moment
from llmeval_integrations.text.dates import WEEKDAYS, Day, find_dates
from llmeval_integrations.text.words import find_words, fold

_LONGEST: Final = 60

_PARTS: Final = re.compile(
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
    found = _split(text)
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
    """Return whether a date, such as 05/01/2024, can be read with the day or the month first."""
    found = _split(text)
    return found is not None and len(_read_days(found["day"])) > 1


def _split(text: str) -> re.Match[str] | None:
    """Split a text into a day and a time."""
    text = " ".join(text.lower().split())
    return _PARTS.fullmatch(text) if len(text) <= _LONGEST else None


def _read_day(text: str) -> str | None:
    """Return a day in ISO 8601, or None if the text has no reading or several."""
    days = _read_days(text)
    return date(*next(iter(days))).isoformat() if len(days) == 1 else None


def _read_days(text: str) -> frozenset[Day]:
    """Return the days that a whole text may mean; its year must have four digits."""
    folded = fold(text)
    dates, rest = find_dates(folded)
    if len(dates) != 1 or not _YEAR.search(folded) or not WEEKDAYS.issuperset(find_words(rest)):
        return frozenset()
    return frozenset(day for day in dates[0].days if all(day))
