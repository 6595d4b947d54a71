"""Several judgements in one reply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmeval_integrations import json_text
from llmeval_integrations.errors import UnreadableJudgementError
from llmeval_integrations.judges.judgement import Judgement
from llmeval_integrations.judges.pass_fail import JUDGEMENT_SCHEMA
from llmeval_integrations.judges.reading import parse_judgement
from llmeval_integrations.wording import shown


def schema_of_judgements(count: int) -> dict[str, Any]:
    """Give the form of so many judgements in one reply."""
    number = {"question": {"type": "integer", "enum": list(range(1, count + 1))}}
    judgement = {
        **JUDGEMENT_SCHEMA,
        "properties": {**number, **JUDGEMENT_SCHEMA["properties"]},
        "required": ["question", *JUDGEMENT_SCHEMA["required"]],
    }
    judgements = {"type": "array", "items": judgement, "minItems": count, "maxItems": count}
    return {
        "type": "object",
        "properties": {"judgements": judgements},
        "required": ["judgements"],
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
    said = _without_spaces(text[text.find("{") : text.rfind("}") + 1])
    if said and any(said in _without_spaces(shown_text) for shown_text in ignored):
        raise UnreadableJudgementError(f"it only repeats a text that was shown: {shown(text)}")
    return [parse_judgement(item, ignoring=ignored, fence=fence) for item in _items(text, count)]


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _items(text: str, count: int) -> list[dict[str, Any]]:
    """Read the judgements of a reply in the order of their questions.

    Raises UnreadableJudgementError unless each question has exactly one.
    """
    value = json_text.parse(text)
    items = value.get("judgements") if isinstance(value, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UnreadableJudgementError(f"expected a JSON object with judgements, got {shown(text)}")
    numbers = [item.get("question") for item in items]
    if (
        any(isinstance(number, bool) for number in numbers)
        or sorted(number for number in numbers if isinstance(number, int))
        != list(range(1, count + 1))
        or len(numbers) != count
    ):
        raise UnreadableJudgementError(
            f"expected one judgement for each of {count} questions, got some for {numbers}"
        )
    by_number = dict(zip(numbers, items, strict=True))
    return [
        {key: value for key, value in by_number[number].items() if key != "question"}
        for number in range(1, count + 1)
    ]
