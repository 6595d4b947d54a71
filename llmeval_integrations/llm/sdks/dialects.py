"""What vendors call the same thing: why a reply ended, and how many tokens it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.llm.reply import Finish, Usage

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
    account = _held(account)
    prompt = value_of(account, "prompt_tokens_details", "input_tokens_details")
    completion = value_of(account, "completion_tokens_details", "output_tokens_details")
    thoughts = _count(account, "thoughts_token_count")
    read = _count(account, "cache_read_input_tokens", "cacheReadInputTokens")
    written = _count(account, "cache_creation_input_tokens", "cacheWriteInputTokens")
    inclusive = _count(account, "prompt_tokens", "prompt_token_count", "prompt_eval_count")
    exclusive = _count(account, "input_tokens", "inputTokens") + read + written
    return Usage(
        input_tokens=(inclusive or exclusive) + _count(account, "tool_use_prompt_token_count"),
        output_tokens=thoughts
        + _count(
            account,
            "completion_tokens",
            "output_tokens",
            "outputTokens",
            "candidates_token_count",
            "eval_count",
        ),
        cached_tokens=read
        or _count(prompt, "cached_tokens")
        or _count(account, "cached_content_token_count"),
        reasoning_tokens=thoughts or _count(completion, "reasoning_tokens", "thinking_tokens"),
        written_tokens=written,
    )


def _held(account: Any) -> Any:
    """Return the values of a pydantic model, which is slow to say that it has no such attribute."""
    if not hasattr(type(account), "model_fields"):
        return account
    return {**vars(account), **(account.model_extra or {})}


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
