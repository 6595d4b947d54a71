"""Read the dates and amounts that people write in a text."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

from llmeval_integrations.text.dates import WEEKDAYS, Day, find_dates
from llmeval_integrations.text.numbers import read_digits
from llmeval_integrations.text.words import find_words
from llmeval_integrations.text.words import fold as fold_words

_LONGEST_DATE: Final = 60

_DATE: Final = re.compile(
    r"(?P<day>.+?)"
    r"(?:(?:t|,? | at )(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d+)?)?"
    r" ?(?P<zone>z|utc|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
_YEAR: Final = re.compile(r"(?<!\d)\d{4}", re.ASCII)


def is_ambiguous(text: str) -> bool:
    """Return whether a date, such as 05/01/2024, can be read with the day or the month first."""
    return len(find_days(text)[1]) > 1


def find_days(text: str) -> tuple[re.Match[str] | None, frozenset[Day]]:
    """Split a text into a day and a time, and return the days that it may mean.

    Its year must have four digits.
    """
    text = " ".join(text.lower().split())
    found = _DATE.fullmatch(text) if len(text) <= _LONGEST_DATE else None
    if not found:
        return None, frozenset()
    folded = fold_words(found["day"])
    dates, rest = find_dates(folded)
    if len(dates) != 1 or not _YEAR.search(folded) or not WEEKDAYS.issuperset(find_words(rest)):
        return None, frozenset()
    return found, frozenset(day for day in dates[0].days if all(day))


_LONGEST_NUMBER: Final = 400
"""Characters of the longest number: all digits that a JSON number may have, and separators."""

# fmt: off
_SIGNS: Final = {
    "$": "USD", "US$": "USD", "A$": "AUD", "C$": "CAD", "HK$": "HKD", "R$": "BRL",
    "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "%": "%",
}
# fmt: on
_CODES: Final = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES|"
    "KRW|KWD|MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|"
    "USD|UYU|VND|ZAR"
)
_UNIT: Final = "|".join([*map(re.escape, _SIGNS), _CODES])
_AMOUNT: Final = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>(?:{_UNIT})?) ?(?P<inner>[+-]?)"
    rf"(?P<digits>[0-9.][0-9.,' ]*(?:[eE][+-]?[0-9]{{1,3}})?) ?(?P<behind>(?:{_UNIT})?)"
)
_SPACES: Final = str.maketrans(
    {**dict.fromkeys("\u00a0\u2009\u202f", " "), "\u2019": "'", "\u2212": "-"}
)


@lru_cache(maxsize=1_024)
def read_amount(text: str) -> tuple[Decimal, str] | None:
    """Return the number in a text, with the code of its currency, `%` or the empty text.

    Return None if the text is no number with at most one unit.
    """
    if len(text) > _LONGEST_NUMBER:
        return None
    text = text.translate(_SPACES).strip()
    is_below_zero = text[:1] == "(" and text[-1:] == ")"  # as accountants write it
    found = _AMOUNT.fullmatch(text[1:-1] if is_below_zero else text)
    if not found:
        return None
    sign = found["sign"] + found["inner"] + "-" * is_below_zero
    units = {_SIGNS.get(each, each) for each in (found["before"], found["behind"]) if each}
    digits = next(read_digits(found["digits"].strip()), None)
    if digits is None or len(sign) > 1 or len(units) > 1:
        return None
    return Decimal(sign + digits), "".join(units)
