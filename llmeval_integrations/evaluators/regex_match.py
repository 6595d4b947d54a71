"""Does the output match a regular expression?"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    RunawayPatternError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice, check_number, wrong
from llmeval_integrations.core.quoting import shown
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text import text_of

Where = Literal["match", "search", "fullmatch"]

_MOST_REPEATED = 250_000  # parts: up to 100 MB in the module `regex`, 200 MB for `[a-c]|[e-g]|...`
_LONGEST_TIMEOUT = 1_000_000  # more ticks than a clock counts are none to the module `regex`

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
    """The most seconds that one text may take, from 0.001 to 1,000,000."""

    def __post_init__(self) -> None:
        if isinstance(self.flags, bool) or not isinstance(self.flags, int) or self.flags < 0:
            raise wrong(self, "flags", "flags of the module re, added up")
        if int(self.flags) & ~sum(_FLAGS.values()):
            raise wrong(self, "flags", "flags of the module re that change what matches")
        check_choice(self, "where", get_args(Where))
        check_number(self, "timeout", minimum=0.001, maximum=_LONGEST_TIMEOUT)
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
            known = re.compile(pattern, flags)  # refuses what only the other module knows
            _refuse_bombs(pattern, flags)
        as_in_re = _as_in_re(pattern, verbose=bool(known.flags & re.VERBOSE))
        # With another branch, which never matches, no text has to stand in every match: `regex`
        # would look for it with a table that takes cubic time, and no time limit holds for that.
        if len(pattern) > 1_000:
            as_in_re = f"(?:{as_in_re}|(?!))"
        return regex.compile(as_in_re, translated | int(regex.VERSION0))
    except (re.error, regex.error, ValueError, RecursionError, OverflowError) as error:
        raise InvalidReferenceError(
            f"{shown(pattern)} is not a regular expression: {error}"
        ) from error


_TOKEN = re.compile(
    r"(?P<escape>\\N\{[^}]*\}|\\.)"
    r"|(?P<comment>\(\?#(?:\\.|[^)\\])*\))"
    r"|(?P<group>\((?:\?(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]*))?:)?)"
    r"|(?P<end>\))"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<brace>\{(?!(?:[0-9]+(?:,[0-9]*)?|,[0-9]*)\}))",
    re.DOTALL,
)
_VERBOSE_TOKEN = re.compile(
    r"(?P<gap>[ \t\n\r\v\f]+|#(?:\\.|[^\n\\])*\n?)|(?P<space>\s)|" + _TOKEN.pattern, re.DOTALL
)
_AT_LEAST = re.compile(r"\{0*([0-9]{1,10})[,}]")  # `re` refuses what has more digits than these
_BRACKET_IN_SET = re.compile(r"(\\.)|\[", re.DOTALL)


def _as_in_re(pattern: str, *, verbose: bool) -> str:
    """Write a pattern that `re` takes so that `regex` reads the same into it.

    `verbose` is what `re` found of the whole pattern; groups may say otherwise.
    """
    parts: list[str] = []
    place = 0
    modes = [verbose]  # outside of groups, then in each that is open
    while found := (_VERBOSE_TOKEN if modes[-1] else _TOKEN).search(pattern, place):
        parts += pattern[place : found.start()], _token_as_in_re(found)
        place = found.end()
        if found["group"]:
            on, off = found["on"] or "", found["off"] or ""
            modes.append("x" in on or (modes[-1] and "x" not in off))
        elif found["end"]:
            modes.pop()
    return "".join(parts) + pattern[place:]


def _token_as_in_re(found: re.Match[str]) -> str:
    kind, token = found.lastgroup, found[0]
    if kind in ("comment", "gap"):
        return "(?#)"  # what ends one differs, and what it separates: r"\1 0"
    if kind == "space":
        return f"\\{token}"  # beyond ASCII it is a character in verbose mode, too
    if kind == "brace":
        return r"\{"  # if it is not a quantifier, fuzzy matching would start there
    if kind == "set":  # and a POSIX class at a bracket in here
        return "[" + _BRACKET_IN_SET.sub(lambda part: part[1] or r"\[", token[1:])
    return token


def _refuse_bombs(pattern: str, flags: int) -> None:
    """Raise for nested repeats that would be written out: `(?:a{9}){9}...` fills any memory."""
    most = len(pattern) << pattern.count("+")
    for least in _AT_LEAST.findall(pattern):
        most = min(most * (int(least) + 1), _MOST_REPEATED + 1)
    if most <= _MOST_REPEATED:  # even if each repeat stood in all the others
        return
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:  # before Python 3.11
        import sre_parse as _parser
    if _repeated(_parser.parse(pattern, flags)) > _MOST_REPEATED:
        raise ValueError(f"its repeats, written out, have more than {_MOST_REPEATED} parts")


def _repeated(parsed: Any) -> int:
    """Count the parts that `regex` adds to a pattern that was parsed by writing its repeats out.

    What has to come n times stands there n + 1 times, what may be left out once. What a set
    lists takes less room than other parts: two entries are one.
    """
    added = 0
    waiting = [(1, parsed)]  # how often each is written
    while waiting:
        copies, part = waiting.pop()
        if not isinstance(part, (type(parsed), list, tuple)):
            continue
        added += copies - 1
        kind = getattr(part[0], "name", "") if isinstance(part, tuple) else ""
        if kind == "IN":
            added += (copies - 1) * (len(part[1]) // 2)
            continue
        if kind.endswith("_REPEAT"):
            least, most, part = part[1]
            copies *= least + 1 if least and most > 1 else 1
        waiting.extend((copies, inner) for inner in part)
    return added
