"""The answers of judges, and how a text or an object states one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Final, NamedTuple

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.objects import Members, decode, plain_name


class _Word(str, Enum):
    """One of a few words, in any case: `Verdict("pass")` equals `Verdict("Pass")`."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        words = {each.casefold(): each for each in cls}
        if (said := str(value).strip().casefold()) in words:
            return words[said]
        raise InvalidOptionError(f"{cls.__name__} {quote(value)} is not one of {', '.join(cls)}")

    __str__ = str.__str__


class Verdict(_Word):
    """Whether an output passes."""

    PASS = "Pass"  # noqa: S105 - a verdict
    FAIL = "Fail"


class Confidence(_Word):
    """How sure a judge is."""

    HIGH = "High"
    MEDIUM = "Medium"
    LOW = "Low"


class Judgement(msgspec.Struct, frozen=True):
    """One judgement, with its words in any case.

    Raises InvalidOptionError for another confidence.
    """

    reasoning: str
    """The judge's reasons; empty if it gave none."""

    verdict: Any
    """Pass or Fail; a word or a number if `parse_judgement` was given `words` or `scale`."""

    confidence: Confidence | None = None
    """High, Medium or Low; None if the judge gave none of these."""

    inconsistent: bool = False
    """Whether the reasoning concludes with another verdict."""

    def __post_init__(self) -> None:
        if str(self.verdict).strip().casefold() in ("pass", "fail"):
            msgspec.structs.force_setattr(self, "verdict", Verdict(self.verdict))
        if self.confidence is not None:
            msgspec.structs.force_setattr(self, "confidence", Confidence(self.confidence))


_GAP: Final = r"(?P<gap>(?:\W{0,3}(?:is|was|as)\b)?[\W_]{1,24}?)"
_CONCLUSION: Final = (
    r"\b(?:it|this|response|text|so|therefore|thus|hence|final|verdict|decision|judg\w+|i)\b"
    r"\W*(?:should |must |be |is |does |will |marked |as )*"
)
_EXPLAINED: Final = re.compile(
    r"[\W_]*(?:(?:because|since|as|due|with\b[^.]{0,20}\bconfidence)\b|[^\w\s]\W*(?=\w))"
)
_HEDGE: Final = re.compile(
    r"\b(?:if|but|or|part(?:ly|ial\w*)|mostly|almost|barely|border\w*|only|provided|unless"
    r"|condition\w*|reserv\w*|placeholder|aber|teilweise|vorbehalt\w*|einschränk\w*|mais"
    r"|partiel\w*|réserve\w*|pero|parcial\w*)\b|但|保留|部分"
    r"|\b(?:example|claim(?:s|ed)|own verdict)\W*\Z|\A\W*(?:not?|never|none)\W*\Z",
    re.IGNORECASE,
)

REASONS: Final = (
    "reasoning", "reason", "reasons", "rationale", "explanation", "analysis", "justification",
    "feedback", "critique",
)  # fmt: skip
"""Names that judges use for their reasons."""

_NEXT_LABEL: Final = re.compile(
    rf"\s[\W\d_]*(?:confidence|certainty|{'|'.join(REASONS)})\b[^\n:=]{{0,9}}[:=]", re.IGNORECASE
)
"""The label of another part of the answer, on the same line."""

_ANSWERS: Final = {"true": True, "yes": True, "false": False, "no": False}


class Statement(NamedTuple):
    """One place where a reply states an answer."""

    value: Any  # None if it is not clear
    source: str
    start: int
    end: int
    members: Members | None = None  # the object that states it, if it is not the text
    marked: bool = False  # whether the object has the requested mark


