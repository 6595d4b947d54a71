"""Find dates in a text: in figures, and in English, German, French and Spanish."""

from __future__ import annotations

import re
from datetime import date
from typing import Final, NamedTuple, TypeAlias

_NAMES: Final = (
    "january jan januar janner janvier janv enero ene",
    "february feb februar feber fevrier fevr fev febrero",
    "march mar marz maerz mrz mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug aout agosto ago",
    "september sep sept septembre septiembre setiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez decembre diciembre dic",
)
MONTHS: Final = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}
"""The number of each month by its names and short names, without accents."""

Day: TypeAlias = tuple[int, int, int]
"""Year, month and day. A year or day that the text does not contain is 0."""


class WrittenDate(NamedTuple):
    """A date in a text, with its place."""

    days: frozenset[Day]
    """The possible days: 05/01/2024 is in May or in January."""

    start: int
    end: int


_WEEKDAYS: Final = (
    "monday tuesday wednesday thursday friday saturday sunday "
    "mon tue tues wed wednes thu thur thurs fri sat sun "
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "lunes martes miercoles jueves viernes sabado domingo"
)
WEEKDAYS: Final = frozenset(_WEEKDAYS.split())
"""The days of the week. A date may contain one."""

_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_NAME: Final = rf"(?P<name>{_MONTH})\b\.?"
_DAY: Final = r"(?<!\d)(?<!\d[.,])(?P<d>\d\d?)(?!\d)(?:st|nd|rd|th|er|\.|o\b)?"
_YEAR: Final = r"(?P<y>\d{4}|'?\d\d)(?![:.,]?\d)"
_GAP: Final = r"(?:\s{0,3},?\s{0,3}(?:\b(?:of|de|del)\s{1,3}|\bd')|[\s,.-]{0,3})"
_FORMS: Final = [
    re.compile(form)
    for form in (
        r"(?<!\d)(?P<y>\d{4})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)(?!\d)",
        r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>0\d|1[0-2])(?P<d>[0-3]\d)(?!\d)",
        rf"(?<![\d.,])(?P<d>\d\d?)\.\s?(?P<m>\d\d?)\.\s?{_YEAR}",
        rf"(?<![\d.,])(?P<a>\d\d?)([-/]\s?)(?P<b>\d\d?)\2{_YEAR}",
        rf"{_DAY}{_GAP}{_NAME}(?:{_GAP}{_YEAR})?",
        rf"\b{_NAME}\s{{0,3}}{_DAY}(?:[\s,-]{{1,3}}{_YEAR})?",
        rf"\b{_NAME}{_GAP}(?P<y>\d{{4}})(?!\d)",
        r"(?<!\d)(?P<y>\d{4})-(?P<m>0\d|1[0-2])(?![\d-])",
        r"(?<![\d/])(?P<m>0?\d|1[0-2])[/.](?P<y>(?:19|20)\d\d)(?!\d)",
    )
]


def find_dates(folded: str) -> tuple[list[WrittenDate], str]:
    """Return the dates in a folded text, and the text with spaces in their places."""
    found: list[WrittenDate] = []
    for form in _FORMS:

        def take(match: re.Match[str]) -> str:
            days = _read(match)
            if not days:
                return match[0]
            found.append(WrittenDate(days, *match.span()))
            return " " * len(match[0])

        folded = form.sub(take, folded)
    return found, folded


def _read(found: re.Match[str]) -> frozenset[Day]:
    parts = found.groupdict()
    year = int((parts["y"] or "0").lstrip("'"))
    if parts["y"] and year < 100:
        year += 1900 if year >= 70 else 2000
    if "a" in parts:
        one, other = int(parts["a"]), int(parts["b"])
        pairs = {(one, other), (other, one)}
    else:
        month = MONTHS[parts["name"]] if "name" in parts else int(parts["m"])
        pairs = {(month, int(parts.get("d") or 0))}
    return frozenset((year, month, day) for month, day in pairs if _is_day(year, month, day))


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year or 2000, month, day or 1)
    except ValueError:
        return False
    return True
