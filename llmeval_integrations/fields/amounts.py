"""Read numbers as people write them: with grouped digits, currencies or per cent."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from llmeval_integrations.text.numbers import read_digits

_LONGEST: Final = 400
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


class Amount(NamedTuple):
    """The number that a text contains, with its unit."""

    number: Decimal
    unit: str
    """The code of the currency, `%`, or the empty text."""

    def may_have_unit(self, unit: str) -> bool:
        """Return whether the units are the same, or one of them is not given."""
        return self.unit == unit or not (self.unit and unit)


@lru_cache(maxsize=1_024)
def read_amount(text: str) -> Amount | None:
    """Read a text as a number with a currency or per cent; return None if it is none."""
    if len(text) > _LONGEST:
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
    return Amount(Decimal(sign + digits), "".join(units))
