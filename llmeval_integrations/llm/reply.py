"""What a model replies, in the words of every vendor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.messages import Output

Finish = Literal["stop", "length", "refused", "failed", "other"]

_FINISHES: Final[Mapping[Finish, str]] = {
    "stop": "stop completed complete end_turn stop_sequence eos eos_token tool_calls tool_call "
    "tool_use function_call finish",
    "length": "length max_tokens max_output_tokens model_length model_context_window_exceeded "
    "incomplete error_limit",
    "refused": "content_filter content_filtered refusal refused safety recitation language "
    "blocklist prohibited_content spii escalation model_armor guardrail_intervened error_toxic",
    "failed": "error failed abort aborted cancelled canceled timeout network_error "
    "insufficient_system_resource malformed_function_call malformed_model_output "
    "malformed_tool_use unexpected_tool_call",
}
_FINISH: Final[Mapping[str, Finish]] = {
    word: finish for finish, words in _FINISHES.items() for word in words.split()
}


class Usage(msgspec.Struct, frozen=True):
    """Tokens, counted the same way for every vendor."""

    input_tokens: int = 0
    """All tokens of the prompt, those of the vendor's cache among them."""

    output_tokens: int = 0
    """All tokens that were generated, those of the model's reasoning among them."""

    cached_tokens: int = 0
    """How many of the prompt's tokens the vendor had cached."""

    reasoning_tokens: int = 0
    """How many of the generated tokens were the model's reasoning."""

    written_tokens: int = 0
    """How many of the prompt's tokens the vendor put into its cache, which may cost more."""

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens


class Reply(msgspec.Struct, frozen=True):
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

    batch: bool = False
    """Whether it comes from a batch, at half the price."""

    def __post_init__(self) -> None:
        """Raise TypeError for what a server that keeps to no form may have put in these places."""
        if not (isinstance(self.text, str) and isinstance(self.model, str)):
            raise TypeError(f"text={quote(self.text)} and model={quote(self.model)} are not texts")


def text_or_calls(text: str | None, calls: Sequence[str]) -> str:
    """Return a reply's text; where functions were called, the arguments of the calls instead.

    Different calls are joined, for any of them may disagree.
    """
    return "\n\n".join(dict.fromkeys(calls)) or text or ""


def finish_of(word: Any) -> Finish:
    """Say why a reply ended by a vendor's word for it; one that tells nothing ended by itself."""
    name = str(getattr(word, "value", word) or "stop").rpartition(".")[2]
    return _FINISH.get(name.lower(), "other")


def usage_of(account: Any) -> Usage:
    """Read a vendor's or LangChain's account of tokens, a mapping or an object; nothing is zero.

    Anthropic and Bedrock count what their cache wrote or read beside the input, the others in it;
    Google counts the reasoning beside the output, the others in it.
    """

    def count(*names: str, of: Any = account) -> int:
        found = value_of(of, *names)
        return max(found, 0) if isinstance(found, int) else 0

    prompt, completion = (
        value_of(account, *(f"{word}_details" for word in words))
        for words in (
            ("prompt_tokens", "input_tokens", "input_token"),
            ("completion_tokens", "output_tokens", "output_token"),
        )
    )
    thoughts = count("thoughts_token_count")
    read = count("cache_read_input_tokens", "cacheReadInputTokens")
    written = count("cache_creation_input_tokens", "cacheWriteInputTokens")
    inclusive = count("prompt_tokens", "prompt_token_count", "prompt_eval_count")
    exclusive = count("input_tokens", "inputTokens") + read + written
    generated = ("completion_tokens", "output_tokens", "outputTokens", "candidates_token_count")
    reasoning = ("reasoning_tokens", "thinking_tokens", "reasoning")
    return Usage(
        input_tokens=(inclusive or exclusive) + count("tool_use_prompt_token_count"),
        output_tokens=thoughts + count(*generated, "eval_count"),
        cached_tokens=read
        or count("cached_tokens", "cache_read", of=prompt)
        or count("cached_content_token_count"),
        reasoning_tokens=thoughts or count(*reasoning, of=completion),
        written_tokens=written or count("cache_creation", of=prompt),
    )


def value_of(thing: Any, *names: str) -> Any:
    """Return the first of these that a mapping or an object has and that is not None."""
    for name in names:
        found = thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
        if found is not None:
            return found
    return None
