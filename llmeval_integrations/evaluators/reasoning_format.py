"""Are thinking, answer and tool calls in their tags?"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

from llmeval_integrations.core.options import Text
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import TextEvaluator
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import invalidity, parse
from llmeval_integrations.tool_calls.text import (
    CALL,
    END_OF_CALL,
    END_OF_THOUGHT,
    THOUGHT,
    CallTags,
    raw_decode,
    skip_space,
)

_TAG: Final = re.compile("</?(?:think|answer)>")
_THOUGHT_TAG: Final = re.compile("</?think>")
_CALL_TAG: Final = re.compile(f"{CALL}|{END_OF_CALL}")
_NESTED: Final = re.compile(rf"{CALL}\s*{CALL}|{END_OF_CALL}\s*{END_OF_CALL}")


def _has_pair(text: str, name: str) -> bool:
    """Return whether an opening tag is followed by its closing tag somewhere.

    A text begins with its thinking and ends with its answer, so these places come first.
    """
    opening, end = f"<{name}>", text.rfind(f"</{name}>")
    return end >= 0 and (text.startswith(opening) or text.rfind(opening, 0, end) >= 0)


@dataclass(frozen=True)
class ReasoningFormat(TextEvaluator):
    """Does the output have its thinking and its answer in tags?

    Score: 1.0 if both pairs of tags are there, in any order, or else 0.0. Metadata:
    `has_think_tag`, `has_answer_tag`, `total_reward`, `think_token` and `answer_token`.
    """

    think_token: Text = "think"
    """The name of the thinking tag; not a regular expression."""

    answer_token: Text = "answer"
    """The name of the answer tag; not a regular expression."""

    def check_text(self, text: str, sample: Sample) -> Result:  # noqa: ARG002
        think, answer = _has_pair(text, self.think_token), _has_pair(text, self.answer_token)
        score = 1.0 if think and answer else 0.0
        pairs = (self.think_token, think), (self.answer_token, answer)
        missing = [f"Missing <{token}></{token}> tags" for token, found in pairs if not found]
        metadata = {
            "has_think_tag": think,
            "has_answer_tag": answer,
            "total_reward": score,
            "think_token": self.think_token,
            "answer_token": self.answer_token,
        }
        if not missing:
            return Result(score, True, None, "All format requirements met", metadata)
        label = "missing_tags" if len(missing) == 2 else f"missing_{'answer' if think else 'think'}"
        return Result(score, False, label, "; ".join(missing), metadata)


@dataclass(frozen=True)
class ReasoningToolCallFormat(TextEvaluator):
    """Does the output think first, then either answer or call tools, all in tags?

    Score: 1.0 or 0.0. A valid output has a `<think>` element, and then either one `<answer>`
    element or one or more `<tool_call>` elements, with only white space between them. Each
    `<tool_call>` contains a JSON object with `name` and `arguments`. A tag inside a JSON string
    does not count.

    Metadata: `has_think_tag`, `has_answer_tag`, `has_tool_call_tag`, `valid_format`,
    `valid_tool_call_json`, `tool_call_count` and `reward`.
    """

    def check_text(self, text: str, sample: Sample) -> Result:  # noqa: ARG002
        text = text.strip()
        think, calls = _has_pair(text, "think"), _read_calls(text)
        # Tags inside a well-formed call are data, even the tags of an answer.
        answer = _has_pair(text if calls.problem else text[: calls.start], "answer")
        called = calls.called > 0
        label, form = None, "<think></think> + <tool_call></tool_call> format"
        reason = f"Valid {form} with valid JSON"
        if not think:
            label, reason = "missing_think", "Missing <think></think> tags"
        elif answer == called:
            rule = "should have either <answer> or <tool_call> tags, not both or neither"
            label, reason = "invalid_combination", f"Invalid combination: {rule}"
        elif answer:
            label = None if _is_answered(text, calls.start) else "invalid_format"
            word = "Invalid" if label else "Valid"
            reason = f"{word} <think></think> + <answer></answer> format"
        elif calls.problem == "json":
            label, reason = "invalid_json", "Invalid JSON format in <tool_call> tags"
        elif calls.problem:
            label, reason = "invalid_format", f"Invalid {form}"
        score = 0.0 if label else 1.0
        metadata: dict[str, Any] = {
            "has_think_tag": think,
            "has_answer_tag": answer,
            "has_tool_call_tag": called,
            "valid_format": not label,
            "valid_tool_call_json": think and called and not answer and label != "invalid_json",
            "tool_call_count": calls.called,
            "reward": score,
        }
        return Result(score, not label, label, reason, metadata)


def _is_answered(text: str, start: int) -> bool:
    """Return whether the text is one thinking element and, from `start`, one answer element."""
    tags = Counter(_TAG.findall(text))
    expected = ("<answer>", "</answer>", THOUGHT, END_OF_THOUGHT)
    return (
        text.startswith("<answer>", start)
        and text.endswith("</answer>")
        and all(tags[tag] == 1 for tag in expected)
    )


def _end_of_thinking(text: str) -> int:
    """Return the position after the thinking and white space, or the end if there is none."""
    # Python finds one character 20 times as fast as the pattern.
    start = text.find("<", len(THOUGHT)) if text.startswith(THOUGHT) else -1
    tag = _THOUGHT_TAG.search(text, start) if start >= 0 else None
    return skip_space(text, tag.end()) if tag and tag[0] == END_OF_THOUGHT else len(text)


class _Calls(NamedTuple):
    """The tool calls at the end of a text: their start and number, and what is wrong with them."""

    start: int
    called: int
    problem: Literal["format", "json"] | None


def _read_calls(text: str) -> _Calls:
    """Read the calls from the thinking to the end of the text."""
    start = position = _end_of_thinking(text)
    tags, count, wrong = CallTags(text), 0, 0
    while text.startswith(CALL, position):
        content = position + len(CALL)
        end = text.find(END_OF_CALL, content)
        is_call = end >= 0 and _is_call(text[content:end])
        if not is_call:  # the tag may be part of a string
            end = tags.find_end(content)
            if end < 0 or not text.startswith(END_OF_CALL, end):
                break
            is_call = _is_call(text[content:end])
        count += 1
        wrong += not is_call
        position = skip_space(text, end + len(END_OF_CALL))
    nested = wrong and _NESTED.search(text, start)
    if not count or nested or position < len(text):
        # Some text is left that is not a call. Pairs of tags in it count as calls in the metadata.
        rest = pairwise(_CALL_TAG.findall(text, position if count else 0))
        return _Calls(start, count + sum(pair == (CALL, END_OF_CALL) for pair in rest), "format")
    return _Calls(start, count, "json" if wrong else None)


def _is_call(content: str) -> bool:
    """Return whether a tag's content is a JSON object with a tool's name and its arguments."""
    content = content.strip()
    if not (content.startswith("{") and content.endswith("}")):  # a fence is not allowed here
        return False
    value = parse(content)
    if type(value) is Defect and not invalidity(value):
        value = raw_decode(content)[0]  # reads a number out of range as infinite
    return isinstance(value, dict) and isinstance(value.get("name"), str) and "arguments" in value
