"""Comparing two values of one field."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from functools import lru_cache
from operator import eq
from typing import Any, Final, Literal

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import shown
from llmeval_integrations.fields.meanings import MEANINGS, meant_by_any
from llmeval_integrations.fields.rule import Rule
from llmeval_integrations.json_values.equality import SCALARS, equal, write_scalar
from llmeval_integrations.json_values.numbers import exact_decimal, read_number
from llmeval_integrations.text.edit_distance import edits_up_to, reach

NOISE: Final = 1e-9
"""The share by which fractions of a schema's type "number" may be off where nobody says otherwise;
two whole numbers are compared exactly."""

_ARITHMETIC: Final = Context(prec=10_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
"""Exact for all that floats hold, and for integers of as many digits; quick for 1e1000000 too,
which a fraction, or an integer, would spell out."""

TYPES: Final[dict[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
    dict: "object",
    list: "array",
}
"""The JSON types of parsed values."""

_CONTAINERS: Final = frozenset(("object", "array"))
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""As JSON writes numbers: "007" and "+49" are codes, where nobody says otherwise."""


# Texts with fewer pairs of characters are measured exactly, though NFKC made each 18 times as long.
_SHORT: Final = 10_000_000

Verdict = tuple[Literal["match", "mismatch", "wrong_type"], float]

MATCH: Final[Verdict] = ("match", 1.0)
MISMATCH: Final[Verdict] = ("mismatch", 0.0)
WRONG_TYPE: Final[Verdict] = ("wrong_type", 0.0)


def compare(rule: Rule, output: Any, reference: Any, path: str) -> Verdict:
    """Compare two values that are there; gives the outcome and its score, 0 to 1.

    `path` is that of their field. Raises InvalidOptionError where a function of the caller's fails.
    """
    here, there = TYPES.get(type(output)), TYPES.get(type(reference))
    if rule.compare is not None and (rule.is_leaf or _CONTAINERS.isdisjoint((here, there))):
        same = equal(output, reference)
        return MATCH if same else _by_function(rule, output, reference, path)
    if here != there:
        may_be_text = rule.coerce or rule.is_decimal
        return MATCH if may_be_text and _same_as_text(rule, output, reference) else WRONG_TYPE
    if here == "number":
        return MATCH if _same_number(rule, output, reference) else MISMATCH
    if here == "string":
        return _of_numbers(rule, output, reference) or _of_texts(rule, output, reference)
    return MATCH if equal(output, reference) else MISMATCH


def _by_function(rule: Rule, output: Any, reference: Any, path: str) -> Verdict:
    function: Any = rule.compare
    try:
        given = function(output, reference)
        score = float(given) if hasattr(given, "__float__") else -1.0
    except RecursionError:
        raise  # for there may be more room elsewhere
    except Exception as error:
        said = f"raised {type(error).__name__}: {error}, for {shown(output)} and {shown(reference)}"
        raise _fault(rule, path, said) from error
    if not 0 <= score <= 1:
        raise _fault(
            rule, path, f"returned {shown(given)}, which is not True, False or from 0 to 1"
        )
    needed = 1.0 if rule.similarity is None else rule.similarity
    return ("match", score) if score >= needed else ("mismatch", score)


def _fault(rule: Rule, path: str, said: str) -> InvalidOptionError:
    """Word the error for a function of the caller's."""
    where = f"defaults, at {shown(path)}" if rule.values_only else f"fields[{shown(path)}]"
    return InvalidOptionError(f"{where}: compare {said}")


def _same_as_text(rule: Rule, output: Any, reference: Any) -> bool:
    """Whether one of two values is the other one written as text."""
    text, value = (output, reference) if isinstance(output, str) else (reference, output)
    if not isinstance(text, str) or isinstance(value, (dict, list)):
        return False
    if TYPES[type(value)] != "number":
        return rule.coerce and text.strip().lower() == write_scalar(value)
    number = number_in(rule, text)
    if number is None:
        return False
    pair = (number, value) if isinstance(output, str) else (value, number)
    return _same_number(rule, *pair)


def number_in(rule: Rule, text: str) -> int | float | Decimal | None:
    """Return the number that a text is; None where it is none, or is not to be read as one.

    That of a Decimal is never a float, which might have lost digits.
    """
    if not (rule.coerce or (rule.is_decimal and _NUMBER.fullmatch(text))):
        return None
    number = read_number(text.strip())
    if not (rule.is_decimal and type(number) is float):
        return number
    try:
        return exact_decimal(text)
    except InvalidOperation:  # for an exponent so small that no Decimal holds it
        return None


def _of_numbers(rule: Rule, output: str, reference: str) -> Verdict | None:
    """Compare two texts as the numbers that they are; None where they are to be texts."""
    is_near = rule.tolerance or rule.relative_tolerance or rule.multiple_of
    if not (rule.is_decimal or (rule.coerce and is_near)):
        return None
    one, other = number_in(rule, output), number_in(rule, reference)
    if one is None or other is None:
        return None
    if _same_number(rule, one, other):
        return MATCH
    return None if rule.is_decimal else MISMATCH  # for they may be similar, where that is asked


