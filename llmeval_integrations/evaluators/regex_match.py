"""Does the output match a regular expression?"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from llmeval_integrations.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    RunawayPatternError,
)
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.evaluators.text import text_of
from llmeval_integrations.options import check_choice, check_number, wrong
from llmeval_integrations.result import Result
from llmeval_integrations.sample import Sample
from llmeval_integrations.wording import shown

Where = Literal["match", "search", "fullmatch"]

_LONGEST_MATCH = 100_000

# The two modules give their flags different numbers.
_FLAGS = {
    name: int(getattr(re, name))
    for name in ("ASCII", "IGNORECASE", "MULTILINE", "DOTALL", "UNICODE", "VERBOSE")
}


@dataclass(frozen=True)
class RegexMatch(Evaluator):
    """Does the output match a regular expression?

    Score 1 or 0. The pattern is the option's, else each sample's reference. A pattern that has
    found no answer after `timeout` seconds raises RunawayPatternError: the output is then neither
    right nor wrong.
    """

    pattern: str | None = None
    """The regular expression, in the syntax of `re`; None takes each sample's reference. What is
    a letter, a digit or a space beyond ASCII is the package `regex`'s view."""

    flags: int = 0
    """Flags of `re`, such as `re.IGNORECASE`, added up."""

    where: Where = "match"
    """At the beginning (`match`), anywhere (`search`), or the whole text (`fullmatch`)."""

    timeout: float = 1.0
    """The most seconds that one text may take."""

    def __post_init__(self) -> None:
        if isinstance(self.flags, bool) or not isinstance(self.flags, int) or self.flags < 0:
            raise wrong(self, "flags", "flags of the module re, added up")
        if int(self.flags) & ~sum(_FLAGS.values()):
            raise wrong(self, "flags", "flags of the module re that change what matches")
        check_choice(self, "where", get_args(Where))
        check_number(self, "timeout", minimum=0.001)
        if self.pattern is not None:
            if not isinstance(self.pattern, str):
                raise wrong(self, "pattern", "a regular expression as text, or None")
            try:
                _compile(self.pattern, int(self.flags))
            except InvalidReferenceError as error:
                raise InvalidOptionError(
                    f"{self.name}: pattern={shown(self.pattern)}: {error}"
                ) from error

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The reference is needed where there is no pattern of our own."""
        return ("reference",) if self.pattern is None else ()

    def check(self, sample: Sample) -> Result:
        pattern = self.pattern
        if pattern is None:
            pattern = sample.require("reference", self.name)
            if not isinstance(pattern, str):
                raise InvalidReferenceError(
                    f"{self.name}: {shown(pattern)} is not a regular expression's text"
                )
        text = text_of(sample.output)
        look = getattr(_compile(pattern, int(self.flags)), self.where)
        try:
            found = look(text, timeout=self.timeout)
        except TimeoutError:
            raise RunawayPatternError(
                f"{self.name}: the pattern {shown(pattern)} gives no answer within "
                f"{self.timeout:g} s for a text of {len(text)} characters"
            ) from None
        if found:
            return Result(1, True)
        return Result(0, False, None, f"Does not match {shown(pattern)}")


@lru_cache(maxsize=256)
def _compile(pattern: str, flags: int) -> Any:
    """Compile with the module `regex`, which is `re` with a time limit."""
    import regex

    translated = sum(int(getattr(regex, name)) for name, flag in _FLAGS.items() if flags & flag)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern, flags)  # refuses what only the other module knows
            _refuse_bombs(pattern, flags)
        return regex.compile(_as_in_re(pattern), translated | int(regex.VERSION0))
    except (re.error, regex.error, ValueError, RecursionError, OverflowError) as error:
        raise InvalidReferenceError(
            f"{shown(pattern)} is not a regular expression: {error}"
        ) from error


# A brace that is no quantifier would start fuzzy matching there, a bracket in a set a POSIX class.
_OTHER_MEANING = re.compile(
    r"(\\N\{[^}]*\}|\\.)"
    r"|(\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|\{(?!(?:[0-9]+,?[0-9]*|,[0-9]*)\})",
    re.DOTALL,
)
_BRACKET_IN_SET = re.compile(r"(\\.)|\[", re.DOTALL)


def _as_in_re(pattern: str) -> str:
    """Escape what `re` takes as a character and `regex` does not."""

    def escaped(found: re.Match[str]) -> str:
        if found[2]:
            inside = _BRACKET_IN_SET.sub(lambda part: part[1] or r"\[", found[2][1:])
            return f"[{inside}"
        return found[1] or r"\{"

    return _OTHER_MEANING.sub(escaped, pattern)


def _refuse_bombs(pattern: str, flags: int) -> None:
    """Raise for nested repeats that would be written out: `(?:a{9}){9}...` fills any memory."""
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:  # before Python 3.11
        import sre_parse as _parser
    if _parser.parse(pattern, flags).getwidth()[0] > _LONGEST_MATCH:
        raise ValueError(f"it matches nothing shorter than {_LONGEST_MATCH} characters")