@dataclass(frozen=True)
class Vocabulary:
    """What an answer is called, and the words or the numbers that may stand under that name."""

    name: str
    words: Mapping[str, Any] = field(default_factory=dict)
    """Each word, in lower case, and its meaning."""

    scale: tuple[float, float] | None = None
    """The lowest and the highest number, if the answer is a number."""

    aliases: frozenset[str] = frozenset()
    """Other names of the answer."""

    decisive: bool = False
    """Whether a further word retracts the first: "fail" does, "3" may count something."""

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        """The regular expressions of its names and words."""
        word = r"[-+]?\d+(?:\.\d+)?" if self.scale else alternation(self.words)
        word = rf"(?<!-(?=\d))(?:{word})"  # 4 is no part of -4
        highest = max(
            [*map(float, filter(str.isdecimal, self.words)), *(self.scale or ())], default=0
        )
        whole = rf"(?:\s*(?:/|out of)\s*{highest:g}(?:\.0)?)?" if highest else ""
        end = rf"{whole}(?![^\W_])(?!-\w|\.\d|\s*(?:/|out of)\s*\d)"
        percent, other = ("", r",\d") if highest == 100 else ("%", r",\d|\s?%")
        stated = rf"s?{_GAP}(?P<word>{word}){end}(?P<rest>[^\n]{{0,160}})"
        patterns = {
            "name": rf"(?<![^\W_])(?:{alternation((self.name,))}){stated}",
            "alias": rf"(?<![^\W_])(?:{alternation(self.aliases)}){stated}",
            "word": rf"(?<![^\W_])(?:{word})(?![^\W_])",
            "beginning": rf"[\W_]*?(?P<word>{word}){end}",
            "conclusion": rf"{_CONCLUSION}(?P<no>not? )?(?:an? )?(?P<word>{word})(?:ure)?\W*\Z",
            "other number": rf"\d(?:{other})",  # 4,5 and 4 % are not 4
            "bare": rf"^(?!>)[^\w\n~]{{0,8}}(?P<a>{word}){whole}[^\w\n/|?,{percent}]{{0,8}}$"
            rf"|\\boxed\{{(?:\\text\{{)?(?P<b>{word})\}}|\[\[(?P<c>{word})\]\]"
            # the number of a list's first item has a point
            rf"|\A\W{{0,4}}(?P<d>{word})\s*(?:[:—–-]|(?<!\d)\.)(?=\s)",
        }
        flags = re.IGNORECASE | re.MULTILINE
        return {name: re.compile(pattern, flags) for name, pattern in patterns.items()}

    @cached_property
    def _values(self) -> list[Any]:
        """The different meanings of its words."""
        return [*dict.fromkeys(self.words.values())]

    def value_of(self, word: str) -> Any:
        """Return the meaning of a word; None for a number outside the scale."""
        if self.scale:
            number = float(word)
            return number if self.scale[0] <= number <= self.scale[1] else None
        return self.words.get(word.casefold())

    def concludes_otherwise(self, text: str, value: Any) -> bool:
        """Return whether a text ends with another answer ("so it fails"), or denies this one."""
        found = self._patterns["conclusion"].search(text) if self.decisive else None
        return found is not None and (self.value_of(found["word"]) == value) is bool(found["no"])

    def read(self, value: Any) -> Any:
        """Return what a JSON value states; None if that is not clear."""
        while isinstance(value, (list, dict)) and len(value) == 1:
            [value] = value.values() if isinstance(value, dict) else value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = f"{value:g}"
        text = decode(value).strip() if isinstance(value, str) else ""
        if (whole := fold_word(text)) in self.words:
            return self.words[whole]
        found = self._patterns["beginning"].match(text)
        return found and self._interpret(
            found["word"], text[: found.start("word")], text[found.end() :]
        )

    def state(
        self, members: Members, start: int = 0, end: int = 0, *, marked: bool = False
    ) -> list[Statement]:
        """List what an object at this place states: `verdict: Pass`, or `passed: true`."""
        stated = []
        for key, value in members.items():
            name = plain_name(key)
            if name == self.name or (name in self.aliases and self.read(value) is not None):
                stated.append((self.read(value), f"{key} {value}"))
            first, _, rest = name.partition(" ")
            flag = self.words.get(rest if first in ("is", "has", "did") else name)
            is_true = _ANSWERS.get(str(value).casefold()) if flag is not None else None
            if is_true is not None and len(self._values) == 2:
                meaning = next(each for each in self._values if (each == flag) is is_true)
                stated.append((meaning, f"{key} {value}"))
        return [Statement(*each, start, end, members, marked) for each in stated]

    def statements(self, text: str, *kinds: str) -> Iterator[Statement]:
        """Yield what a text states, in any formatting.

        The kinds are "name" (`verdict: Pass`), "alias" (`decision: Pass`), and "bare": a word that
        stands alone, on a line, in a box, in brackets, or before all else.
        """
        for kind in kinds:
            for found in self._patterns[kind].finditer(text):
                if kind == "bare":
                    word = next(filter(None, found.groups()))
                    yield Statement(self.value_of(word), found[0], found.start(), found.end())
                    continue
                gap, rest, end = found["gap"], found["rest"], found.start("rest")
                if end == len(text) and gap[-1:] in "\"'":
                    continue  # perhaps the reply is cut within the word
                if not gap.strip(" ") and "\n" not in gap:
                    continue  # "the verdict Pass" is a word about verdicts
                behind = re.split(r'["”»<}|]' if "|" in gap else r'["”»<}]', rest, maxsplit=1)[0]
                behind = _NEXT_LABEL.split(behind, maxsplit=1)[0]
                value = self._interpret(found["word"], gap, behind)
                yield Statement(value, text[found.start() : end], found.start(), end)

    def _interpret(self, word: str, before: str, behind: str) -> Any:
        """Return what a word states between these texts; None if they make it doubtful."""
        if self._patterns["other number"].match(word[-1] + behind):
            return None
        value = self.value_of(word)
        again = self._patterns["beginning"].match(behind)  # ✅ Pass
        if again and self.decisive and self.value_of(again["word"]) == value:
            behind = behind[again.end() :]
        near = behind if self.decisive else behind[:8]  # further on it may be part of the reasons
        others = () if self.scale else self._patterns["word"].findall(f"{before}\n{near}")
        if any(self.value_of(each) != value for each in others) or "[ ]" in before:
            return None
        if not re.search(r"[^\W_]", behind):
            return None if re.search(r"[?/|]|\.\.|…|->", behind) else value
        return value if _EXPLAINED.match(behind) and not _HEDGE.search(behind) else None


