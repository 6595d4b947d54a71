"""What a model replies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.llm.request import Output

Finish = Literal["stop", "length", "refused", "failed", "other"]


class Usage(msgspec.Struct, frozen=True):
    """Tokens, counted the same way for every vendor."""

    input_tokens: int = 0
    """All tokens of the prompt, those of the vendor's cache among them."""

    output_tokens: int = 0
    """All tokens that were generated, those of the model's thinking among them."""

    cached_tokens: int = 0
    """How many of the prompt's tokens the vendor had cached."""

    reasoning_tokens: int = 0
    """How many of the generated tokens were the model's thinking."""

    written_tokens: int = 0
    """How many of the prompt's tokens the vendor put into its cache, which may cost more."""

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def sum(cls, usages: Iterable[Usage]) -> Usage:
        """Add up; nothing is zero."""
        columns = zip(*map(msgspec.structs.astuple, usages))
        return cls(*map(sum, columns))


class JudgeReply(msgspec.Struct, frozen=True):
    """One answer of a model."""

    text: str
    """What it wrote; where functions were called, the arguments of the calls, as JSON."""

    finish: Finish = "stop"
    """Why it ended: by itself, at the limit of tokens, refused by model or filter, by an error, or
    otherwise."""

    usage: Usage = Usage()
    """What it took."""

    model: str = ""
    """The model that answered, as the server names it."""

    output: Output = "text"
    """How the form of the answer was asked for."""

    cached: bool = False
    """Whether it comes from our cache and cost nothing."""

    def __post_init__(self) -> None:
        """Raise TypeError for what a server that keeps to no form may have put in these places."""
        if not (isinstance(self.text, str) and isinstance(self.model, str)):
            raise TypeError(f"text={quote(self.text)} and model={quote(self.model)} are not texts")


def text_or_calls(text: str, calls: Sequence[str]) -> str:
    """Return a reply's text; where functions were called, the arguments of the calls instead.

    Calls that are equal as JSON are one. Others are joined, for any of them may disagree.
    """
    if not calls:
        return text
    if len(calls) == 1:
        return calls[0]
    return "\n\n".join({_compared(call): call for call in calls}.values())


def _compared(arguments: str) -> str:
    """Return JSON as all that is equal to it is written, and other texts as they are."""
    value = json_text.parse(arguments)
    return arguments if isinstance(value, Defect) else canonical(value)
