"""Does the output match a regular expression?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import regex

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

Where = Literal["match", "search", "fullmatch"]

# The two modules give their flags different numbers.
_FLAGS = {
    getattr(re, name): getattr(regex, name)
    for name in ("ASCII", "IGNORECASE", "LOCALE", "MULTILINE", "DOTALL", "UNICODE", "VERBOSE")
}


@dataclass(frozen=True)
class RegexMatch(Evaluator):
    """Does the output match a regular expression?

    Score 1 or 0. The pattern is the option's, else each sample's reference. A pattern that has
    found no answer after `timeout` seconds raises RunawayPatternError: the output is then neither
    right nor wrong.
    """

    pattern: str | None = None
    """The regular expression, in the syntax of `re`; None takes each sample's reference."""

    flags: int = 0
    """Flags of `re`, such as `re.IGNORECASE`, added up."""

    where: Where = "match"
    """At the beginning (`match`), anywhere (`search`), or the whole text (`fullmatch`)."""

    timeout: float = 1.0
    """The most seconds that one text may take."""

    def __post_init__(self) -> None:
        if isinstance(self.flags, bool) or not isinstance(self.flags, int) or self.flags < 0:
            raise wrong(self, "flags", "flags of the module re, added up")
        if int(self.flags) & ~sum(int(flag) for flag in _FLAGS):
            raise wrong(self, "flags", "flags of the module re that change what matches")
        check_choice(self, "where", get_args(Where))
        check_number(self, "timeout", minimum=0.001)
        if self.pattern is not None:
            if not isinstance(self.pattern, str):
                raise wrong(self, "pattern", "a regular expression as text, or None")
            try:
                _compile(self.pattern, int(self.flags))
            except (regex.error, ValueError) as error:
                raise InvalidOptionError(f"{self.name}: pattern={self.pattern!r}: {error}") from error

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The reference is needed where there is no pattern of our own."""
        return ("reference",) if self.pattern is None else ()

    def check(self, sample: Sample) -> Result:
        pattern = self.pattern
        if pattern is None:
            pattern = sample.require("reference", self.name)
        text = text_of(sample.output)
        try:
            found = getattr(_compile(pattern, int(self.flags)), self.where)(
                text, timeout=self.timeout
            )
        except TimeoutError:
            raise RunawayPatternError(
                f"{self.name}: the pattern {pattern!r:.200} gives no answer within "
                f"{self.timeout:g} s for a text of {len(text)} characters"
            ) from None
        except (regex.error, ValueError, TypeError) as error:
            raise InvalidReferenceError(
                f"{self.name}: {pattern!r:.200} is not a regular expression: {error}"
            ) from error
        if found:
            return Result(1, True)
        return Result(0, False, None, f"Does not match {pattern!r:.200}")


@lru_cache(maxsize=256)
def _compile(pattern: str, flags: int) -> Any:
    translated = sum(int(theirs) for ours, theirs in _FLAGS.items() if flags & int(ours))
    return regex.compile(pattern, translated | int(regex.VERSION0))
