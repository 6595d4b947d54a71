"""Compare two leaves of one field: numbers, texts, and texts that contain numbers."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from functools import lru_cache
from math import isnan
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError, RegexTimeoutError
from llmeval_integrations.core.limits import REGEX_TIMEOUT
from llmeval_integrations.core.quote import quote
from llmeval_integrations.fields.meanings import fold, read_amount, read_dates, write_meaning
from llmeval_integrations.fields.rule import Rule, compile_pattern
from llmeval_integrations.json_values.equality import (
    TYPES,
    canonical,
)
from llmeval_integrations.json_values.numbers import exact_decimal, read_number
from llmeval_integrations.matching.node import MATCH, MISMATCH, Verdict
from llmeval_integrations.text.edit_distance import count_edits, exact_reach

_NOISE: Final = 1e-9
"""The relative tolerance for fractions of a schema's type "number", unless a rule sets another. Two
whole numbers are compared exactly."""

_ARITHMETIC: Final = Context(prec=10_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
"""Exact for all floats and integers, and fast for a number such as 1e-1000000, too."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""A number as JSON writes it. Without `coerce`, "007" and "+49" are texts."""


def write_leaf(rule: Rule, text: str) -> str:
    """Write a text so that two leaves with the same text match."""
    if rule.compare or rule.judge:
        return canonical(text)
    number = _parse_number(rule, text) if rule.is_decimal else None
    if number is not None:
        return canonical(number)
    amount = read_amount(text) if rule.number else None
    if amount is not None:
        return " ".join(map(str, amount))
    if rule.coerce:
        number = read_number(text)
        # The text of the number or boolean itself, so that 3 and "3" match.
        if text in ("true", "false") or (number is not None and canonical(number) == text):
            return text
    text = fold(rule, text)
    return repr((rule.dates and read_dates(text)) or write_meaning(rule, text))


def fits_pattern(pattern: str, value: Any, path: str) -> bool:
    """Return whether a whole text, or a number as JSON writes it, matches the pattern."""
    if TYPES[type(value)] not in ("string", "number"):
        return False
    text = value if type(value) is str else canonical(value)
    try:
        return bool(compile_pattern(pattern).fullmatch(text, timeout=REGEX_TIMEOUT))
    except TimeoutError:
        raise RegexTimeoutError(
            f"{path or 'the whole'}: the pattern {quote(pattern)} gives no answer within "
            f"{REGEX_TIMEOUT:g} s for a text of {len(text)} characters"
        ) from None


def ask_function(rule: Rule, output: Any, reference: Any, path: str) -> Verdict:
    """Compare two leaves by the caller's function."""
    function: Any = rule.compare
    where = f"defaults, at {quote(path)}" if rule.values_only else f"fields[{quote(path)}]"
    try:
        given = function(output, reference)
        score = float(given) if hasattr(given, "__float__") else -1.0
    except RecursionError:
        raise  # not the function's fault; the result is unscored
    except Exception as error:
        raise InvalidOptionError(
            f"{where}: compare raised {type(error).__name__}: {error}, for {quote(output)} and "
            f"{quote(reference)}"
        ) from error
    if not 0 <= score <= 1:
        raise InvalidOptionError(
            f"{where}: compare returned {quote(given)}, which is not True, False or from 0 to 1"
        )
    needed = 1.0 if rule.similarity is None else rule.similarity
    return Verdict("match" if score >= needed else "mismatch", score)


# --- numbers -------------------------------------------------------------------------------------


def match_scalars(rule: Rule, output: Any, reference: Any) -> bool:
    """Return whether two values, one of which is a text, are the same number or boolean."""
    one, other = _read_numbers(rule, output, reference), _read_numbers(rule, reference, output)
    for number, unit in one:
        for expected, its_unit in other:
            is_unit = unit == its_unit or not (unit and its_unit)
            if is_unit and match_numbers(rule, number, expected):
                return True
    text, value = (output, reference) if type(output) is str else (reference, output)
    is_word = rule.coerce and type(value) in (bool, type(None))
    return is_word and text.strip().lower() == canonical(value)


