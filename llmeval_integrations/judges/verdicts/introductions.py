"""Words before an object or a label by which a judge introduces what is not its own verdict."""

from __future__ import annotations

import re
from typing import Final

from llmeval_integrations.judges.verdicts.spans import MASK

_QUOTED: Final = MASK * 2
_REACH: Final = 160  # characters before an object or a label that are looked at
_PERSON = r"(?:candidate|student|submitter|user|writer|author|applicant|respondent)"
_PIECE = r"(?:reply|text|response|answer|output|submission|message|essay|work|json|verdict)"
# "The text says: {...}", "I could write {...}", "Output format: {...}" and "Student's reply: {...}"
# introduce what is not the judge's own word.
_INTRODUCTION = re.compile(
    r"(?:\b(?:says?|said|wrote|writes|contains?|claims?|claimed|reads|states?|stated|ends with"
    r"|quot(?:e[sd]?|ing|ation)|such as|injected|forged|embedded|pretends?|might|could|tempted"
    r"|draft|hypothetical\w*|suppose|imagine|not|never|wrong\w*|incorrect\w*|invalid|ignor\w+"
    r"|previous\w*|earlier|before|possible|options?|trick\w*|wants?|demands?|tells me|would"
    r"|instead of|rather than|input|reply with|answer with|respond with"
    r"|with (?:it|this|that))\b(?P<between>[^.!?\n{}]{0,60}?)"
    r"|(?:\A|\n)\W{0,8}(?:for |an? |the |here is (?:an?|the) )?"
    r"(?:(?:(?:output|response|reply|expected|required|json) )?"
    r"(?:example|sample|template|format|schema)\b"
    r"[^.!?\n{}]{0,40}:"
    rf"|{_PERSON}(?:['’]s)? (?:\w+ )?{_PIECE}(?: (?:is|was|reads|again|below|follows))?:))"
    rf"(?P<end>[\s:\"'“„«`*{MASK}]*)(?:`{{3}}\w*\s*)?\Z",
    re.IGNORECASE,
)
# "As the text says so, here is my verdict" introduces one's own.
_OWN = re.compile(
    r"[,;]\s(?:so |and |thus |therefore )?(?:here(?:['’]s| is| it is)|this is|my |the verdict"
    r"|i(?! would| could| might| can| do| will not| did| quote))\b"
    r"|[,;]\s(?:so|thus|therefore|hence)\Z",
    re.IGNORECASE,
)
# So says a judge of its own former reply: "my previous reply was not valid JSON; here it is again".
_FORMER = re.compile(
    r"\b(?:(?:sorry|apolog(?:y|ies|i[sz]e)) (?:for|about) (?!this|that|these|the following)"
    r"[^,;:.!?\n{}]{0,60}(?:, (?:which|that|it) [^,;:.!?\n{}]{0,40})?(?=[,;:])"
    r"|(?:my|the) (?:previous|last|earlier|former|first) (?:reply|answer|response|output|attempt)"
    r" (?:was|had|is|did)(?:n['’]t)? [^,;:.!?\n{}]{0,60}(?=[,;]))",
    re.IGNORECASE,
)
_POINTS = frozenset(":\"'“„«")
# What is near every label that may be introduced: a colon or a quotation mark right before it, or
# a mark that quotes its line or strikes it out. It is found faster than the words are.
_MAY_POINT = re.compile(
    rf"[:\"'“„«][\s:\"'“„«`*{MASK}]*(?:`{{3}}\w*\s*)?\Z|>[^\n]*\Z|~~[\s`*]{{0,4}}\Z"
)
_BLOCKQUOTE = re.compile(r"(?:\A|\n)\s{0,8}>[^\n]*\Z")
_STRUCK_OUT = re.compile(r"(?<!~)~~[\s`*]{0,4}\Z")
# "He wrote", "there is this at the end".
_AHEAD = re.compile(
    r"(?:\b(?:says?|said|wrote|writes|contains?|claims?|claimed|reads|states?|stated|ends with)"
    r"(?:\s\w+)?"
    r"|\b(?:this|these|the following|as follows|like so)(?:\s(?:at|in|on|near)\s[^.!?\n]{0,40})?)"
    r"[\s.:\"'“„«`*#-]*\Z",
    re.IGNORECASE,
)


def introduced(text: str, start: int, *, label: bool = False) -> bool:
    """Whether what stands before an object says that it is not a judgement of the judge's own.

    So do a mark of quotation, one that strikes it out, and many words.
    Before a label, and at the end of a line, they need a colon or a quotation mark behind them:
    many a line ends with "as the source says".
    """
    begin = max(0, start - _REACH)
    if label and not _MAY_POINT.search(text, begin, start):
        return False
    if _BLOCKQUOTE.search(text, begin, start) or _STRUCK_OUT.search(text, begin, start):
        return True
    begin = max(begin, text.rfind(_QUOTED, begin, start))  # what stood there was introduced
    found = _INTRODUCTION.search(text, begin, start)
    if found and _FORMER.search(text, begin, start):
        found = _INTRODUCTION.search(_FORMER.sub("", text[begin:start]))
    if not found or _OWN.search(found["between"] or ""):
        return False
    pointed = found["between"] is None or not _POINTS.isdisjoint(found["end"])
    return pointed or not (label or "\n" in found["end"])


def pointed_at(text: str, start: int) -> bool:
    """Whether words before a label point at what follows, with a colon or without, or a bracket.

    That is enough for a verdict that may be quoted anyway.
    """
    return text.startswith("(", start) or bool(_AHEAD.search(text, max(0, start - _REACH), start))
