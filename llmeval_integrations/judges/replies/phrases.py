"""What stands around a verdict: who said it, what it rests on, and whether it still holds."""

from __future__ import annotations

import re
from typing import Final

from llmeval_integrations.judges.replies.vocabulary import REASONS

_REASONS: Final = "|".join(sorted(REASONS, key=len, reverse=True))
REASONING: Final = re.compile(
    r"(?:^|(?<=[\n<*#|.;,{(]))[^\w\n]{0,8}(?:final |overall |my )?"
    rf"(?:{_REASONS}|raciocínio|raisonnement|begründung|理由)"
    r"[\"'*_`\\]{0,4}\s?[:=：>\n|][\s*_\"'`>|]*(?P<text>.*?)"
    r"(?=\n\s*[^\w\n]{0,6}(?:\w+ )?(?:verdict|confidence|judg\w+|decision|result|rating)\b"
    r"|</|[\"'`]?\s*[,;|]\s*[\"'`]?(?:verdict|confidence)\b|\n\s*\n(?!\s*[-*\d])|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Reasons under a label, as far as the next label or paragraph."""

RETRACTION: Final = re.compile(
    r"(?:^|[.!?]\s*)(?:wait|actually)\b"
    r"|\b(?:correct(?:ion|ed)|scratch that|my mistake|made an error|need to"
    r" correct|quoted from|opposite|undecided|n/a"
    r"|on (?:second thoughts?|reflection|a (?:second|closer) look)"
    r"|i (?:misread|misjudged|meant?|changed?|take|was wrong|refuse)"
    r"|should (?:be|have been) (?:an? )?(?:pass|fail)"
    r"|(?:change|revise|reverse|disregard|ignore|not agree with)"
    r" (?:my|the|this) (?:\w+ )?verdict)\b|\{\s*[\"']?(?:reas|verd)",
    re.IGNORECASE | re.MULTILINE,
)
"""Words behind a verdict that take it back, or begin another one."""

_INTRODUCTION: Final = re.compile(
    r"(?:\b(?:would|could|might|not|wants?|says?|said|wrote|contain(?:s|ed)|reads?|example|draft"
    r"|initial(?:ly)?|ignore|previous|incorrect|wrong|trick|if|(?:reply|answer) with|claims?|ends"
    r"|has|hides|asks?|tells?|orders?)\b[^.!?\n{}]{0,60}|<!--\s*|\A\s*>[^\n]*)\Z",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"[,;.] (?:here|my|so)\b")
_BEFORE: Final = 90
"""Characters in which somebody is said to have written what follows."""


def is_introduced(text: str, at: int) -> bool:
    """Whether the words before a place give what stands there to somebody else, or to a draft.

    They stand on its line, or on the line above where that ends with a colon.
    """
    before = text[max(0, at - _BEFORE) : at]
    line = before.rsplit("\n", 1)[-1]
    above = before[: len(before) - len(line)].rstrip()
    if not re.search(r"[\w>]", line) and above.endswith((":", ": ```json", "```json", "```")):
        line = re.sub(r"\s*`{3}\w*\Z", "", above).rsplit("\n", 1)[-1]
    if above.endswith("<!--"):
        return True
    found = _INTRODUCTION.search(line)
    return bool(found) and not _OWN.search(line[found.start() :] if found else "")
