"""How the values of one field are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quoting import quote

Order = Literal["ordered", "aligned", "any_order", "by_key"]
Format = Literal["date", "date-time", "duration", "email", "time", "uri", "uuid"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)

_MOST_WEIGHT: Final = 1e100
"""So little that no sum of weights is infinite."""


class Rule(msgspec.Struct, frozen=True):
    """How the values of one field are compared; what an override may set."""

    ignore: bool = False
    """Whether the field, with all below it, is left out."""

    derived: bool = False
    """Whether the value is worked out of others. JsonGrounded does not look for it; JsonFields
    compares it as any other."""

    weight: float = 1.0
    """What the field counts in the score of the sample, at most 1e100."""

    tolerance: float = 0.0
    """By how much a number may be off."""

    relative_tolerance: float | None = None
    """By which share of the reference a number may be off. None allows a fraction 1e-9, the noise
    of doubles, where the schema says "number", and nothing elsewhere."""

    multiple_of: float | None = None
    """The grid on which numbers lie: those that round to the same point of it are the same."""

    similarity: float | None = None
    """The similarity of texts, from 0 to 1, from which on they match: 1 less their Levenshtein
    distance by the longer one's length. None wants the same text."""

    ignore_case: bool = False
    """Whether upper and lower case are the same."""

    ignore_whitespace: bool = False
    """Whether any white space is one space, and none at the ends."""

    normalize_unicode: bool = False
    """Whether texts that look the same are (NFKC)."""

    text: Literal["loose"] | None = None
    """`loose` is the three settings above at once; quotes and dashes of all forms are the same,
    too."""

    format: Format | tuple[Format, ...] | None = None
    """What a text stands for, and is compared as; of several the first one whose form it has."""

    coerce: bool = False
    """Whether `"3"` is `3`, and `"true"` is `true`; with a tolerance or grid two texts that are
    numbers are compared as these."""

    dates: Literal["any"] | None = None
    """`any` reads texts as dates in figures and in English, German, French or Spanish words;
    midnight is its day. Two texts are the same where one of their readings is; 05/01/2024 has
    none."""

    number: Literal["any"] | None = None
    """`any` reads texts as numbers, with grouped digits, a currency or per cent. Two currencies are
    not the same, and one is the same as none."""

    pattern: str | None = None
    """A regular expression. An output that all of it matches is right whatever the reference; one
    that it does not match is compared as without it."""

    compare: Callable[[Any, Any], Any] | None = None
    """A function of output and reference, or `module:function`, the name by which it is imported.
    It gives True, False or a score from 0 to 1, which matches at 1 or at `similarity`. It is given
    objects and arrays as they are, and asked of what is not equal as JSON."""

    order: Order = "aligned"
    """How an array's items are paired: `ordered` by position; `aligned` in their order, where items
    may be left out or put between; `any_order` as well as they can be; `by_key` by their `key`."""

    key: str | list[str] | None = None
    """The member, or the members, that tell the items of an array apart; setting it sets
    `order`."""

    min_similarity: float | None = None
    """The share of leaves, 2 M / (O + R), below which two items of an array are no pair."""

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

_FLAGS: Final = (
    *("ignore", "derived", "ignore_case", "ignore_whitespace"),
    *("normalize_unicode", "coerce"),
)
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "order": get_args(Order),
    "format": FORMATS,
    "text": ("loose",),
    "dates": ("any",),
    "number": ("any",),
}
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
        expected = _describe_valid(name, value)
        if expected:
            raise InvalidOptionError(f"{where}: {name}={quote(value)} is not {expected}")
    if settings.get("key") is not None:
        settings.setdefault("order", "by_key")
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
    return settings


def _describe_valid(name: str, value: Any) -> str | None:
    """Say what a setting should be, None where it is that."""
    if name in _FLAGS:
        return None if isinstance(value, bool) else "True or False"
    if value is None and name not in ("weight", "tolerance", "order"):
        return None
    if name in _CHOICES:
        choices = _CHOICES[name]
        names = f"one of {', '.join(choices)}" if len(choices) > 1 else repr(choices[0])
        return None if value in choices else names + (", or None" if name != "order" else "")
    if name == "compare":
        return None if callable(value) else "a function, 'module:function', or None"
    if name == "key":
        several = value if isinstance(value, (list, tuple)) else [value]
        are_names = several and all(isinstance(each, str) and each for each in several)
        return None if are_names else "the name of a member, a list of such, or None"
    if name == "pattern":
        if not isinstance(value, str):
            return "a regular expression as text, or None"
        try:
            compile_pattern(value)
        except ValueError as error:
            return f"a regular expression: {error}"
        return None
    if not is_number(value) or value < 0:
        return "a finite number of at least 0"
    if name == "weight" and value > _MOST_WEIGHT:
        return f"a number from 0 to {_MOST_WEIGHT:g}"
    if name in ("similarity", "min_similarity") and value > 1:
        return "a number from 0 to 1, or None"
    return "a number above 0, or None" if name == "multiple_of" and value == 0 else None


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    """Compile a regular expression; raise ValueError where it is none."""
    import regex  # here, as importing it takes long

    try:
        return regex.compile(pattern, regex.VERSION0)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _load_function(name: str, where: str) -> Callable[[Any, Any], Any]:
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
    return found  # type: ignore[no-any-return]


def read_key(key: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the members of a key."""
    return (key,) if isinstance(key, str) else tuple(key or ())


def inherit(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is set for a container and holds for what is in it."""
    return {name: value for name, value in settings.items() if name not in _OF_THE_PLACE}