def fold_word(word: str) -> str:
    """Return a word without its case and the marks around it, which distinguish no answers."""
    return word.strip(" \t\r\n\"'`*.").casefold()


def alternation(words: Iterable[str]) -> str:
    """Return a pattern of any of these words; of none, a pattern that never matches."""
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(each).replace("\\ ", r"[\s_-]") for each in longest_first) or "(?!)"


VERDICT_NAMES: Final = frozenset((
    "judgement", "judgment", "decision", "result", "rating", "evaluation", "answer", "label",
    "outcome", "conclusion", "grade", "assessment", "score", "choice", "overall", "correction",
    "final verdict", "corrected verdict", "final answer", "pass fail", "status",
    "urteil", "ergebnis", "bewertung", "fazit", "évaluation", "résultat", "jugement",
    "veredicto", "resultado", "dictamen", "evaluación", "veredito", "verdetto", "вердикт",
    "结论", "最终结论", "判定", "最终判定", "裁定", "评估结果", "结果",
    "評価", "結論", "判定結果", "결론", "판정",
))  # fmt: skip
"""Other names that judges use for a verdict."""

_PASSED: Final = (
    "pass,passed,passes,bestanden,aprobado,aprovado,réussi,通过,合格,пройдено,합격,✅,✔"
)
_FAILED: Final = (
    "fail,failed,fails,nicht bestanden,no aprobado,échec,échoué,reprovado,不通过,未通过,不合格"
    ",не пройдено,불합격,❌,✗"
)
VERDICT: Final = Vocabulary(
    "verdict",
    {
        **dict.fromkeys(_PASSED.split(","), Verdict.PASS),
        **dict.fromkeys(_FAILED.split(","), Verdict.FAIL),
    },
    aliases=VERDICT_NAMES,
    decisive=True,
)
CONFIDENCE: Final = Vocabulary(
    "confidence",
    {**{each.casefold(): each for each in Confidence}, "moderate": Confidence.MEDIUM},
    aliases=frozenset(("confidence level", "certainty")),
)
