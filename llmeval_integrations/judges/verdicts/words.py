"""Reading the one word that a field holds, and telling which way other words lean."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, TypeVar

from llmeval_integrations.judges.verdicts.judgement import Confidence, Verdict

QUOTES: Final = "\"'`“”„‟«»‹›「」『』‘’‚"
"""Quotation marks of several languages, opening and closing, and Markdown's for code."""

_LONGEST: Final = 10_000  # characters of a verdict with the words that explain it

W = TypeVar("W", Verdict, Confidence)

_MEANINGS: Final[dict[type, dict[str, Any]]] = {
    Verdict: {
        "pass": Verdict.PASS,
        "passed": Verdict.PASS,
        "fail": Verdict.FAIL,
        "failed": Verdict.FAIL,
    },
    Confidence: {level.value.lower(): level for level in Confidence},
}
_FAMILIES: Final[dict[type, dict[Any, re.Pattern[str]]]] = {
    Verdict: {
        Verdict.PASS: re.compile(r"\bpass(?:e[sd]|ing|abl[ey])?\b", re.IGNORECASE),
        Verdict.FAIL: re.compile(r"\bfail(?:s|ed|ing|ures?)?\b", re.IGNORECASE),
    },
    Confidence: {
        Confidence.HIGH: re.compile(r"\bhigh\w*", re.IGNORECASE),
        Confidence.MEDIUM: re.compile(r"\b(?:medium|moderate)\w*", re.IGNORECASE),
        Confidence.LOW: re.compile(r"\blow\w*", re.IGNORECASE),
    },
}
_MARKS: Final = {Verdict.PASS: "✅✔☑✓👍🟢", Verdict.FAIL: "❌✗✘✖👎🔴🚫⛔"}
_ALL_MARKS = "".join(_MARKS.values())

