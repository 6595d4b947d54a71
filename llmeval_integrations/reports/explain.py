"""A result as a tree that a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich import get_console
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.feedback import RIGHT
from llmeval_integrations.core.figures import format_figure, format_within
from llmeval_integrations.core.quote import make_printable, quote, shorten
from llmeval_integrations.core.result import Result
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.reports.outcomes import objects, outcomes_of
from llmeval_integrations.text.excerpt import cut_around_difference

_LONGEST: Final = 200
_STYLES: Final = {
    **dict.fromkeys(("right", "valid", *RIGHT), "green"),
    "missing": "yellow",
    "extra": "magenta",
    "open": "dim",
}
_WRONG: Final = "red"


def explain(result: Result, console: Console | None = None) -> None:
    """Print a result as a tree: with colours in a terminal, as HTML in a notebook.

    JsonFields lists every field, with the leaves that do not match. JsonGrounded lists each value,
    with how and where the source contains it. ToolCalls and ToolCallSchema list each call, with
    the errors in its arguments. Other evaluators list each difference or error, or the reason.
    Long values are cut. Raises InputError for anything but a Result.
    """
    if not isinstance(result, Result):
        raise InputError(
            f"expected a Result, got {quote(result)}; "
            "an evaluator returns one: explain(evaluator(output))"
        )
    state = {True: "passed", False: "failed", None: "no verdict"}[result.passed]
    state = "unscored" if result.is_unscored else state
    score = format_figure(result.score) if isinstance(result.score, float) else str(result.score)
    head = f"{state}, score {score}" if result.scored else state
    head = f"{head} ({result.label})" if result.label else head
    root = Tree(Text(make_printable(head), "bold green" if result.passed else "bold red"))
    if result.reason:
        root.add(Text(make_printable(result.reason)))
    metadata = result.metadata
    _add_fields(root, metadata)
    _add_leaves(root, metadata.get("errors"))
    for call in objects(metadata.get("calls")):
        branch = root.add(_call(call))
        _add_leaves(branch, objects(call.get("arguments")) or call.get("errors"))
    (console or get_console()).print(root)


def _add_fields(root: Tree, metadata: Mapping[str, Any]) -> None:
    """Add the fields of a document, and to each its leaves."""
    fields = metadata.get("fields")
    counts = fields if "outcomes" in metadata and isinstance(fields, Mapping) else {}
    leaves: dict[str, list[Mapping[str, Any]]] = {path: [] for path in counts}
    for each in objects(metadata.get("outcomes")) or objects(metadata.get("differences")):
        leaves.setdefault(str(each.get("field", "")), []).append(each)
    for path, found in leaves.items():
        branch = root
        if path:
            line = Text(make_printable(path))
            for kind, count in counts.get(path, {}).items():
                line.append(f"  {count} {kind}", _STYLES.get(kind, _WRONG))
            branch = root.add(line)
        _add_leaves(branch, found)


def _add_leaves(branch: Tree, found: Any) -> None:
    """Add the outcomes of places in a document."""
    for pointer, kind, entry in outcomes_of(found):
        texts = [canonical(entry[side]) for side in ("output", "reference") if side in entry]
        if len(texts) == 2:
            texts = [*cut_around_difference(texts[0], texts[1], _LONGEST - len("expected "))]
        if "reference" in entry:
            texts[-1] = f"expected {texts[-1]}"
        texts += [str(entry["message"])] if "message" in entry else []
        if isinstance(entry.get("place"), list):
            texts.append("source[{}:{}]".format(*entry["place"]))
        branch.add(_line(pointer or "(the whole)", kind, texts, entry.get("score")))


def _call(call: Mapping[str, Any]) -> Text:
    """Write the outcome of one call, whose `output` and `reference` are positions."""
    texts = [f"expected {call['expected_name']}"] if "expected_name" in call else []
    texts += [str(call["problem"])] if "problem" in call else []
    texts += [f"{side}[{call[side]}]" for side in ("output", "reference") if side in call]
    kind = str(call.get("kind", "valid" if call.get("valid") else "invalid"))
    name = shorten(str(call.get("name") or "(no name)"), _LONGEST)
    return _line(name, kind, texts, call.get("score"))


def _line(what: str, kind: str, texts: Iterable[str], score: Any) -> Text:
    """Write the place or the call, its outcome, further texts and the score."""
    line = Text(make_printable(f"{what}  "))
    line.append(make_printable(kind), _STYLES.get(kind, _WRONG))
    for text in texts:
        line.append(f"  {make_printable(shorten(text, _LONGEST))}")
    if isinstance(score, (int, float)):
        line.append(f"  score {format_within((0, 1), score, 'g', 3)}", "dim")
    return line
