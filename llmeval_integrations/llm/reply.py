"""A model's reply, read from the formats of all vendors."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.llm.messages import Output, Request

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
"""The words of vendors for the end of a reply."""

_KINDS: Final = {
    "prompt": "prompt_tokens prompt_token_count prompt_eval_count",
    "input": "input_tokens inputTokens",
    "output": "completion_tokens output_tokens outputTokens candidates_token_count eval_count",
    "read": "cache_read_input_tokens cacheReadInputTokens",
    "written": "cache_creation_input_tokens cacheWriteInputTokens",
    "cached": "cached_tokens cache_read cached_content_token_count",
    "cache_creation": "cache_creation",
    "five_minutes": "ephemeral_5m_input_tokens",  # LangChain's, in the place of cache_creation
    "hour": "ephemeral_1h_input_tokens",
    "thoughts": "thoughts_token_count",
    "tools": "tool_use_prompt_token_count",
}
"""The kinds of counts, by the names that vendors and LangChain give them.

The prompt includes tokens of the vendor's cache, the input does not: they are read or written.
The output includes the reasoning, but not thoughts.
"""

_FINISH: Final = {word: finish for finish, words in _FINISHES.items() for word in words.split()}
_REASONS: Final = ("finish_reason", "stop_reason", "done_reason", "stopReason", "status")
_MODELS: Final = ("model_name", "model", "model_id")
_COUNTS: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}

_NAMES = r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|scratchpad|reflection)"

_TAG: Final = re.compile(
    rf"(?:<|&lt;)\|?(?P<xml>/?){_NAMES}(?:\s[^<>&]{{0,80}})?\|?(?:>|&gt;)"
    r"|\[(?P<square>/?)THINK\]|◁(?P<shape>/?)think▷"
    r"|<\|(?:(?:begin|(?P<pipes>end))_of_thought|START_THINKING|(?P<END>END_THINKING))\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary|(?P<final>final))\b[^\n]{0,80}?<\|message\|>"
    r"|<(?:\|channel|unused94)>\s{0,9}thoughts?\b|(?P<other><(?:channel\||unused95)>)",
    re.IGNORECASE,
)
"""The tags and channels that begin or end the reasoning of several models; a group marks an end."""


class Usage(msgspec.Struct, frozen=True):
    """Tokens, counted the same way for every vendor."""

    input_tokens: int = 0  # of the prompt, including those in the vendor's cache
    output_tokens: int = 0  # generated, including those of the model's reasoning
    cached_tokens: int = 0  # of the prompt, which the vendor had cached
    written_tokens: int = 0  # of the prompt, which the vendor wrote to its cache, maybe for more

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens


class Reply(msgspec.Struct, frozen=True):
    """One answer of a model."""

    text: str  # if functions were called, the arguments of the calls as JSON
    finish: Finish = "stop"  # why it ended; "refused" by the model or a filter
    usage: Usage = Usage()
    model: str = ""  # the server's name for the model that answered
    output: Output = "text"  # how the form of the answer was requested
    cached: bool = False  # whether it comes from our cache and cost nothing
    cost: float | None = None  # US dollars that were paid for it; None if they are not known
    fence: str = ""  # the random mark in the request, which the model may have repeated

    def __post_init__(self) -> None:
        """Raise TypeError for values of another type, which a faulty server may send."""
        if not (isinstance(self.text, str) and isinstance(self.model, str)):
            raise TypeError(f"text={quote(self.text)} and model={quote(self.model)} are not texts")

    def serve(self, request: Request, *, cached: bool) -> Reply:
        """Return the reply to an equal request, with the mark of that request in the text."""
        text = self.text.replace(self.fence, request.fence) if self.fence else self.text
        return msgspec.structs.replace(self, text=text, fence=request.fence, cached=cached)


def read_reply(response: Any) -> Reply:
    """Read a response of any vendor or framework, as JSON or as an object.

    Raises TypeError or ValueError for anything else.
    """
    if isinstance(response, str):  # from a model that completes text
        return Reply(response)
    raw = value_of(response, "raw") or response  # LlamaIndex keeps the vendor's response
    about = value_of(response, "response_metadata")  # LangChain keeps a part of it
    choice = next(iter(value_of(raw, "choices", "candidates") or ()), None)  # OpenAI, Google
    inner = value_of(choice, "message", "content")
    message = value_of(response, "message") or inner or response
    content = value_of(message, "content", "parts")
    blocks = content if isinstance(content, (list, tuple)) else ()
    calls, refusal = _calls(message, blocks), _refusal(raw, message, inner, *blocks)
    reasons = (value_of(place, *_REASONS) for place in (about, choice, raw))
    reason = value_of(value_of(about, "incomplete_details"), "reason")
    reason = reason or next(filter(None, reasons), None)
    is_none = content is None and not (inner or calls or refusal or reason)
    if is_none or not isinstance(content, (str, list, tuple, type(None))):
        raise ValueError("no reply")
    word = str(value_of(reason, "value") or reason or "stop").rpartition(".")[2].lower()
    finish = "refused" if refusal else _FINISH.get(word, "other")
    said = content if isinstance(content, str) else "".join(map(_text, blocks))
    text = refusal or "\n\n".join(calls) or said
    if finish == "refused" and not text:
        text = value_of(choice, "finish_message") or value_of(reason, "value") or str(reason)
    usage = value_of(raw, "usage", "usage_metadata") or value_of(about, "token_usage")
    usage = usage_of(usage or value_of(response, "additional_kwargs") or raw)
    model = value_of(raw, "model", "model_version") or value_of(about, *_MODELS)
    return Reply(text, finish, usage, model or "")


def _text(block: Any) -> str:
    """Return the text of a part of a message; reasoning has none."""
    if isinstance(block, str):
        return block
    is_text = value_of(block, "type") in (None, "text", "output_text")
    return (value_of(block, "text") or "") if is_text and not value_of(block, "thought") else ""


def _calls(message: Any, blocks: Iterable[Any]) -> list[str]:
    """List the arguments of the functions that were called; different calls may disagree.

    Calls that the server itself made and answered, such as a search of the web, are not among them.
    """
    names = ("tool_calls", "invalid_tool_calls")
    calls = [call for name in names for call in value_of(message, name) or ()]
    found = [value_of(value_of(call, "function") or call, "arguments", "args") for call in calls]
    if not calls:  # Google's and Anthropic's stand among the parts
        own = (each for each in blocks if value_of(each, "type") in (None, "tool_use"))
        inner = (value_of(block, "function_call") or block for block in own)
        found = [value_of(each, "args", "input") for each in inner]
    texts = dict.fromkeys(
        each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        for each in found
        if each is not None
    )
    return [*texts]


def _refusal(raw: Any, message: Any, *others: Any) -> Any:
    """Return the text of a refusal, for which each interface has its own place."""
    extras = value_of(message, "additional_kwargs"), value_of(message, "provider_specific_fields")
    refusals = (value_of(place, "refusal") for place in (message, *extras, *others))
    blocked = value_of(value_of(raw, "prompt_feedback"), "block_reason")  # Google's
    found = next(filter(None, refusals), None) or value_of(blocked, "value")
    return found or value_of(value_of(raw, "stop_details"), "explanation")  # Anthropic's


def usage_of(account: Any) -> Usage:
    """Read the token counts of a vendor or LangChain from a mapping or an object."""
    counts: Counter[str] = Counter()
    _add_counts(account, counts)
    prompt = counts["prompt"] or counts["input"] + counts["read"] + counts["written"]
    return Usage(
        input_tokens=prompt + counts["tools"],
        output_tokens=counts["output"] + counts["thoughts"],
        cached_tokens=counts["read"] or counts["cached"],
        written_tokens=counts["written"]
        or counts["cache_creation"] + counts["five_minutes"] + counts["hour"],
    )


def _add_counts(account: Any, counts: Counter[str]) -> None:
    """Add the numbers of a mapping or an object by their kinds, with those in its details."""
    members = account if isinstance(account, Mapping) else getattr(account, "__dict__", {})
    for name, value in members.items():
        if isinstance(value, int) and name in _COUNTS:
            counts[_COUNTS[name]] = max(value, 0)
        elif value is not None and name.endswith("_details"):
            _add_counts(value, counts)


def value_of(thing: Any, *names: str) -> Any:
    """Return the first of these members of a mapping or an object that is not None."""
    if thing is None:
        return None
    is_mapping = isinstance(thing, (dict, Mapping))  # faster for a dict
    for name in names:
        found = thing.get(name) if is_mapping else getattr(thing, name, None)
        if found is not None:
            return found
    return None


def strip_reasoning(reply: str, decides: Callable[[str], bool] = lambda _: False) -> str:
    """Return a reply without its reasoning; a JSON reply is returned unchanged.

    A closing tag without an opening one ends reasoning that began with the reply, since some
    templates put the opening tag into the prompt. If `decides` finds an answer before the closing
    tag, the tag is a quotation from the judged text and ends nothing.
    """
    if not _TAG.search(reply) or not isinstance(json_text.parse(reply), Defect):
        return reply
    pieces: list[str] = []
    position, inside, decided = 0, False, False
    for tag in _TAG.finditer(reply):
        if not any(tag.groups()):
            if not inside:
                pieces.append(reply[position : tag.start()])
            inside = True
            continue
        if not inside:
            decided = decided or decides("\n".join([*pieces, reply[position : tag.start()]]))
            if decided:
                continue
            pieces.clear()
        position, inside = tag.end(), False
    if not inside:
        pieces.append(reply[position:])
    return "\n".join(pieces).strip()