_AROUND = re.escape(QUOTES + "*_()[]<>{}|#\\") + r"\s\u200b-\u200f\u2060\ufe0f\ufeff"
_WORD = re.compile(
    rf"(?P<lead>[{_AROUND}{_ALL_MARKS}]*)(?P<word>[A-Za-z]+)"
    rf"(?P<gap>[{_AROUND}{_ALL_MARKS}.!,;:]*)(?P<rest>.*)",
    re.DOTALL,
)
# What may stand between the word and words that explain it: not just a space, as in "Pass rate".
_SEPARATOR = re.compile(r"[.!;:(\n]")
_DASH_OR_BECAUSE = re.compile(r"[-–—]\s|(?:because|since)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\W*(?:but|however|although|though|except|unless|if|or|and|when|once|maybe|perhaps|possibly"
    r"|probably|likely|partly|partial\w*|mostly|nearly|almost|borderline|barely|marginal\w*"
    r"|with(?! (?:high|medium|low) confidence)"
    r"|conditional\w*|assuming|provided|pending|tentative\w*|provisional\w*|subject|depend\w*"
    r"|either|neither|wait|actually|rather|only|just|in part|sort of|kind of|unsure|uncertain"
    r"|unclear|not sure|kidding|sarcas\w*|ironic\w*|in theory|technically|false|denied|rejected"
    r"|refused|revoked|retracted|withdrawn|cancell?ed|overruled|claimed|alleged\w*|supposed\w*"
    r"|(?:no|not|nope|nah|none|never|nothing|0)"
    r"(?:\s*(?:[^\w\s/]|\Z)|\s+(?:really|quite|exactly|yet|wait)\b))",
    re.IGNORECASE,
)
# Words that explain the one verdict, and that nobody who means the other would choose.
_IT = r"(?:this|that|it|which|(?:the|this)\s(?:text|response|output|answer|reply|submission))"
_SUBJECT = rf"(?:{_IT}\s(?:is|was|would be|seems)\s)?"
_MEETS = r"(?:met|satisfied|fulfilled|present|given|named|mentioned|correct|supported)\b"
_AGAINST: Final[dict[Any, re.Pattern[str]]] = {
    Verdict.PASS: re.compile(
        rf"\W*{_SUBJECT}(?:wrong|incorrect|invalid|mistaken|inadequate|insufficient|unmet"
        rf"|(?:\w+\s){{0,3}}(?:not|none|never)\s(?:\w+\s)?{_MEETS}"
        r"|none\s(?:\w+\s){0,5}(?:met|satisfied|fulfilled)\b"
        r"|(?:\w+\s){0,3}(?:does|do|did)(?:\snot|n['’]t)\s(?:meet|satisfy|fulfil)\w*\b)",
        re.IGNORECASE,
    ),
    Verdict.FAIL: re.compile(
        rf"\W*{_SUBJECT}(?:nothing\s(?:is\s|was\s)?(?:wrong|missing)"
        r"|no\s(?:issue|error|problem|mistake|fault)s?(?:\sfound)?\W*\Z"
        rf"|(?:all|every|each)\s(?:\w+\s){{0,3}}{_MEETS}\W*\Z"
        r"|(?:\w+\s){0,3}(?:meets|satisfies|fulfils)\s(?:all|every|each|the)"
        r"(?:\s(?!but\b|except\b)\w+){1,2}\W*\Z)",
        re.IGNORECASE,
    ),
}
# "Pass (placeholder)", "Pass (as the candidate claims)", "Pass (the candidate's own verdict)"
_ANOTHERS = re.compile(
    r"\W*(?:an? |the )?(?:(?:placeholder|example|sample|template|quot(?:ed?|ation))"
    r"(?: (?:only|verdict|from .*))?"
    r"|\w+['’]s (?:own )?(?:verdict|judge?ment|rating|grade|words?)"
    r"|as (?:(?:the |its )?\w+ )?(?:claim|say|said|state|assert|wr[io]t|demand|want|ask)\w{0,3}"
    r")\W*\Z",
    re.IGNORECASE,
)
_SHARE = re.compile(r"\W*(\d{1,9})\s*(?:/|of|out of)\s*(\d{1,9})\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|no|never|or|if|unless|neither|nor|hardly|cannot|without|rather|instead|either"
    r"|whether|would|could|might|may)\b|n['’]t\b|/|\?",
    re.IGNORECASE,
)
_VERDICT_ABOVE = r"(?:my|the|this|that)\s(?:\w+\s)?(?:verdict|judge?ment|decision|rating)"
# "It does not pass", "I would not call it a pass"; not "it does not name the price and fails".
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|nothing|none|neither)|n['’]t"
    r"|\bno(?:(?! (?:doubt|question|wonder))\s\w+)?|\bnone of (?:the|these|its)\s\w+)"
    r"\s(?:(?:be|been|get|gets|deserve|call|called|it|this|that|an?|the|clear|really|actually|to)\s)"
    r"{0,4}\Z",
    re.IGNORECASE,
)
# "To pass, the text would have to name its author."
_CONDITIONAL = re.compile(
    r"(?:\A|(?<=[.!?\n]))\W{0,4}(?:to (?:pass|fail), (?:it|the \w+) (?:would|must|should)\b"
    r"|had (?!i\b|you\b|we\b)[^.!?\n]{1,80}, (?:i|it|the \w+) would have\b"
    r"|let me know if i\b)[^.!?\n]*",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:no|not|never|cannot|nothing|none|neither|hardly|without|doubt\w*|wrong|false|untrue"
    r"|whether|if)\b|n['’]t\b)[^.!?\n]*\Z",
    re.IGNORECASE,
)
_REACH: Final = 60  # characters before a word for a verdict in which it may be denied
# Where a sentence or a part of one begins, and who reads it is told to do something.
_BIDDING = (
    r"(?:\A|[.!?\n;,:(–—-])\W{0,4}"
    r"(?:(?:please|so|and|but|no|oh|ok|okay|actually|sorry|wait|now|then|well)[ ,]{1,2}){0,3}"
)
TAKEN_BACK: Final = re.compile(
    r"\b(?:up)?on (?:second thoughts?|reflection|further (?:thought|reflection|consideration))\b"
    rf"|{_BIDDING}(?:scratch|strike|forget|disregard) (?:that|this|it|my|the (?:above|verdict))\b"
    rf"|{_BIDDING}(?:disregard|ignore|discard) {_VERDICT_ABOVE}"
    r"|\bi(?:['’]\w+)? (?:\w+ )?(?:take back|took back|disagree with"
    r"|(?:do not|don['’]t|cannot|can['’]t|can not|no longer) (?:\w+ )?agree with)"
    rf" {_VERDICT_ABOVE}"
    r"|\bi (?:take|took) (?:that|this|it) back\b"
    r"|\bi (?:\w+ )?(?:mean|(?:chang|revis|correct|switch)(?:e|ed) (?:it|this|that) to)"
    r" (?:an? )?(?:pass|fail)\b"
    r"|(?:\A|[.!?\n])\W{0,4}(?:i am |just |only )?(?:kidding|joking)\b"
    r"|\b(?:chang|revis|revers|revok|retract|withdraw|amend|correct|overturn|flip|updat|upgrad"
    rf"|downgrad|reconsider)(?:e|es|ed|ing|s)?\s(?:{_VERDICT_ABOVE}|the above"
    r"|my\s(?:\w+\s)?(?:mind|answer|evaluation|assessment|conclusion))\b"
    r"|\b(?:verdict|judge?ment|my decision|above)\s(?:is|was)\s(?:\w+\s)?"
    r"(?:wrong|incorrect|invalid|void|mistaken|revised|revoked|reversed|withdrawn|changed)\b"
    r"|(?:\A|[.!?\n])\W{0,4}(?:wait|hold on|oops|hmm+|correction)\b[^\w\s]"
    r"|\bi (?:was|am|stand) (?:\w+ )?(?:wrong|mistaken|corrected)\b"
    r"|\bi(?:['’]ve| have)? made an? (?:\w+ )?(?:error|mistake)\b|\bi (?:refuse|decline)\b"
    r"|\bmy (?:mistake|bad|error)\b|\b(?:i|we) (?:meant|misread|misjudged|misspoke)\b"
    r"|\bopposite verdict\b|\bshould have been (?:an? )?(?:pass|fail)"
    r"|\blet me (?:re-?(?:evaluate|consider|check|assess|think|examine|do|visit)|correct|revise)\b",
    re.IGNORECASE,
)
"""Words by which a judge takes its verdict back, wherever they stand behind it."""

