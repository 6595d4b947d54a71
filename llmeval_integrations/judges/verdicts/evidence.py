"""What a reply says of its judgement, gathered from wherever it says it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.verdicts.judgement import Confidence, Judgement, Verdict
from llmeval_integrations.judges.verdicts.parts import Parts, plain_name, words_of
from llmeval_integrations.judges.verdicts.spans import MASK
from llmeval_integrations.judges.verdicts.words import conclusion, read_word

_MASKED = re.compile(f"{MASK}+")
_PLACEHOLDER = re.compile(r"\.{2,}|…|<[^<>]*>|\[[^\[\]]*\]|\{[^{}\"]*\}")
_FLAG = re.compile(r"(?:(?:is|has|did|does) )?(?:(?P<PASS>pass(?:e[sd])?)|fail(?:s|ed|ure)?)")
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


class Evidence:
    """Parts of a judgement, and whatever else leans to a verdict; all has to agree."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._values: dict[str, list[Any]] = {}
        self._stances: list[tuple[set[Verdict], str]] = []

    def add(self, members: Iterable[tuple[Any, Any]]) -> None:
        """Take members of an object, or labels with what they state."""
        for key, value in members:
            if not isinstance(key, str):
                continue
            name = plain_name(key)
            if value is not None:
                self._values.setdefault(name, []).append(value)
            elif name == self._parts.verdict:
                raise UnreadableJudgementError("the verdict is null")
            if name in self._parts.names:
                continue
            flag = _FLAG.fullmatch(words_of(key))
            holds = _TRUTHS.get(str(value).lower()) if flag else None
            if flag and holds is not None:
                passes = bool(flag["PASS"]) is holds
                self.lean({Verdict.PASS if passes else Verdict.FAIL}, f"{key}: {value}")
            elif isinstance(value, str) and self._parts.is_verdict_by_another_name(key):
                word = read_word(value, Verdict)
                self.lean({word} if word else conclusion(value), f"{key}: {value}")

    def lean(self, verdicts: set[Verdict], source: str) -> None:
        """Take a statement that means one of these verdicts, or may; none says nothing."""
        if verdicts:
            self._stances.append((verdicts, source))

    @property
    def missing(self) -> str | None:
        """A required part that is not there."""
        required = (*self._parts.required, self._parts.verdict)
        return next((name for name in required if name not in self._values), None)

    def judgement(self) -> Judgement:
        """Make one judgement of all; raises UnreadableJudgementError where that is not sure."""
        reasoning = self._reasoning()
        self.lean(conclusion(reasoning), reasoning[-80:])
        verdict = self._verdict()
        if self.missing:
            raise UnreadableJudgementError(f"{self.missing!r} is missing")
        return Judgement(reasoning, verdict, self._confidence())

    def _verdict(self) -> Verdict:
        values = self._values.get(self._parts.verdict, [])
        for value in values:
            stance = read_word(value, Verdict) if isinstance(value, str) else None
            if stance is None:
                raise UnreadableJudgementError(f"{quote(value)} is neither Pass nor Fail")
            self.lean({stance}, value)
        if not values:
            unsure = next((f" but {quote(source)}" for _, source in self._stances), "")
            raise UnreadableJudgementError(f"it has no verdict{unsure}")
        verdicts = self._stances[-1][0]
        for other, source in self._stances:
            if other != verdicts:
                raise UnreadableJudgementError(
                    f"its verdicts disagree: {next(iter(verdicts))}, and then {quote(source)}"
                )
        return next(iter(verdicts))

    def _confidence(self) -> Confidence | None:
        name = self._parts.confidence
        values = self._values.get(name, [])
        read = {read_word(v, Confidence) if isinstance(v, str) else None for v in values}
        if len(read) == 1 and None not in read:
            return read.pop()
        if name in self._parts.required:
            raise UnreadableJudgementError(
                f"the confidence {' and '.join(map(quote, values))} is not one of High, Medium, Low"
            )
        return None

    def _reasoning(self) -> str:
        values = self._values.get(self._parts.reasoning, [""])
        text = values[-1]
        if not isinstance(text, str):
            text = _as_text(text)
        elif _PLACEHOLDER.fullmatch(text.strip()):
            raise UnreadableJudgementError(f"the reasoning {quote(text)} is a placeholder")
        text = _MASKED.sub("[quoted]", text).strip()
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _as_text(value: Any) -> str:
    """Write reasoning that came as a list of steps line by line, anything else as JSON."""
    if isinstance(value, (list, tuple)) and all(isinstance(step, str) for step in value):
        return "\n".join(value)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise UnreadableJudgementError(f"the reasoning {quote(value)} is not a text") from None
