"""Check the options of an evaluator when it is built.

`Evaluator` checks those that are annotated as a bool, a Literal, or with a type of this file. The
other checks are for what an annotation cannot say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import quote

ZeroToOne: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
"""The type of an option that is a number from 0 to 1."""

Finite: TypeAlias = Annotated[float, Meta()]
"""The type of an option that is any finite number."""

Text: TypeAlias = Annotated[str, Meta(min_length=1)]
"""The type of an option that is a text, and not a blank one."""

Count: TypeAlias = Annotated[int, Meta(ge=1)]
"""The type of an option that is a whole number above 0."""

_Choice: TypeAlias = tuple[type, Any]
"""A value with its type: 1 equals True, and is no boolean."""

_FEW_VALUES: Final = {bool: (True, False), NoneType: (None,)}


def option_types(kind: type) -> dict[str, Any]:
    """Return the types of a class's options by name; empty if they cannot be resolved."""
    try:
        return get_type_hints(kind, include_extras=True)
    except (NameError, TypeError):
        return {}


@lru_cache
def read_rules(kind: type) -> tuple[dict[str, list[_Choice]], list[Callable[[Any], None]]]:
    """Return the values of each option that has only a few, and the checks of texts and ranges."""
    choices: dict[str, list[_Choice]] = {}
    checks: list[Callable[[Any], None]] = []
    for option, hint in option_types(kind).items():
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        values = [
            get_args(part) if get_origin(part) is Literal else _FEW_VALUES.get(part, ())
            for part in parts
        ]
        if all(values):
            choices[option] = [(type(value), value) for several in values for value in several]
        checks += [
            _check_of(option, part, optional=NoneType in parts)
            for part in parts
            if get_origin(part) is Annotated and isinstance(part.__metadata__[0], Meta)
        ]
    return choices, checks


def _check_of(option: str, hint: Any, *, optional: bool) -> Callable[[Any], None]:
    """Return the check of a text or number by its type, such as `Text` or `ZeroToOne`."""
    if hint.__origin__ is str:
        return partial(check_text, option=option, optional=optional)
    [range_] = hint.__metadata__
    bounds = {"minimum": range_.ge, "maximum": range_.le, "below": range_.lt}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    whole = hint.__origin__ is int
    return partial(check_number, option=option, whole=whole, optional=optional, **given)


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


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise unless an option of a function is a whole number of at least `least`."""
    if type(value) is not int or value < least:
        raise InvalidOptionError(f"{name}={quote(value)} is not a whole number of at least {least}")


def check_share(name: str, value: Any) -> None:
    """Raise unless an option of a function is a number between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise InvalidOptionError(f"{name}={quote(value)} is not a number between 0 and 1")


def check_choice(evaluator: Any, option: str, choices: Collection[Any]) -> None:
    """Raise unless the option is one of these values; 1 is not True here."""
    value = getattr(evaluator, option)
    if not isinstance(value, (*map(type, choices),)) or value not in choices:
        words = [*map(repr, choices)]
        expected = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        raise option_error(evaluator, option, expected)


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