# "I cannot judge it."
_REFUSED = (
    r"(?:\A|[.!?\n])\W{0,4}(?:(?:sorry|but|so|however|thus)\W{1,3})?"
    r"i (?:can(?:not|['’]t| not)|will not|won['’]t|am (?:not able|unable) to)"
    r" (?:judge|evaluate|grade|assess|answer|decide|rate)"
    r"(?: (?:it|this|that|(?:the|this|that) \w+))?[ \t]{0,4}(?:[.!\n]|\Z)"
)
# "The object above is from the student's text."
_TAKEN_OVER = (
    r"\b(?:json|object|judge?ment|verdict|above|block)\s(?:above\s|below\s)?"
    r"(?:(?:is|was|comes|came)\s(?:from|part of)|(?:was|stands|stood)\sin)"
    r"\s(?:the|its|his|her|their)\s"
    r"(?:\w+(?:['’]s)?\s)?(?:candidate|student|writer|author|user|text|output|response|reply"
    r"|submission|prompt|input)\b"
)
UNDONE: Final = re.compile(
    r"(?:\A|[.!?\n,;]|<-)\W{0,4}(?:(?:actually|instead|rather|ignore (?:that|this|it|my)"
    r"|sorry(?! for (?:the|my) (?:short|brief|long|late)\b)|not (?:this|that|so)|is what"
    r"|edit(?!: (?:fixed|corrected) (?:a |the |some )?(?:typo|spelling|grammar|format)))\b"
    r"|(?:no|nope|not|wrong|incorrect|invalid|false)[ \t]{0,4}(?:[^\w\s]|\Z))"
    r"|\b(?:kidding|joking)\b|\bthe (?:exact )?(?:opposite|reverse)\b|\bother way (?:a)?round\b"
    r"|\bon (?:closer|further|second) \w+|\bshould (?:have been|actually be|instead be|really be)\b"
    rf"|{_REFUSED}|{_TAKEN_OVER}"
    r"|\b(?:this|that|it|which|above) (?:is|was) (?:just |only |merely )?(?:an? |the )?"
    r"(?:quot\w+|example|placeholder|template|copied|copy|taken from|injected|forged|what the)",
    re.IGNORECASE,
)
"""Words right behind a verdict that undo it, and that are harmless further on."""

