"""Check the options of an evaluator when it is built."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import quote


def check_number(
    evaluator: Any,
    option: str,
    *,
    minimum: float = -math.inf,
    maximum: float = math.inf,
    below: float = math.inf,
    whole: bool = False,
    optional: bool = False,
) -> None:
    """Raise unless the option is a finite number from `minimum` to `maximum`, and below `below`.

    A number of another library, such as NumPy, is converted, so that scores are Python's numbers.
    """
    value: Any = getattr(evaluator, option)
    if optional and value is None:
        return
    if type(value) not in (bool, int, float) and isinstance(value, Real):
        value = int(value) if isinstance(value, Integral) else float(value)
    if not (is_number(value, whole=whole) and minimum <= value <= maximum and value < below):
        expected = "a whole number" if whole else "a finite number"
        expected += f", at least {minimum}" if minimum > -math.inf else ""
        expected += f", at most {maximum}" if maximum < math.inf else ""
        expected += f", below {below}" if below < math.inf else ""
        raise option_error(evaluator, option, expected + (", or None" if optional else ""))
    object.__setattr__(evaluator, option, value)


def is_number(value: Any, *, whole: bool = False) -> bool:
    """Return whether a value is a finite number and not a boolean."""
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False


def check_count(name: str, value: object) -> None:
    """Raise unless an option of a function is a whole number above 0."""
    if type(value) is not int or value < 1:
        raise InvalidOptionError(f"{name}={quote(value)} is not a whole number above 0")


def check_choices(evaluator: Any, **allowed: Collection[str] | type[bool]) -> None:
    """Raise unless each option is one of these choices; for `bool`, it must be True or False."""
    for option, choices in allowed.items():
        value = getattr(evaluator, option)
        if isinstance(choices, type):
            if not isinstance(value, choices):
                raise option_error(evaluator, option, "True or False")
        elif not isinstance(value, str) or value not in choices:
            raise option_error(evaluator, option, "one of " + ", ".join(map(repr, choices)))


def check_callable(evaluator: Any, option: str) -> None:
    """Raise unless the option is None or a function."""
    value = getattr(evaluator, option)
    if value is not None and not callable(value):
        raise option_error(evaluator, option, "a function, or None")


def check_text(evaluator: Any, option: str, *, optional: bool = False) -> None:
    """Raise unless the option is a text that is not blank."""
    value = getattr(evaluator, option)
    if optional and value is None:
        return
    if not isinstance(value, str) or not value.strip():
        raise option_error(evaluator, option, "a text" + (", or None" if optional else ""))


def check_list(evaluator: Any, option: str, expected: str) -> None:
    """Convert an option to a tuple; raise unless it is a list that is not empty."""
    value = getattr(evaluator, option)
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise option_error(evaluator, option, expected)
    object.__setattr__(evaluator, option, tuple(value))


def check_instance(evaluator: Any, option: str, kind: type) -> None:
    """Raise unless the option is an instance of a class."""
    if not isinstance(getattr(evaluator, option), kind):
        raise option_error(evaluator, option, f"a {kind.__name__}")


def as_number(evaluator: Any, option: str, returned: Any) -> Any:
    """Return the number that a user's function returned; raise if it is not a finite number.

    Booleans stay booleans. Other numbers that are not Python's are converted to floats.
    """
    number = returned
    try:
        if type(number).__module__ == "numpy":
            number = number.item()
        if not isinstance(number, (bool, int, float)):
            number = float(number) if hasattr(number, "__float__") else math.nan
        is_finite = math.isfinite(number)
    except (OverflowError, TypeError, ValueError):  # an array, or beyond the largest float
        is_finite = False
    if not is_finite:
        raise InvalidOptionError(
            f"{evaluator.name}: {option} returned {quote(returned)}, which is not a finite number"
        )
    return number


def option_error(evaluator: Any, option: str, expected: str) -> InvalidOptionError:
    """Return the error for an option: evaluator, option, value, and what is expected."""
    value = getattr(evaluator, option)
    return InvalidOptionError(f"{evaluator.name}: {option}={quote(value)} is not {expected}")
