"""Does the output match a regular expression?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from msgspec import Meta

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    RegexTimeoutError,
)
from llmeval_integrations.core.limits import MAX_REGEX_CHARACTERS, MAX_REGEX_COPIES, REGEX_TIMEOUT
from llmeval_integrations.core.options import option_error
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import TextEvaluator

Where = Literal["match", "search", "fullmatch"]

_LONGEST_TIMEOUT = 1_000_000  # for `regex`, more clock ticks than it can count are no limit

# The modules `re` and `regex` have different numbers for the same flags.
_FLAGS = {
    name: int(getattr(re, name))
    for name in ("ASCII", "IGNORECASE", "MULTILINE", "DOTALL", "UNICODE", "VERBOSE")
}


@dataclass(frozen=True)
class RegexMatch(TextEvaluator):
    """Does the output match a regular expression?

    Score: 1.0 or 0.0. If matching takes longer than `timeout`, RegexTimeoutError is raised, as the
    output is then neither right nor wrong.
    """

    pattern: str | None = None
    """The regular expression, in the syntax of the package `regex`, which extends that of `re`.
    With None, the pattern is each sample's reference, of at most 1,000 characters."""

    flags: int = 0
    """Flags of `re`, such as `re.IGNORECASE | re.MULTILINE`."""

    where: Where = "match"
    """Where to match: at the beginning (`match`), anywhere (`search`), or the whole text
    (`fullmatch`)."""

    timeout: Annotated[float, Meta(ge=0.001, le=_LONGEST_TIMEOUT)] = REGEX_TIMEOUT
    """The most seconds for one text, from 0.001 to 1,000,000. The package `regex` counts the
    processor time of the process: less than the clock shows on a busy machine, but that of other
    threads, too."""

    def __post_init__(self) -> None:
        if isinstance(self.flags, bool) or not isinstance(self.flags, int) or self.flags < 0:
            raise option_error(self, "flags", "flags of the module re, such as re.IGNORECASE")
        if int(self.flags) & ~sum(_FLAGS.values()):
            raise option_error(self, "flags", "flags of the module re that change what matches")
        super().__post_init__()
        if self.pattern is not None:
            if not isinstance(self.pattern, str):
                raise option_error(self, "pattern", "a regular expression as text, or None")
            try:
                _compile(self.pattern, int(self.flags))
            except InvalidReferenceError as error:
                raise InvalidOptionError(
                    f"{self.name}: pattern={quote(self.pattern)}: {error}"
                ) from error

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The reference is needed if the option `pattern` is not set."""
        return ("reference",) if self.pattern is None else ()

    def check_text(self, text: str, sample: Sample) -> Result:
        pattern = self.pattern
        if pattern is None:
            pattern = sample.require("reference", self.name)
            if not isinstance(pattern, str):
                raise InvalidReferenceError(
                    f"{self.name}: {quote(pattern)} is not a regular expression as text"
                )
            if len(pattern) > MAX_REGEX_CHARACTERS:
                raise InvalidReferenceError(
                    f"{self.name}: {quote(pattern)} has {len(pattern)} characters; a reference's "
                    f"pattern has at most {MAX_REGEX_CHARACTERS}"
                )
        look = getattr(_compile(pattern, int(self.flags)), self.where)
        try:
            found = look(text, timeout=self.timeout)
        except TimeoutError:
            raise RegexTimeoutError(
                f"{self.name}: the pattern {quote(pattern)} gives no answer within "
                f"{self.timeout:g} s for a text of {len(text)} characters"
            ) from None
        if found:
            return Result(1.0, True)
        return Result(0.0, False, None, f"Does not match {quote(pattern)}")


@lru_cache(maxsize=256)
def _compile(pattern: str, flags: int) -> Any:
    """Compile with the package `regex`, whose matching accepts a time limit."""
    import regex

    translated = sum(int(getattr(regex, name)) for name, flag in _FLAGS.items() if flags & flag)
    # `regex` makes a table for a text that every match contains, in cubic time and without a time
    # limit: 9 s for 3,000 characters. With a branch that never matches, there is no such text.
    source = f"(?!)|{pattern}" if len(pattern) > MAX_REGEX_CHARACTERS else pattern
    if _count_copies(pattern) > MAX_REGEX_COPIES:
        raise InvalidReferenceError(
            f"{quote(pattern)} is too large to compile: its repeats, written out, have more than "
            f"{MAX_REGEX_COPIES} parts"
        )
    try:
        return regex.compile(source, translated | int(regex.VERSION0))
    except (regex.error, ValueError, RecursionError, OverflowError) as error:
        raise InvalidReferenceError(
            f"{quote(pattern)} is not a regular expression: {error}"
        ) from error


_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_REPEAT = re.compile(r"\+|\{0*([0-9]{1,9})(?:,[0-9]*)?\}")


def _count_copies(pattern: str) -> int:
    """Estimate from above how many parts `regex` compiles; `a{n}` becomes n + 1 parts.

    `(?:a{9000}){9000}` has 17 characters, but its parts would fill the memory.
    """
    groups, last, place = [0], 0, 0  # the parts of each open group, and of the last item
    while place < len(pattern):
        if repeat := _REPEAT.match(pattern, place):
            copies = int(repeat[1] or 1) + 1
            groups[-1] += last * (copies - 1)
            last *= copies
            place = repeat.end()
            continue
        token = _TOKEN.match(pattern, place)
        text = token[0] if token else pattern[place]
        place += len(text)
        if text == "(":
            groups.append(0)
            continue
        size = max(len(text) // 6, 1)  # two ranges of a set take as much memory as one character
        last = groups.pop() if text == ")" and len(groups) > 1 else size
        groups[-1] += last
    return sum(groups)
