"""Comparing two values of one field."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime, timezone
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from llmeval_integrations.edit_distance import measure
from llmeval_integrations.errors import InvalidOptionError
from llmeval_integrations.fields.rule import Rule
from llmeval_integrations.json_value import equal, write_scalar
from llmeval_integrations.wording import shown

NOISE: Final = 1e-9
"""The share by which numbers of a schema's type "number" may be off where nobody says otherwise."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DATE_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?"
)
_PORTS: Final = {"http": 80, "https": 443, "ftp": 21}

TYPES: Final[dict[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    type(None): "null",
    dict: "object",
    list: "array",
}
"""The JSON types of parsed values."""

Verdict = tuple[Literal["match", "mismatch", "wrong_type"], float]

MATCH: Final[Verdict] = ("match", 1.0)
MISMATCH: Final[Verdict] = ("mismatch", 0.0)
WRONG_TYPE: Final[Verdict] = ("wrong_type", 0.0)


def compare(rule: Rule, output: Any, reference: Any) -> Verdict:
    """Compare two values that are there; gives the outcome and its score, 0 to 1."""
    if rule.compare is not None:
        return _by_function(rule, output, reference)
    here, there = TYPES.get(type(output)), TYPES.get(type(reference))
    if here != there:
        return MATCH if rule.coerce and _same_as_text(rule, output, reference) else WRONG_TYPE
    if here == "number":
        return MATCH if _same_number(rule, output, reference) else MISMATCH
    if here == "string":
        return _of_texts(rule, output, reference)
    return MATCH if equal(output, reference) else MISMATCH


def _by_function(rule: Rule, output: Any, reference: Any) -> Verdict:
    function: Any = rule.compare
    given = function(output, reference)
    score = float(given) if hasattr(given, "__float__") else -1.0
    if not 0 <= score <= 1:
        raise InvalidOptionError(
            f"fields: compare returned {shown(given)}, which is not True, False or from 0 to 1"
        )
    needed = 1.0 if rule.similarity is None else rule.similarity
    return ("match", score) if score >= needed else ("mismatch", score)


def _same_as_text(rule: Rule, output: Any, reference: Any) -> bool:
    """Whether one of two values is the other one written as text."""
    text, value = (output, reference) if isinstance(output, str) else (reference, output)
    if not isinstance(text, str) or isinstance(value, (dict, list)):
        return False
    if TYPES[type(value)] != "number":
        return text.strip().lower() == write_scalar(value)
    try:
        number = Decimal(text.strip().replace("_", "x"))  # Python's own digits are not people's
    except InvalidOperation:
        return False
    if not number.is_finite():
        return False
    pair = (number, value) if isinstance(output, str) else (value, number)
    return _same_number(rule, *pair)


def _same_number(rule: Rule, output: Any, reference: Any) -> bool:
    if output == reference:
        return True
    is_noisy = rule.is_number and not (type(output) is int and type(reference) is int)
    share = (
        (NOISE if is_noisy else 0.0) if rule.relative_tolerance is None else rule.relative_tolerance
    )
    if not (rule.tolerance or share or rule.multiple_of):
        return False
    try:
        one, other = _exact(output), _exact(reference)
    except (OverflowError, ValueError):  # NaN or infinite, which lenient parsing lets in
        return False
    off = abs(one - other)
    if off <= max(_exact(rule.tolerance), _exact(share) * abs(other)):
        return True
    if rule.multiple_of is None:
        return False
    grid = _exact(rule.multiple_of)
    return round(one / grid) == round(other / grid)


def _exact(number: Any) -> Fraction:
    """Give a number as it is written: 0.1 is a tenth, and not the double next to it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _of_texts(rule: Rule, output: str, reference: str) -> Verdict:
    if rule.format is not None and _MEANINGS[rule.format](output) == _MEANINGS[rule.format](
        reference
    ):
        return MATCH
    one, other = _plain(rule, output), _plain(rule, reference)
    if one == other:
        return MATCH
    if rule.similarity is None:
        return MISMATCH
    distance, _ = measure("levenshtein", one, other)
    score = 1.0 - distance
    return ("match", score) if score >= rule.similarity else MISMATCH


def _plain(rule: Rule, text: str) -> str:
    """Leave out of a text what does not count."""
    if rule.normalize_unicode:
        text = unicodedata.normalize("NFKC", text)
    if rule.ignore_case:
        text = text.casefold()
    return " ".join(text.split()) if rule.ignore_whitespace else text


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
    return text.casefold()


def _uri(text: str) -> Any:
    """Give an address without what RFC 3986, 6.2.2 and 6.2.3, says that makes no difference."""
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return text
    if not parts.scheme or not parts.netloc:
        return text
    port = None if port == _PORTS.get(parts.scheme) else port
    login = parts.netloc.rpartition("@")[0]
    rest = tuple(
        re.sub("%[0-9a-fA-F]{2}", lambda escaped: escaped[0].upper(), part)
        for part in (parts.path or "/", parts.query, parts.fragment)
    )
    return parts.scheme, login, host, port, rest


_MEANINGS: Final = {"date": _date, "date-time": _date_time, "email": _email, "uri": _uri}