def _read_numbers(rule: Rule, value: Any, other: Any) -> list[tuple[Any, str]]:
    """Return the numbers that a value may mean beside another one, each with its unit."""
    if TYPES[type(value)] == "number":
        return [(value, "")]
    if type(value) is not str:
        return []
    is_near = rule.tolerance or rule.relative_tolerance or rule.multiple_of
    found: list[tuple[Any, str]] = []
    if type(other) is not str or rule.is_decimal or is_near:  # "5" is not "5.0" by `coerce` alone
        number = _parse_number(rule, value)
        found += [] if number is None else [(number, "")]
    amount = read_amount(value) if rule.number else None
    return found if amount is None else [*found, amount]


def _parse_number(rule: Rule, text: str) -> int | float | Decimal | None:
    """Read a text as a number; return None if it is none, or if the rule compares it as a text.

    A number of a Decimal field is not read as a float, which could lose digits.
    """
    if not (rule.coerce or (rule.is_decimal and _NUMBER.fullmatch(text))):
        return None
    number = read_number(text.strip())
    if not (rule.is_decimal and type(number) is float):
        return number
    try:
        return exact_decimal(text)
    except InvalidOperation:  # the exponent is too small for a Decimal
        return None


def match_numbers(rule: Rule, output: Any, reference: Any) -> bool:
    """Return whether two numbers are equal, or as near as the rule allows."""
    if output == reference or (
        type(output) is type(reference) is float and isnan(output) and isnan(reference)
    ):
        return True
    share = rule.relative_tolerance
    if share is None:
        share = _NOISE if rule.is_number and _is_noisy(rule, output, reference) else 0.0
    if not (rule.tolerance or share or rule.multiple_of):  # 0.1 != Decimal("0.1") in Python
        is_text = rule.is_decimal or Decimal in (type(output), type(reference))
        return is_text and _to_decimal(output) == _to_decimal(reference)
    one, other = _to_decimal(output), _to_decimal(reference)
    if not (one.is_finite() and other.is_finite()):  # lenient parsing accepts NaN and Infinity
        return False
    off = _ARITHMETIC.subtract(one, other).copy_abs()
    allowed = _ARITHMETIC.multiply(_to_decimal(share), other.copy_abs())
    if off <= max(_to_decimal(rule.tolerance), allowed):
        return True
    if rule.multiple_of is None:
        return False
    grid = _to_decimal(rule.multiple_of)
    points = [_ARITHMETIC.divide(number, grid) for number in (one, other)]
    nearest, expected = (point.to_integral_value(ROUND_HALF_EVEN) for point in points)
    return nearest == expected


def _is_noisy(rule: Rule, output: Any, reference: Any) -> bool:
    """Return whether one of two numbers is a fraction that may have lost digits as a float."""
    if rule.is_decimal and float not in (type(output), type(reference)):
        return False
    return any(number != _to_decimal(number).to_integral_value() for number in (output, reference))


@lru_cache(maxsize=1_024, typed=True)  # long integers take long, and are often repeated
def _to_decimal(number: Any) -> Decimal:
    """Return a number as it is written: 0.1 is one tenth, not the double that is nearest to it."""
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


# --- texts ---------------------------------------------------------------------------------------


def compare_texts(rule: Rule, output: str, reference: str) -> Verdict:
    """Compare two texts: without differences that do not count, by meaning, then by similarity."""
    one, other = fold(rule, output), fold(rule, reference)
    if one == other or (rule.format and write_meaning(rule, one) == write_meaning(rule, other)):
        return MATCH
    if rule.dates and not set(read_dates(one)).isdisjoint(read_dates(other)):
        return MATCH
    if rule.similarity is None:
        return MISMATCH
    verdict = _grade(rule.similarity, one, other)
    if (one, other) == (output, reference):
        return verdict
    # Folding shortens texts, so that the same edits are a larger share of them.
    return max(verdict, _grade(rule.similarity, output, reference), key=lambda each: each.score)


def _grade(needed: float, output: str, reference: str) -> Verdict:
    """Compare two texts by their similarity, which must be at least `needed`."""
    longest = max(len(output), len(reference))
    allowed = (1.0 - needed) * longest
    edits = count_edits(int(allowed) + 1, output, reference)
    score = (longest - edits) / longest  # 1 - edits / longest would miss a threshold of 0.93
    if score >= needed:
        return Verdict("match", score, edits <= exact_reach(output, reference))
    return Verdict("mismatch", 0.0, allowed <= exact_reach(output, reference) + 0.5)
