"""Which answers a judge may give, and how a text states one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

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
_NEAR: Final = 8
"""How near another label makes one doubtful; further on it may be part of the reasons."""


class Statement(NamedTuple):
    """One place where a text states an answer."""

    value: Any  # None where it is not clear
    source: str
    start: int
    end: int


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
    def values(self) -> dict[str, Any]:
        """What each word stands for."""
        return dict(self.words)

    @cached_property
    def _word(self) -> str:
        if self.scale:
            return r"[-+]?\d+(?:\.\d+)?"
        return "|".join(re.escape(word) for word in sorted(self.values, key=len, reverse=True))

    @cached_property
    def _top(self) -> float | None:
        """The highest of the numbers, if all answers are."""
        if self.scale:
            return self.scale[1]
        try:
            return max(float(word) for word in self.values)
        except ValueError:
            return None

    @cached_property
    def _leading(self) -> re.Pattern[str]:
        return re.compile(rf"[\W_]*?(?P<word>{self._word})(?![^\W_])(?!-\w|\.\d)", re.IGNORECASE)

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![^\W_])(?:{self._word})(?![^\W_])", re.IGNORECASE)

    @cached_property
    def _statement(self) -> dict[bool, re.Pattern[str]]:
        found = {}
        for by_alias, names in ((False, (self.name,)), (True, self.aliases)):
            name = "|".join(re.escape(each) for each in sorted(names, key=len, reverse=True))
            found[by_alias] = re.compile(
                rf"(?<![^\W_])(?:{name or '(?!)'})s?{_GAP}(?P<word>{self._word})"
                rf"(?![^\W_])(?!-\w|\.\d)(?P<rest>[^\n]{{0,160}})",
                re.IGNORECASE,
            )
        return found

    @cached_property
    def _choice(self) -> re.Pattern[str]:
        word = self._word
        return re.compile(
            rf"[(\[]\s*(?:{word})(?:\s*(?:/|\||,|or)\s*(?:{word}))+\s*[)\]]", re.IGNORECASE
        )

    @cached_property
    def _lone(self) -> re.Pattern[str]:
        word = self._word
        return re.compile(
            rf"^(?!>)[^\w\n~]{{0,8}}(?P<a>{word})[^\w\n/|?,]{{0,8}}$"
            rf"|\\boxed\{{(?:\\text\{{)?(?P<b>{word})\}}|\[\[(?P<c>{word})\]\]"
            rf"|\[RESULT\]\W*(?P<d>{word})(?!\w)|\A\W{{0,4}}(?P<e>{word})\s*[.:—–-](?=\s)",
            re.IGNORECASE | re.MULTILINE,
        )

    def meaning(self, word: str) -> Any:
        """Return what a word stands for; None for a number beyond the scale."""
        if self.scale:
            number = float(word)
            return number if self.scale[0] <= number <= self.scale[1] else None
        return self.values.get(word.casefold())

    def others(self, value: Any) -> str:
        """Return a pattern of the words that stand for another answer."""
        return "|".join(re.escape(word) for word, each in self.words if each != value)

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
        if whole in self.values:
            return self.values[whole]
        found = self._leading.match(text)
        if not found:
            return None
        return self._clear(found["word"], text[: found.start("word")], text[found.end() :])

    def statements(self, text: str, *, by_alias: bool = False) -> Iterator[Statement]:
        """Yield what a text states as `name: word`, whatever marks stand around."""
        text = self._choice.sub(lambda found: " " * len(found[0]), text)
        for found in self._statement[by_alias].finditer(text):
            gap, rest, end = found["gap"], found["rest"], found.start("rest")
            if end == len(text) and gap[-1:] in "\"'":
                continue  # it is cut within the word, perhaps
            if not gap.strip(" ") and "\n" not in gap:
                continue  # "the verdict Pass" is a word about verdicts
            field = _FIELD_END.split(rest, maxsplit=1)[0]
            field = field.split("|")[0] if "|" in gap else field
            value = None if "[ ]" in gap else self._clear(found["word"], gap, field)
            yield Statement(value, text[found.start() : end], found.start(), end)

    def lone(self, text: str) -> Iterator[Statement]:
        """Yield words that stand alone: on a line, in a box, in brackets, before all else."""
        for found in self._lone.finditer(text):
            word = next(filter(None, found.groups()))
            yield Statement(self.meaning(word), found[0], found.start(), found.end())

    def mentions_other(self, text: str, value: Any) -> bool:
        """Whether a text has a word for another answer."""
        if self.scale:
            return False
        return any(self.meaning(found[0]) != value for found in self._mention.finditer(text))

    def _clear(self, word: str, before: str, behind: str) -> Any:
        """Return what a word states between these texts; None where they make it doubtful."""
        value = self.meaning(word)
        twice = self._leading.match(behind)  # ✅ Pass
        if twice and self.meaning(twice["word"]) == value and not self.scale:
            behind = behind[twice.end() :]
        if self._top is not None and (share := _SHARE.match(behind)):
            if float(share[1]) != self._top:
                return None
            behind = behind[share.end() :]
        beside = behind if self.decisive else behind[:_NEAR]
        if self.mentions_other(before + "\n" + beside, value) or "~~" in before:
            return None
        if not re.search(r"[^\W_]", behind):
            return None if re.search(r"[?/|]|\.\.|…|->", behind) else value
        return value if _EXPLAINED.match(behind) and not _HEDGE.search(behind) else None
