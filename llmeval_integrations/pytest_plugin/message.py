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
        lines += [_short(name, result), *_details(result)]
    return "\n".join([*lines, "output:", *_indented(_text(sample.output))])


def short_message(bad: Mapping[str, Result]) -> str:
    """Say the same in a line."""
    return "; ".join(_short(name, result) for name, result in bad.items())


def _short(name: str, result: Result) -> str:
    state = result.label or ("failed" if result.scored else "unscored")
    if _lacks_verdict(result):
        gave = f"a score ({result.score})" if result.scored else f"an answer ({result.label})"
        state = f"gave {gave} and no verdict; use an evaluator with a threshold, such as threshold"
    text = f"{name}: {state}: {result.reason}" if result.reason else f"{name}: {state}"
    return one_line(text)[:LONGEST]


def _details(result: Result) -> list[str]:
    """Draw a result as a tree."""
    if _lacks_verdict(result):  # which a tree calls unscored
        return []
    first, more = _first_entries(result)
    console = plain_console(_WIDTH)
    with console.capture() as capture:
        explain(first, console)
    lines = _indented(capture.get())
    return [*lines, f"  and {more:,} more"] if more else lines


def _lacks_verdict(result: Result) -> bool:
    return not result.is_unscored and result.passed is None


def _first_entries(result: Result) -> tuple[Result, int]:
    """Keep of what a result lists the first, with their fields, and count the others."""
    name = next((name for name in _LISTS if objects(result.metadata.get(name))), "")
    listed = objects(result.metadata.get(name))
    first = listed[:_MOST_ENTRIES]
    metadata: dict[str, Any] = {name: first}
    if name == "outcomes":
        fields = result.metadata.get("fields", {})
        named = {outcome.get("field") for outcome in first}
        metadata["fields"] = {path: fields[path] for path in fields if path in named}
    return msgspec.structs.replace(result, metadata=metadata), len(listed) - len(first)


def _indented(text: str) -> list[str]:
    lines = [f"  {line}".rstrip() for line in text.rstrip().split("\n")]
    more = len(lines) - _MOST_LINES
    return lines if more <= 0 else [*lines[:_MOST_LINES], f"  ... ({more:,} lines more)"]


def _text(output: Any) -> str:
    text = output if isinstance(output, str) else quote(output)
    lines = "\n".join(map(make_printable, text[:LONGEST].split("\n")))
    return lines if len(text) <= LONGEST else f"{lines} ... ({len(text):,} characters)"