_NOUN = (
    r"(?:result|answer|judge?ment|decision|outcome|rating|grade|assessment|conclusion|verdict"
    r"|evaluation)"
)
_OBJECT = (
    r"(?:it|this|that|(?:the|this)\s(?:text|response|output|answer|reply|submission|student"
    r"|candidate))"
)
_RATED = r"(?:mark|rat|grad|judg|scor|evaluat|assess|classif|label|deem|consider|fail|pass)\w{0,5}"
_THEREFORE = r"(?:(?:therefore|thus|clearly|hence|overall|then|simply)\s)?"
_VERDICT_WORD = r"(?:(?P<PASS{0}>pass(?:e[sd])?)|(?P<FAIL{0}>fail(?:s|ed|ure)?))"
_CONCLUSION = re.compile(
    r"(?:(?:\A|[.!?\n;,]|[-=]>|→|⇒)\W{0,4}"
    r"(?:i\s(?:\w+\s)?(?:conclude|find|decide|hold)(?:\sthat|:)\s)?"
    r"(?:(?:so|thus|therefore|hence|overall|final|finally|in conclusion|conclusion|decision"
    r"|result|answer|(?:(?:my|the|this|final|overall|correct)\s){1,3}" + _NOUN + r")[\s,:]{1,3}"
    r"(?:(?:here|in\sthis\scase)\s)?"
    r"(?:(?:is|must be|should be)\s)?){0,2}"
    rf"(?:{_OBJECT}\s|i(?:['’](?:ll|d|m))?\s)?{_THEREFORE}"
    r"(?:(?:(?:does|did|do|can|could|should|must|will)(?:\s?not|n['’]t)|not)\s)?"
    r"(?:(?:should|must|will|would|has to|have to)\s)?"
    r"(?:(?:is|be|gets?|receives?|deserves?|earns?|warrants?|merits?|means|constitutes|results in"
    r"|leads to|amounts to|makes\s(?:it|this|that)|assign|choose|give|say|go\swith|settle\son)\s)?"
    r"(?:not\s)?" + _THEREFORE + r"(?:an?\s)?(?:clear\s)?"
    rf"{_VERDICT_WORD.format('')}"
    rf"|\b(?:(?:i|we)\s(?:\w+\s){{0,2}}{_RATED}\s{_OBJECT}|(?:(?:not|never|cannot)\s)?be\s{_RATED})\s(?:as\s)?(?:an?\s)?"
    rf"{_VERDICT_WORD.format('_RATED')})"
    r"(?:\sit\sis|\s(?:it|this|verdict|mark|grade)\b|\sis\s(?:the|my)\s(?:\w+\s)?" + _NOUN + r")?"
    r"(?:\swith\s\w+\sconfidence)?"
    r"(?:\s(?:because|since)\s[^.!?\n]{1,100})?\W{0,6}\Z",
    re.IGNORECASE,
)
_LONGEST_END: Final = 200
_NOT = re.compile(r"\b(?:not|cannot|never)\b|n['’]t\b", re.IGNORECASE)


