"""Which answers a judge may give, and how a text states one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from llmeval_integrations.judges.replies.objects import Members

REASONS: Final = (
    "reasoning", "reason", "reasons", "rationale", "explanation", "analysis", "justification",
    "feedback", "critique", "comment", "comments", "thoughts",
)  # fmt: skip
"""What judges call their reasons."""

VERDICT_NAMES: Final = (
    "judgement", "judgment", "decision", "result", "rating", "evaluation", "answer", "label",
    "outcome", "conclusion", "grade", "assessment", "score", "choice", "overall", "correction",
    "corrected", "corrected verdict", "pass fail", "pass or fail", "final", "status",
    "urteil", "ergebnis", "veredicto", "veredito", "verdetto", "вердикт",
    "结论", "最终结论", "判定", "裁定", "결론", "판정",
)  # fmt: skip
"""What judges call their verdict where they do not call it by its name."""

_GAP: Final = (
    r"(?P<gap>(?:\W{0,3}(?:is|was|as)\b)?(?:\\[ntr]|\\text|\\boxed|</?[a-z]{1,6}>|[\W_]){1,24}?"
    r"(?:(?:value|text)\W{1,6})?)"
)
_FIELD_END: Final = re.compile(
    r"""["“”»」]|['’](?!\w)|[<}]|\\n|[,;.]\s*["'*]*[^\W\d]\w*(?: \w+)?["'*]*\s*[:=]"""
)
_CONCLUSION: Final = (
    r"\b(?:it|this|response|text|so|therefore|thus|hence|final|verdict|decision|judg\w+|i)\b"
    r"\W*(?:should |must |be |is |does |will |marked |as )*"
)
_EXPLAINED: Final = re.compile(
    r"[\W_]*(?:(?:because|since|as|due|with\b[^.]{0,20}\bconfidence)\b|[^\w\s]\W*(?=\w))"
)
_HEDGE: Final = re.compile(
    r"\b(?:if|but|or|part(?:ly|ial\w*)|mostly|almost|barely|border\w*|only|provided|unless"
    r"|condition\w*|reserv\w*|placeholder)\b|\b(?:example|claim(?:s|ed)|own verdict)\W*\Z"
    r"|\A\W*(?:not?|never|none)\W*\Z",
    re.IGNORECASE,
)
_SHARE: Final = re.compile(r"\s*(?:/|out of)\s*(\d+(?:\.\d+)?)(?![\w.]?\d)", re.IGNORECASE)


class Statement(NamedTuple):
    """One place where a reply states an answer."""

    value: Any  # None where it is not clear
    source: str
    start: int
    end: int
    members: Members | None = None
    """The object that states it; None where the text does."""
    marked: bool = False
    """Whether the object carries the mark that was asked for."""


@dataclass(frozen=True)
class Vocabulary:
    """What an answer is called, and the words or the numbers that may stand under that name.

    Each word, in small letters, comes with what it stands for; `scale` is the lowest and the
    highest number. Another word behind a `decisive` one takes it back: "fail" does, "3" does not.
    """

    name: str
    words: tuple[tuple[str, Any], ...] = ()
    scale: tuple[float, float] | None = None
    aliases: tuple[str, ...] = ()
    decisive: bool = False

    @cached_property
    def names(self) -> frozenset[str]:
        """What the answer may be called."""
        return frozenset((self.name, *self.aliases))

    @cached_property
    def _values(self) -> dict[str, Any]:
        return dict(self.words)

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        """The regular expressions of its names and words."""
        word = r"[-+]?\d+(?:\.\d+)?" if self.scale else _alternation(self._values)
        end = r"(?![^\W_])(?!-\w|\.\d)"
        stated = rf"s?{_GAP}(?P<word>{word}){end}(?P<rest>[^\n]{{0,160}})"
        patterns = {
            "name": rf"(?<![^\W_])(?:{_alternation((self.name,))}){stated}",
            "alias": rf"(?<![^\W_])(?:{_alternation(self.aliases)}){stated}",
            "word": rf"(?<![^\W_])(?:{word})(?![^\W_])",
            "beginning": rf"[\W_]*?(?P<word>{word}){end}",
            "conclusion": rf"{_CONCLUSION}(?P<no>not? )?(?:an? )?(?P<word>{word})(?:ure)?\W*\Z",
            "choice": rf"[(\[]\s*(?:{word})(?:\s*(?:/|\||,|or)\s*(?:{word}))+\s*[)\]]",
            "bare": rf"^(?!>)[^\w\n~]{{0,8}}(?P<a>{word})[^\w\n/|?,]{{0,8}}$"
            rf"|\\boxed\{{(?:\\text\{{)?(?P<b>{word})\}}|\[\[(?P<c>{word})\]\]"
            rf"|\[RESULT\]\W*(?P<d>{word})(?!\w)|\A\W{{0,4}}(?P<e>{word})\s*[.:—–-](?=\s)",
        }
        flags = re.IGNORECASE | re.MULTILINE
        return {name: re.compile(pattern, flags) for name, pattern in patterns.items()}

    @cached_property
    def _highest(self) -> float | None:
        """The highest of the numbers, if all answers are."""
        if self.scale:
            return self.scale[1]
        try:
            return max(map(float, self._values))
        except ValueError:
            return None

    def value_of(self, word: str) -> Any:
        """Return what a word stands for; None for a number beyond the scale."""
        if self.scale:
            number = float(word)
            return number if self.scale[0] <= number <= self.scale[1] else None
        return self._values.get(word.casefold())

    def concludes_otherwise(self, text: str, value: Any) -> bool:
        """Whether a text ends with a word for another answer, as "so it fails", or denies this."""
        found = self._patterns["conclusion"].search(text) if self.decisive else None
        return found is not None and (self.value_of(found["word"]) == value) is bool(found["no"])

    def mentions_other(self, text: str, value: Any) -> bool:
        """Whether a text has a word for another answer."""
        found = () if self.scale else self._patterns["word"].finditer(text)
        return any(self.value_of(each[0]) != value for each in found)

    def read(self, value: Any) -> Any:
        """Return what a JSON value states; None where that is not clear."""
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict) and len(value) == 1 and value.keys() <= {"value", "text"}:
            value = next(iter(value.values()))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = f"{value:g}"
        if not isinstance(value, str):
            return None
        text = unicodedata.normalize("NFKC", value).strip()
        whole = text.strip(" \t\r\n\"'`*.").casefold()
        if whole in self._values:
            return self._values[whole]
        found = self._patterns["beginning"].match(text)
        if not found:
            return None
        return self._interpret(found["word"], text[: found.start("word")], text[found.end() :])

    def flags(self, members: Mapping[str, Any]) -> list[tuple[Any, str]]:
        """List what members such as `passed: true` state, each with its source."""
        values = [*dict.fromkeys(self._values.values())]
        found = []
        for name, value in members.items() if len(values) == 2 else ():
            named = self._values.get(re.sub(r"^(?:is|has|did) ", "", name))
            said = str(value).casefold()
            if named is not None and said in ("true", "false", "yes", "no"):
                is_true = said in ("true", "yes")
                stated = next(each for each in values if (each == named) is is_true)
                found.append((stated, f"{name} {said}"))
        return found

    def statements(self, text: str, *, by_alias: bool = False) -> Iterator[Statement]:
        """Yield what a text states as `name: word`, whatever marks stand around."""
        text = self._patterns["choice"].sub(lambda found: " " * len(found[0]), text)
        for found in self._patterns["alias" if by_alias else "name"].finditer(text):
            gap, rest, end = found["gap"], found["rest"], found.start("rest")
            if end == len(text) and gap[-1:] in "\"'":
                continue  # it is cut within the word, perhaps
            if not gap.strip(" ") and "\n" not in gap:
                continue  # "the verdict Pass" is a word about verdicts
            field = _FIELD_END.split(rest, maxsplit=1)[0]
            field = field.split("|")[0] if "|" in gap else field
            value = self._interpret(found["word"], gap, field)
            yield Statement(value, text[found.start() : end], found.start(), end)

    def bare_words(self, text: str) -> Iterator[Statement]:
        """Yield words that stand alone: on a line, in a box, in brackets, before all else."""
        for found in self._patterns["bare"].finditer(text):
            word = next(filter(None, found.groups()))
            yield Statement(self.value_of(word), found[0], found.start(), found.end())

    def _interpret(self, word: str, before: str, behind: str) -> Any:
        """Return what a word states between these texts; None where they make it doubtful."""
        value = self.value_of(word)
        again = self._patterns["beginning"].match(behind)  # ✅ Pass
        if again and self.value_of(again["word"]) == value and not self.scale:
            behind = behind[again.end() :]
        if self._highest is not None and (share := _SHARE.match(behind)):
            if float(share[1]) != self._highest:
                return None
            behind = behind[share.end() :]
        near = behind if self.decisive else behind[:8]  # further on it may be part of the reasons
        if self.mentions_other(before + "\n" + near, value) or "~~" in before or "[ ]" in before:
            return None
        if not re.search(r"[^\W_]", behind):
            return None if re.search(r"[?/|]|\.\.|…|->", behind) else value
        return value if _EXPLAINED.match(behind) and not _HEDGE.search(behind) else None


def _alternation(words: Mapping[str, Any] | tuple[str, ...]) -> str:
    """Return a pattern of any of these words; of none, a pattern that never matches."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or "(?!)"
