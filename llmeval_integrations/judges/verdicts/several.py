"""Several judgements in one reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.pass_fail import JUDGEMENT_SCHEMA
from llmeval_integrations.judges.verdicts.judgement import Judgement
from llmeval_integrations.judges.verdicts.objects import Members, find_sole_object
from llmeval_integrations.judges.verdicts.parts import Parts
from llmeval_integrations.judges.verdicts.quotations import Quotations
from llmeval_integrations.judges.verdicts.reading import REQUIRED, read_judgement
from llmeval_integrations.llm.thinking import without_thinking


def schema_of_judgements(count: int) -> dict[str, Any]:
    """Return the form of so many judgements in one reply: a key for each, which has to be there.

    A list of judgements with numbers would let a model repeat one and leave out another.
    """
    names = _names(count)
    return {
        "type": "object",
        "properties": dict.fromkeys(names, JUDGEMENT_SCHEMA),
        "required": names,
        "additionalProperties": False,
    }


Reading: TypeAlias = Judgement | UnreadableJudgementError
"""What one question has in a reply: its judgement, or why there is none."""


class PartlyReadError(UnreadableJudgementError):
    """Some of the judgements in a reply are not clear."""

    def __init__(self, message: str, readings: Sequence[Reading] = ()) -> None:
        super().__init__(message)
        self.readings = readings
        """What each question has, in their order."""


def parse_judgements(
    text: str, count: int, *, ignoring: Sequence[str], fence: str, examples: Sequence[str] = ()
) -> list[Judgement]:
    """Read so many judgements, in the order of their questions.

    `ignoring` and `examples` are those of `parse_judgement`. Raises UnreadableJudgementError unless
    each question has exactly one judgement that is clear and repeats none that was shown;
    PartlyReadError where it is clear at least which question has which.
    """
    names = _names(count)
    found = find_sole_object(without_thinking(text, *ignoring))
    if not found or not _are_some_of(names, [name for name, _ in found.members.pairs]):
        raise UnreadableJudgementError(
            f"expected a JSON object with the keys {names[0]} to {names[-1]}, got {quote(text)}"
        )
    parts = Parts.of(REQUIRED)
    quotations = Quotations(tuple(ignoring), fence, parts.names, tuple(examples))
    readings = [_read(found.members, name, parts, quotations) for name in names]
    judgements = [reading for reading in readings if isinstance(reading, Judgement)]
    if len(judgements) < count:
        unread = next(reading for reading in readings if not isinstance(reading, Judgement))
        raise PartlyReadError(str(unread), readings)
    return judgements


def _read(members: Members, name: str, parts: Parts, quotations: Quotations) -> Reading:
    """Read what stands under a name."""
    if name not in members:
        return UnreadableJudgementError(f"there is no {name}")
    try:
        return read_judgement(members[name], parts, quotations)
    except UnreadableJudgementError as error:
        return error


def _are_some_of(names: list[str], given: list[str]) -> bool:
    """Whether at least one of the names is given, none twice and no other."""
    return bool(given) and len(set(given)) == len(given) and set(given) <= set(names)


def _names(count: int) -> list[str]:
    return [f"question_{number}" for number in range(1, count + 1)]
