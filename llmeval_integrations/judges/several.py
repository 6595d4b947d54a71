"""Several judgements in one reply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmeval_integrations.errors import UnreadableJudgementError
from llmeval_integrations.judges.judgement import Judgement
from llmeval_integrations.judges.objects import find_sole_object
from llmeval_integrations.judges.pass_fail import JUDGEMENT_SCHEMA
from llmeval_integrations.judges.quotations import repeats
from llmeval_integrations.judges.reading import parse_judgement
from llmeval_integrations.judges.thinking import without_thinking
from llmeval_integrations.wording import shown


def schema_of_judgements(count: int) -> dict[str, Any]:
    """Give the form of so many judgements in one reply: a key for each, which has to be there.

    A list of judgements with numbers would let a model repeat one and leave out another.
    """
    names = _names(count)
    return {
        "type": "object",
        "properties": dict.fromkeys(names, JUDGEMENT_SCHEMA),
        "required": names,
        "additionalProperties": False,
    }


def parse_judgements(
    text: str, count: int, *, ignoring: Iterable[str], fence: str
) -> list[Judgement]:
    """Read so many judgements, in the order of their questions.

    Raises UnreadableJudgementError unless each question has exactly one that is clear, and for a
    reply that only repeats one of the texts to ignore.
    """
    ignored = list(ignoring)
    if any(repeats(text, quoted) for quoted in ignored):
        raise UnreadableJudgementError(f"it only repeats a text that was shown: {shown(text)}")
    names = _names(count)
    found = find_sole_object(without_thinking(text, ignored[0]))
    if not found or sorted(name for name, _ in found.members.pairs) != sorted(names):
        raise UnreadableJudgementError(
            f"expected a JSON object with the keys {names[0]} to {names[-1]}, got {shown(text)}"
        )
    return [parse_judgement(found.members[name], ignoring=ignored, fence=fence) for name in names]


def _names(count: int) -> list[str]:
    return [f"question_{number}" for number in range(1, count + 1)]