def read_word(value: str, kind: type[W]) -> W | None:
    """Return the word that a field holds, or None where it is not sure.

    Case, quotation marks, Markdown, a full stop and a mark that says the same (✅ Pass) do not
    matter. Words that explain may follow after a full stop, a dash or a bracket, unless they lean
    another way or begin as a reservation does ("Pass, but", "Pass (partly)").
    """
    found = _WORD.match(unicodedata.normalize("NFKC", value[: _LONGEST + 1]))
    if not found or len(value) > _LONGEST:
        return None
    meaning: W | None = _MEANINGS[kind].get(found["word"].lower())
    gap, rest = found["gap"], found["rest"]
    if meaning is None or ".." in gap or _marks(found["lead"] + gap) - {meaning}:
        return None
    if rest and not (_is_separated(gap, rest) and _explains(rest, meaning)):
        return None
    return meaning


def _marks(text: str) -> set[Any]:
    """Return what the marks in a text stand for."""
    return {verdict for verdict, marks in _MARKS.items() if any(mark in text for mark in marks)}


def _is_separated(gap: str, rest: str) -> bool:
    if _SEPARATOR.search(gap):
        return True
    return gap[-1:].isspace() and bool(_DASH_OR_BECAUSE.match(rest))


def _explains(rest: str, meaning: Any) -> bool:
    """Whether words after a verdict or a confidence leave it as it is."""
    kind = type(meaning)
    return not (
        mentions(rest, kind) - {meaning}
        or _marks(rest) - {meaning}
        or "?" in rest.partition("\n")[0]
        or _HEDGE.match(rest)
        or (kind is Verdict and _is_none(rest, meaning))
        or TAKEN_BACK.search(rest)
        or UNDONE.search(rest)
    )


def _is_none(rest: str, meaning: Verdict) -> bool:
    """Whether words after a verdict say that it is somebody else's, or argue for the other one."""
    return bool(_ANOTHERS.match(rest) or _AGAINST[meaning].match(rest) or _is_short(rest, meaning))


def _is_short(rest: str, meaning: Verdict) -> bool:
    """Whether a pass is explained by a share below one, as "2 of 5" is."""
    share = _SHARE.match(rest)
    if not share or meaning is not Verdict.PASS:
        return False
    return int(share[1]) < int(share[2])


def mentions(text: str, kind: type[W]) -> set[W]:
    """Return the verdicts, or the confidences, that a text has words for."""
    return {word for word, family in _FAMILIES[kind].items() if family.search(text)}


def claims(text: str) -> set[Verdict]:
    """Return the verdicts that free words may mean: "it does not pass" is a fail.

    What the text would have had to be for the other verdict says nothing.
    """
    text = _CONDITIONAL.sub("", text)
    found: set[Verdict] = set()
    for word, family in _FAMILIES[Verdict].items():
        for mention in family.finditer(text):
            if len(found) == len(Verdict):
                return found
            begin = max(0, mention.start() - _REACH)
            denied = _DENIED.search(text, begin, mention.start())
            if denied and _DENIED_BEFORE.search(text, begin, denied.start()):
                return set(Verdict)  # "no reason not to pass it"
            found |= set(Verdict) - {word} if denied else {word}
    return found


def first_mention(text: str) -> int:
    """Return where the first word for a verdict ends, or 0."""
    found = [family.search(text) for family in _FAMILIES[Verdict].values()]
    return min((first.end() for first in found if first), default=0)


def leanings(text: str) -> set[Verdict]:
    """Return the verdicts that a statement may mean: none, one, or both where it is not sure."""
    meaning = read_word(text, Verdict)
    if meaning is not None:
        return {meaning}
    found = mentions(text, Verdict)
    return set(Verdict) if found and _DENIAL.search(text) else found


def conclusion(reasoning: str) -> set[Verdict]:
    """Return the verdict with which a reasoning ends ("So it fails."), or none."""
    end = reasoning[-_LONGEST_END:].casefold()
    if "because" not in end and "since" not in end:
        end = end[-60:]
    if "pass" not in end and "fail" not in end:  # the search costs more than all else of a reading
        return set()
    found = _CONCLUSION.search(reasoning, max(0, len(reasoning) - _LONGEST_END))
    if not found:
        return set()
    passes = bool(found["PASS"] or found["PASS_RATED"])
    return {Verdict.PASS if passes is not bool(_NOT.search(found[0])) else Verdict.FAIL}
