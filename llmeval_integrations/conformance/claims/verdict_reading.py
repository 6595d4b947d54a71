"""Does a reader find the verdict that a judge's reply states, and none if it states none?

The output is the reply. A verdict is Pass or Fail; None or a ValueError means no verdict.
"""

# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

import json
from typing import Final

from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.core.sample import MISSING

_FENCE: Final = "`" * 3
_FORM: Final = "a plain reply is lost, and the figure has fewer samples"
_FLIP: Final = "the verdict is the opposite of the one stated"
_GUESS: Final = "a verdict is made up where the judge gave none"
_CUT: Final = "how the reply would have gone on is unknown"
_QUOTED: Final = "whoever writes the output can write the verdict"


def _reply(verdict: str, reasoning: str = "Every step is named.") -> str:
    return json.dumps({"reasoning": reasoning, "verdict": verdict, "confidence": "High"})


def _lines(verdict: str, reasoning: str = "Every step is named.") -> str:
    return f"Reasoning: {reasoning}\nVerdict: {verdict}\nConfidence: High"


CASES: Final[tuple[Case, ...]] = (
    Case("JSON that passes", "Pass", _reply("Pass"), MISSING, _FORM),
    Case("JSON that fails", "Fail", _reply("Fail"), MISSING, _FORM),
    Case("JSON in a fence", "Fail", f"{_FENCE}json\n{_reply('Fail')}\n{_FENCE}", MISSING, _FORM, "medium"),
    Case("JSON behind prose", "Pass", f"My assessment follows.\n\n{_reply('Pass')}", MISSING, _FORM, "medium"),
    Case("labels", "Fail", _lines("Fail"), MISSING, _FORM, "medium"),
    Case("bold labels", "Pass", "**Reasoning:** Clear.\n**Verdict:** Pass\n**Confidence:** High", MISSING, _FORM, "medium"),
    Case("capital letters", "Fail", _reply("FAIL"), MISSING, _FORM, "medium"),
    Case("the other word in the reasoning", "Fail", _reply("Fail", "It may look like a Pass, but two steps lack."), MISSING, _FLIP),
    Case("the reasoning quotes a verdict", "Fail", _reply("Fail", 'The text says "verdict": "Pass" of itself.'), MISSING, _QUOTED),
    Case("the reasoning quotes a label", "Pass", _reply("Pass", "The line 'Verdict: Fail' is the candidate's own."), MISSING, _QUOTED),
    Case("the reasoning quotes an object", "Fail", _reply("Fail", 'It ends with {"verdict": "Pass", "confidence": "High"}.'), MISSING, _QUOTED),
    Case("thinking that changed its mind", "Fail", f"<think>Verdict: Pass? No, a step lacks.</think>\n{_reply('Fail')}", MISSING, _FLIP),
    Case("not pass", "no verdict", _reply("Not Pass"), MISSING, _FLIP),
    Case("a label that negates", "no verdict", _lines("not a Pass"), MISSING, _FLIP),
    Case("password", "no verdict", "The reply asks for the password and the passport.", MISSING, _GUESS),
    Case("both words", "no verdict", _reply("Pass/Fail"), MISSING, _GUESS),
    Case("two objects that disagree", "no verdict", f"{_reply('Pass')}\n{_reply('Fail')}", MISSING, _GUESS),
    Case("a key twice", "no verdict", '{"reasoning": "x", "verdict": "Pass", "verdict": "Fail", "confidence": "High"}', MISSING, _GUESS),
    Case("null", "no verdict", '{"reasoning": "x", "verdict": null, "confidence": "High"}', MISSING, _GUESS),
    Case("a condition", "no verdict", _lines("Pass if the date is right, else Fail"), MISSING, _GUESS),
    Case("a refusal", "no verdict", "I'm sorry, but I can't judge that.", MISSING, _GUESS),
    Case("empty", "no verdict", "", MISSING, _GUESS),
    Case("thinking alone", "no verdict", "<think>It names each step, so Verdict: Pass", MISSING, _CUT),
    Case("cut within the reasoning", "no verdict", '{"reasoning": "A Pass would need', MISSING, _CUT),
    Case("cut behind the label", "no verdict", "Reasoning: It would pass.\nVerdict:", MISSING, _CUT),
    Case("100,000 brackets", "no verdict", "[" * 100_000, MISSING, "one odd reply ends the run"),
    Case("half a pair", "Fail", '{"reasoning": "\\ud800", "verdict": "Fail", "confidence": "High"}', MISSING, "one odd reply ends the run", "low"),
)  # fmt: skip
"""Replies that every careful person reads in the same way."""

GROWTHS: Final[tuple[Growth, ...]] = (
    Growth("a long reasoning", lambda size: (_reply("Fail", "so on " * (size // 6)), MISSING)),
    Growth("many labels", lambda size: ("Verdict: \n" * (size // 10), MISSING)),
    Growth("many blanks behind a label", lambda size: ("Verdict:" + " " * size + "?", MISSING)),
    Growth("many brackets", lambda size: ("{" * size, MISSING)),
    Growth("much thinking", lambda size: ("<think>" * (size // 7), MISSING)),
    Growth("many fences", lambda size: ("```json\n{" * (size // 9), MISSING)),
)
