"""What a model replies, in the words of every vendor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import canonical
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

    def __post_init__(self) -> None:
        """Raise TypeError for what a server that keeps to no form may have put in these places."""
        if not (isinstance(self.text, str) and isinstance(self.model, str)):
            raise TypeError(f"text={quote(self.text)} and model={quote(self.model)} are not texts")


def text_or_calls(text: str, calls: Sequence[str]) -> str:
    """Return a reply's text; where functions were called, the arguments of the calls instead.

    Calls that are equal as JSON are one. Others are joined, for any of them may disagree.
    """
    if len(calls) < 2:
        return calls[0] if calls else text
    values = ((json_text.parse(call), call) for call in calls)
    return "\n\n".join(
        {
            call if isinstance(value, Defect) else canonical(value): call for value, call in values
        }.values()
    )


def finish_of(word: Any) -> Finish:
    """Say why a reply ended by a vendor's word for it; one that tells nothing ended by itself."""
    if word is None or word == "":
        return "stop"
    name = str(getattr(word, "value", word)).rpartition(".")[2]
    return _FINISH.get(name.lower(), "other")


def usage_of(account: Any) -> Usage:
    """Read a vendor's account of tokens, a mapping or an object; nothing is zero.

    Anthropic and Bedrock count what their cache wrote or read beside the input, the others in it;
    Google counts the thinking beside the output, the others in it.
    """
    prompt = value_of(account, "prompt_tokens_details", "input_tokens_details")
    completion = value_of(account, "completion_tokens_details", "output_tokens_details")
    thoughts = _count(account, "thoughts_token_count")
    read = _count(account, "cache_read_input_tokens", "cacheReadInputTokens")
    written = _count(account, "cache_creation_input_tokens", "cacheWriteInputTokens")
    inclusive = _count(account, "prompt_tokens", "prompt_token_count", "prompt_eval_count")
    exclusive = _count(account, "input_tokens", "inputTokens") + read + written
    generated = _count(
        account,
        *("completion_tokens", "output_tokens", "outputTokens"),
        *("candidates_token_count", "eval_count"),
    )
    return Usage(
        input_tokens=(inclusive or exclusive) + _count(account, "tool_use_prompt_token_count"),
        output_tokens=thoughts + generated,
        cached_tokens=read
        or _count(prompt, "cached_tokens")
        or _count(account, "cached_content_token_count"),
        reasoning_tokens=thoughts or _count(completion, "reasoning_tokens", "thinking_tokens"),
        written_tokens=written,
    )


def value_of(thing: Any, *names: str) -> Any:
    """Return the first of these that a mapping or an object has and that is not None."""
    for name in names:
        found = thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
        if found is not None:
            return found
    return None


def _count(thing: Any, *names: str) -> int:
    found = value_of(thing, *names)
    return max(found, 0) if isinstance(found, int) else 0
