"""How the values of one field are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from math import inf
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quoting import quote

Order = Literal["ordered", "aligned", "any_order", "by_key"]
Format = Literal["date", "date-time", "duration", "email", "time", "uri", "uuid"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)


class Rule(msgspec.Struct, frozen=True):
    """How the values of one field are compared.

    What each setting means stands in the reference, on the page "Field rules".
    """

    ignore: bool = False
    derived: bool = False  # worked out of others, so that JsonGrounded does not look for it
    weight: float = 1.0
    tolerance: float = 0.0
    relative_tolerance: float | None = None  # None: the noise of doubles for a schema's "number"
    multiple_of: float | None = None
    similarity: float | None = None
    ignore_case: bool = False
    ignore_whitespace: bool = False
    normalize_unicode: bool = False
    text: Literal["loose"] | None = None
    format: Format | tuple[Format, ...] | None = None  # of several the first whose form a text has
    coerce: bool = False
    dates: Literal["any"] | None = None
    number: Literal["any"] | None = None
    pattern: str | None = None
    compare: Callable[[Any, Any], Any] | None = None
    order: Order = "aligned"
    key: str | list[str] | None = None
    min_similarity: float | None = None

    # What follows is not for overrides.

    is_number: bool = False
    """Whether the schema says "number"."""

    is_decimal: bool = False
    """Whether the schema says a number or the text of one, as Pydantic does for Decimal. Two texts
    that are numbers are compared without the noise of doubles."""

    types: frozenset[str] | None = None
    """The JSON types that the schema allows; None for any."""

    judge: bool = False
    """Whether a judge decides."""

    values_only: bool = False
    """Whether `compare` is a default, and not given objects and arrays."""

    @property
    def is_leaf(self) -> bool:
        """Whether objects and arrays are compared as wholes."""
        return self.judge or (self.compare is not None and not self.values_only)

    @property
    def is_exact(self) -> bool:
        """Whether values match where they are equal as JSON, and nowhere else."""
        return all(getattr(self, name) == value for name, value in _EXACT.items())


_FREE: Final = ("derived", "weight", "order", "key", "min_similarity", "types")
_EXACT: Final = {
    name: value for name, value in msgspec.structs.asdict(Rule()).items() if name not in _FREE
}

SETTINGS: Final = tuple(Rule.__struct_fields__[: Rule.__struct_fields__.index("is_number")])
"""What an override may set."""


def _in(*choices: str) -> Callable[[Any], bool]:
    return lambda value: value in choices


def _up_to(most: float) -> Callable[[Any], bool]:
    return lambda value: is_number(value) and 0 <= value <= most


def _are_names(value: Any) -> bool:
    several = value if isinstance(value, (list, tuple)) else [value]
    return bool(several) and all(isinstance(each, str) and each for each in several)


_VALID: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    **{
        name: (lambda value: isinstance(value, bool), "True or False")
        for name in SETTINGS
        if type(getattr(Rule(), name)) is bool
    },
    "weight": (_up_to(1e100), "a number from 0 to 1e+100"),  # so that no sum is infinite
    "tolerance": (_up_to(inf), "a finite number of at least 0"),
    "relative_tolerance": (_up_to(inf), "a finite number of at least 0, or None"),
    "multiple_of": (lambda value: value != 0 and _up_to(inf)(value), "a number above 0, or None"),
    "similarity": (_up_to(1), "a number from 0 to 1, or None"),
    "min_similarity": (_up_to(1), "a number from 0 to 1, or None"),
    "order": (_in(*get_args(Order)), f"one of {', '.join(get_args(Order))}"),
    "format": (_in(*FORMATS), f"one of {', '.join(FORMATS)}, or None"),
    "text": (_in("loose"), "'loose', or None"),
    "dates": (_in("any"), "'any', or None"),
    "number": (_in("any"), "'any', or None"),
    "pattern": (lambda value: isinstance(value, str), "a regular expression as text, or None"),
    "compare": (callable, "a function, 'module:function', or None"),
    "key": (_are_names, "the name of a member, a list of such, or None"),
}
"""When the value of a setting is valid, and what it should be."""

_OF_THE_PLACE: Final = ("order", "key", "min_similarity", "compare", "judge")


def check_settings(given: Any, where: str) -> dict[str, Any]:
    """Return the settings of an override; raise InvalidOptionError for what is none."""
    if not isinstance(given, Mapping):
        raise InvalidOptionError(f"{where}: {quote(given)} is not a mapping of settings")
    settings = dict(given)
    if isinstance(settings.get("compare"), str):
        settings["compare"] = _load_function(settings["compare"], where)
    for name, value in settings.items():
        if name not in SETTINGS:
            raise InvalidOptionError(
                f"{where}: {quote(name)} is not a setting; there are {', '.join(SETTINGS)}"
            )
        is_valid, expected = _VALID[name]
        if not (is_valid(value) or (value is None and getattr(Rule(), name) is None)):
            raise InvalidOptionError(f"{where}: {name}={quote(value)} is not {expected}")
    try:
        if settings.get("pattern"):
            compile_pattern(settings["pattern"])
    except ValueError as error:
        given = f"{where}: pattern={quote(settings['pattern'])}"
        raise InvalidOptionError(f"{given} is not a regular expression: {error}") from error
    if settings.get("key") is not None:
        settings.setdefault("order", "by_key")
    _check_order(settings, where)
    return settings


def _check_order(settings: Mapping[str, Any], where: str) -> None:
    """Raise InvalidOptionError for a key or similarity that the order has no use for, or lacks."""
    order, useless = settings.get("order"), None
    if order == "by_key" and not settings.get("key"):
        raise InvalidOptionError(f"{where}: order='by_key' needs the key, such as key='id'")
    if order != "by_key" and settings.get("key") is not None:
        useless = "key"
    elif order == "ordered" and settings.get("min_similarity"):
        useless = "min_similarity"
    if useless:
        raise InvalidOptionError(
            f"{where}: order={order!r} has no use for {useless}={quote(settings[useless])}; "
            "leave one of them out"
        )


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    """Compile a regular expression; raise ValueError where it is none."""
    import regex  # here, as importing it takes long

    try:
        return regex.compile(pattern, regex.VERSION0)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _load_function(name: str, where: str) -> Any:
    """Import the function that `module:function` names; raise InvalidOptionError for no such."""
    module, _, path = name.partition(":")
    given = f"{where}: compare={quote(name)}"
    if not (module and path):
        raise InvalidOptionError(f"{given} is not the name of a function such as 'module:function'")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # importing runs the module
        raise InvalidOptionError(
            f"{given} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise InvalidOptionError(f"{given} is not a function")
    return found


def read_key(key: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the members of a key."""
    return (key,) if isinstance(key, str) else tuple(key or ())


def inherit(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is set for a container and holds for what is in it."""
    return {name: value for name, value in settings.items() if name not in _OF_THE_PLACE}
