"""Describe what is wrong with an output, for the model that wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from llmeval_integrations.core.quote import shorten_middle

MAX_FEEDBACK: Final = 8_000
"""The longest feedback in characters: about 2,000 tokens, which fit into every prompt."""

_LONGEST_VALUE: Final = 500

RIGHT: Final = frozenset(
    ("match", "open", "exact", "date", "number", "words", "fuzzy", "paraphrase")
)
"""The kinds of leaves that are not wrong: leaves that match, or are found in a source."""

_OF_CALLS: Final = {
    "missing": "this call is missing",
    "extra": "this call should not be made",
    "wrong_order": "this call is in the wrong order",
    "wrong_arguments": "this call has wrong arguments",
}


def word_feedback(reason: str | None, metadata: Mapping[str, Any], most: int) -> str:
    """Return one line for each finding, and the number of those that do not fit."""
    lines = [*_word_findings(metadata)] or [reason or "it is not good enough"]
    if "message" in metadata and metadata.get("offset") is not None:  # of a defect
        lines = [f"it cannot be read as JSON: {reason}"]
    text = "The answer was not accepted:"
    for number, line in enumerate(lines):
        more = f"\n- and {len(lines) - number} more"
        if len(text) + len(line) + 3 + len(more) > most:
            return text + more
        text += f"\n- {line}"
    return text


def _word_findings(metadata: Mapping[str, Any]) -> Iterator[str]:
    yield from _word_errors(_details(metadata, "errors", "pointer", "message"))
    for name in ("differences", "outcomes"):
        for leaf in _details(metadata, name, "pointer", "kind"):
            if leaf["kind"] not in RIGHT:
                yield _word_leaf(leaf)
    for call in _details(metadata, "calls", "name"):
        yield from (f"{call['name'] or 'a call'}: {line}" for line in _word_call(call))
    parts = metadata.get("parts")
    for name, part in parts.items() if isinstance(parts, Mapping) else ():
        if isinstance(part, Mapping) and part.get("passed") is False:
            own = part.get("metadata")
            lines = [*_word_findings(own)] if isinstance(own, Mapping) else []
            lines = lines or [part.get("reason") or "not good enough"]
            yield from (f"{name}: {line}" for line in lines)


def _details(metadata: Mapping[str, Any], name: str, *members: str) -> list[Mapping[str, Any]]:
    """Return a list of our evaluators; users' own may have other details under the same name."""
    found = metadata.get(name)
    return [
        each
        for each in (found if isinstance(found, (list, tuple)) else ())
        if isinstance(each, Mapping) and all(member in each for member in members)
    ]


def _word_errors(errors: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for error in errors:
        yield f"{error['pointer'] or 'the whole'}: {error['message']}"


def _word_leaf(leaf: Mapping[str, Any]) -> str:
    where = leaf["pointer"] or "the whole"
    if leaf["kind"] == "missing":
        return f"{where}: missing, expected {_write(leaf['reference'])}"
    if leaf["kind"] == "extra":
        return f"{where}: {_write(leaf['output'])} should not be there"
    if leaf["kind"] == "ungrounded":
        return f"{where}: {_write(leaf['output'])} is not in the source"
    return f"{where}: {_write(leaf['output'])} is wrong, expected {_write(leaf['reference'])}"


def _word_call(call: Mapping[str, Any]) -> Iterator[str]:
    if "valid" in call:
        yield from _word_errors(_details(call, "errors", "pointer", "message"))
        return
    kind = call.get("kind", "right")
    if kind == "unreadable":
        yield str(call["problem"])
    elif kind == "wrong_name":
        yield f"the call should be of {call['expected_name']}"
    elif kind != "right":
        arguments = call.get("arguments", ())
        if kind != "wrong_arguments" or not arguments:
            yield _OF_CALLS[kind]
        yield from map(_word_leaf, arguments)


def _write(value: Any) -> str:
    return shorten_middle(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)
