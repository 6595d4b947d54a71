"""What a model replies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from llmeval_integrations.asking.request import Output
from llmeval_integrations.wording import shown

Finish = Literal["stop", "length", "refused", "failed", "other"]


class Usage(msgspec.Struct, frozen=True):
    """Tokens, counted the same way for every vendor."""

    input_tokens: int = 0
    """All tokens of the prompt, those read from the vendor's cache among them."""

    output_tokens: int = 0
    """All tokens that were generated, those of the model's thinking among them."""

    cached_tokens: int = 0
    """How many of the prompt's tokens the vendor had cached."""

    reasoning_tokens: int = 0
    """How many of the generated tokens were the model's thinking."""

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
    """What it wrote; where tools were called, the arguments of the calls, as JSON, behind it."""

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
            raise TypeError(f"text={shown(self.text)} and model={shown(self.model)} are not texts")


def all_said(text: str, calls: Iterable[str]) -> str:
    """Join a reply's text and the arguments of all its calls, for any of them may disagree."""
    arguments = [*calls]
    return "\n\n".join(part for part in (text, *arguments) if part.strip()) if arguments else text