def _same_number(rule: Rule, output: Any, reference: Any) -> bool:
    if output == reference:
        return True
    is_noisy = rule.is_number and _is_noisy(rule, output, reference)
    share = (
        (NOISE if is_noisy else 0.0) if rule.relative_tolerance is None else rule.relative_tolerance
    )
    if not (rule.tolerance or share or rule.multiple_of):  # 0.1 and its text are not == to Python
        return rule.is_decimal and _exact(output) == _exact(reference)
    one, other = _exact(output), _exact(reference)
    if not (one.is_finite() and other.is_finite()):  # which lenient parsing lets in
        return False
    off = _ARITHMETIC.subtract(one, other).copy_abs()
    allowed = _ARITHMETIC.multiply(_exact(share), other.copy_abs())
    if off <= max(_exact(rule.tolerance), allowed):
        return True
    if rule.multiple_of is None:
        return False
    grid = _exact(rule.multiple_of)
    arithmetic = _on_grids(one, other, grid)
    return _nearest(one, grid, arithmetic) == _nearest(other, grid, arithmetic)


def _is_noisy(rule: Rule, output: Any, reference: Any) -> bool:
    """Whether one of two numbers is a fraction that may have lost digits, as texts have not."""
    if rule.is_decimal and float not in (type(output), type(reference)):
        return False
    return not (_is_whole(output) and _is_whole(reference))


def _is_whole(number: Any) -> bool:
    if type(number) is Decimal:
        return bool(number == number.to_integral_value())
    return type(number) is int or bool(number.is_integer())


def _nearest(number: Decimal, grid: Decimal, arithmetic: Context) -> Decimal:
    """Return the number of the grid's point that is nearest, the even one of two."""
    return arithmetic.divide(number, grid).to_integral_value(ROUND_HALF_EVEN)


def _on_grids(one: Decimal, other: Decimal, grid: Decimal) -> Context:
    """Return what divides two numbers so that those that differ still do."""
    if max(one.adjusted(), other.adjusted()) - grid.adjusted() < _ARITHMETIC.prec:
        return _ARITHMETIC
    wide = _ARITHMETIC.copy()
    wide.prec += max(len(number.as_tuple().digits) for number in (one, other))
    return wide


@lru_cache(maxsize=1_024, typed=True)  # takes long of long integers, which come again and again
def _exact(number: Any) -> Decimal:
    """Return a number as it is written: 0.1 is a tenth, and not the double next to it."""
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def _of_texts(rule: Rule, output: str, reference: str) -> Verdict:
    one, other = plain_text(rule, output), plain_text(rule, reference)
    if one == other or (rule.format and meaning_of(rule, one) == meaning_of(rule, other)):
        return MATCH
    if rule.similarity is None:
        return MISMATCH
    longest = max(len(one), len(other))
    edits = edits_up_to(int((1.0 - rule.similarity) * longest) + 1, one, other)
    score = (longest - edits) / longest  # 1 less a share would be off 0.93 where that is set
    return ("match", score) if score >= rule.similarity else MISMATCH


def plain_text(rule: Rule, text: str) -> str:
    """Leave out of a text what does not count."""
    if rule.normalize_unicode:
        text = unicodedata.normalize("NFKC", text)
    if rule.ignore_case:
        text = text.casefold()
        if rule.normalize_unicode:  # small letters may be taken apart
            text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split()) if rule.ignore_whitespace else text


def meaning_of(rule: Rule, plain: str) -> str:
    """Write what a plain text stands for, the same for all that match but by their similarity."""
    form = rule.format
    if form is None:
        return plain
    meaning = meant_by_any(form, plain) if isinstance(form, tuple) else MEANINGS[form](plain)
    return meaning.casefold() if rule.ignore_case else meaning  # addresses may escape capitals


def has_its_type(output: Any, reference: Any) -> bool:
    """Whether two values have the same JSON type."""
    return TYPES.get(type(output)) == TYPES.get(type(reference))


def is_measured(rule: Rule, output: Any, reference: Any, score: float) -> bool:
    """Whether two values are not texts that are too long for a distance that is exact."""
    if not (type(output) is str and type(reference) is str) or rule.compare is not None:
        return True
    if len(output) * len(reference) < _SHORT:
        return True
    one, other = plain_text(rule, output), plain_text(rule, reference)
    edits = (1.0 - (score or rule.similarity or 0.0)) * max(len(one), len(other))
    return edits <= reach(one, other) + 0.5  # whatever the product is rounded to


def all_match(values: Collection[Any], expected: Collection[Any]) -> bool:
    """Whether these are texts, numbers and the like, each equal to the one that is expected."""
    kinds = list(map(type, values))
    return (
        SCALARS.issuperset(kinds)
        and kinds == list(map(type, expected))
        and all(map(eq, values, expected))  # one by one, for a list with NaN is equal to itself
    )
