"""What a test says of an output that does not pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from llmeval_integrations.core.printable import make_printable, one_line, plain_console
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.reports.differences import objects
from llmeval_integrations.reports.explain import explain

LONGEST: Final = 2_000
"""The most characters of a reason, and of an output."""

_WIDTH: Final = 100
_LISTS: Final = ("outcomes", "differences", "errors", "calls")
_MOST_ENTRIES: Final = 20
_MOST_LINES: Final = 100


def long_message(sample: Sample, bad: Mapping[str, Result]) -> str:
    """Say what does not pass, with what is wrong where, and the output."""
    lines: list[str] = []
    for name, result in bad.items():
        lines.append(_word(name, result))
        if result.is_unscored or result.passed is not None:
            lines += _draw(result)
    output = sample.output if isinstance(sample.output, str) else quote(sample.output)
    text = "\n".join(map(make_printable, output[:LONGEST].split("\n")))
    more = "" if len(output) <= LONGEST else f" ... ({len(output):,} characters)"
    return "\n".join([*lines, "output:", *_indent(text + more)])


def short_message(bad: Mapping[str, Result]) -> str:
    """Say the same in a line."""
    return "; ".join(_word(name, result) for name, result in bad.items())


def _word(name: str, result: Result) -> str:
    state = result.label or ("failed" if result.scored else "unscored")
    if not result.is_unscored and result.passed is None:
        gave = f"a score ({result.score})" if result.scored else f"an answer ({result.label})"
        state = f"gave {gave} and no verdict; use an evaluator with a threshold, such as threshold"
    text = f"{name}: {state}: {result.reason}" if result.reason else f"{name}: {state}"
    return one_line(text)[:LONGEST]


def _draw(result: Result) -> list[str]:
    """Draw a result as a tree, of what it lists the first."""
    name = next((name for name in _LISTS if objects(result.metadata.get(name))), "")
    listed = objects(result.metadata.get(name))
    first = listed[:_MOST_ENTRIES]
    metadata: dict[str, Any] = {name: first}
    if name == "outcomes":
        fields = result.metadata.get("fields", {})
        named = {outcome.get("field") for outcome in first}
        metadata["fields"] = {path: fields[path] for path in fields if path in named}
    console = plain_console(_WIDTH)
    with console.capture() as capture:
        explain(msgspec.structs.replace(result, metadata=metadata), console)
    lines = _indent(capture.get())
    more = len(listed) - len(first)
    return [*lines, f"  and {more:,} more"] if more else lines


def _indent(text: str) -> list[str]:
    lines = [f"  {line}".rstrip() for line in text.rstrip().split("\n")]
    more = len(lines) - _MOST_LINES
    return lines if more <= 0 else [*lines[:_MOST_LINES], f"  ... ({more:,} lines more)"]
