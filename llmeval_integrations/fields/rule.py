"""Rules: how the values of one field are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from types import SimpleNamespace
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta

from llmeval_integrations.core.errors import InvalidOptionError, RegexTimeoutError
from llmeval_integrations.core.limits import REGEX_TIMEOUT
from llmeval_integrations.core.options import (
    ZeroToOne,
    check_callable,
    check_choice,
    check_text,
    option_error,
    read_rules,
)
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.json_values.values import TYPES, canonical
from llmeval_integrations.matching.node import Verdict

Format = Literal["date", "date-time", "duration", "email", "time", "uri", "uuid"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)


class Rule(msgspec.Struct, frozen=True):
    """The settings by which the values of one field are compared.

    The page "Field rules" of the reference explains each setting.
    """

    ignore: bool = False
    derived: bool = False  # computed from other fields, so JsonGrounded does not look for it
    weight: Annotated[float, Meta(ge=0, le=1e100)] = 1.0  # so that no sum is infinite
    tolerance: Annotated[float, Meta(ge=0)] = 0.0
    relative_tolerance: Annotated[float, Meta(ge=0)] | None = None  # None: see `is_number`
    multiple_of: Annotated[float, Meta(ge=1e-300)] | None = None
    similarity: ZeroToOne | None = None
    ignore_case: bool = False
    ignore_whitespace: bool = False
    normalize_unicode: bool = False
    text: Literal["loose"] | None = None
    format: Format | tuple[Format, ...] | None = None  # of several, a text has the first that fits
    coerce: bool = False
    dates: Literal["any"] | None = None
    number: Literal["any"] | None = None
    pattern: str | None = None
    compare: Callable[[Any, Any], Any] | None = None
    order: Literal["ordered", "aligned", "any_order", "by_key"] = "aligned"
    key: str | list[str] | None = None
    min_similarity: ZeroToOne | None = None

    # Users cannot set the following: the schema or the evaluator does.

    is_number: bool = False
    """Whether the schema's type is "number". Values may have the rounding errors of doubles."""

    is_decimal: bool = False
    """Whether the schema allows a number or its text, as Pydantic's schema of a Decimal does. Two
    such texts are compared exactly, as they have no rounding errors of doubles."""

    types: frozenset[str] | None = None
    """The JSON types that the schema allows; None for any."""

    judge: bool = False
    """Whether a judge decides if two values match."""

    values_only: bool = False
    """Whether `compare` comes from the defaults: then it gets no objects and arrays."""

    @property
    def is_whole(self) -> bool:
        """Whether an object or array is compared as a whole, as one leaf."""
        return self.judge or (self.compare is not None and not self.values_only)

    @property
    def is_exact(self) -> bool:
        """Whether no setting compares values otherwise than as JSON."""
        return msgspec.structs.replace(self, **_NOT_COMPARING) == _PLAIN


_PLAIN: Final = Rule()
_NOT_COMPARING: Final = {
    name: getattr(_PLAIN, name)
    for name in ("derived", "weight", "order", "key", "min_similarity", "types")
}

SETTINGS: Final = tuple(Rule.__struct_fields__[: Rule.__struct_fields__.index("is_number")])
"""The settings that users may give."""

_DEFAULTS: Final = {name: getattr(_PLAIN, name) for name in SETTINGS}


def check_settings(given: Any, where: str) -> dict[str, Any]:
    """Return settings that are checked; raise InvalidOptionError for a wrong name or value."""
    if not isinstance(given, Mapping):
        raise InvalidOptionError(f"{where}: {quote(given)} is not a mapping of settings")
    settings = dict(given)
    if isinstance(settings.get("compare"), str):
        settings["compare"] = _load_function(settings["compare"], where)
    for name in settings:
        if name not in SETTINGS:
            raise InvalidOptionError(
                f"{where}: {quote(name)} is not a setting; {hint(name, SETTINGS)}"
            )
    settings = _check_values(settings, where)
    try:
        if settings.get("pattern"):
            compile_pattern(settings["pattern"])
    except ValueError as error:
        raise InvalidOptionError(
            f"{where}: pattern={quote(settings['pattern'])} is not a regular expression: {error}"
        ) from error
    if settings.get("key") is not None:
        settings.setdefault("order", "by_key")
    _check_order(settings, where)
    return settings


def _check_values(settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Check the values of settings as those of an evaluator's options."""
    given = SimpleNamespace(**{**_DEFAULTS, **settings}, name=where)
    choices, checks = read_rules(Rule)
    for name in choices.keys() & settings.keys():
        check_choice(given, name, [value for _, value in choices[name]])
    for check in checks:
        check(given)
    check_choice(given, "format", (*FORMATS, None))
    check_text(given, "pattern", optional=True)
    check_callable(given, "compare")
    names = given.key if isinstance(given.key, (list, tuple)) else [given.key]
    if given.key is not None and not (names and all(type(name) is str and name for name in names)):
        raise option_error(given, "key", "the name of a member, a list of names, or None")
    return {name: getattr(given, name) for name in settings}


def _check_order(settings: Mapping[str, Any], where: str) -> None:
    """Raise InvalidOptionError for a missing key, or a key or similarity that has no effect."""
    order = settings.get("order")
    if order == "by_key" and not settings.get("key"):
        raise InvalidOptionError(f"{where}: order='by_key' needs the key, such as key='id'")
    for name, is_useless in (("key", order != "by_key"), ("min_similarity", order == "ordered")):
        if is_useless and settings.get(name):
            raise InvalidOptionError(
                f"{where}: {name}={quote(settings[name])} has no effect with order={order!r}; "
                "leave one of them out"
            )


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    """Compile a regular expression; raise ValueError if it is not valid."""
    import regex  # here, as importing it takes long

    try:
        return regex.compile(pattern, regex.VERSION0)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _load_function(name: str, where: str) -> Any:
    """Import the function named `module:function`; raise InvalidOptionError if it is not there."""
    given = f"{where}: compare={quote(name)}"
    module, colon, path = name.partition(":")
    if not colon:
        raise InvalidOptionError(f"{given} is not the name of a function such as 'module:function'")
    try:
        return attrgetter(path)(import_module(module))
    except Exception as error:  # importing runs the module
        raise InvalidOptionError(
            f"{given} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def read_key(key: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of a key's members."""
    return (key,) if isinstance(key, str) else tuple(key or ())


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
    """Compare two leaves by the caller's function.

    What it returns is the share of the value that is right, and counts even if it is too small for
    a match. A function that means nothing by it returns 0.
    """
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
