"""A result as a tree that a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.json_value import canonical
from llmeval_integrations.printable import printable
from llmeval_integrations.result import Result
from llmeval_integrations.sample import MISSING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

_LONGEST: Final = 200
_MOST_IN_A_FIELD: Final = 20
_STYLES: Final = {
    "match": "green",
    "mismatch": "red",
    "wrong_type": "red",
    "missing": "yellow",
    "extra": "magenta",
}


def explain(result: Result, console: Console | None = None) -> None:
    """Print a result as a tree: with colours in a terminal, as HTML in a notebook.

    Of JsonFields that is every field with how many of its leaves match, and under it those that
    do not, with both values; of JsonMatch each difference; of any other evaluator its reason.
    """
    from rich import get_console

    (console or get_console()).print(tree_of(result))


def tree_of(result: Result) -> Tree:
    """Give the tree that `explain` prints."""
    from rich.tree import Tree

    root = Tree(_line(_head(result), "bold green" if result.passed else "bold red"))
    if result.reason:
        root.add(_line(result.reason))
    outcomes = result.metadata.get("outcomes", result.metadata.get("differences", ()))
    counts: Mapping[str, Mapping[str, int]] = result.metadata.get("fields", {})
    by_field: dict[str, list[Mapping[str, Any]]] = {path: [] for path in counts}
    for outcome in outcomes:
        by_field.setdefault(outcome.get("field", outcome["path"]), []).append(outcome)
    branches: dict[str, Tree] = {"": root}
    for path, found in by_field.items():
        branch = _branch(branches, path)
        if branch is not root:
            branch.label = _label(path, counts.get(path, {}))
        _add_leaves(branch, found)
    return root


def _head(result: Result) -> str:
    state = {True: "passed", False: "failed", None: "no verdict"}[result.passed]
    state = state if result.scored else "unscored"
    score = result.score
    figure = f", score {score:.4g}" if isinstance(score, float) else f", score {score}"
    return f"{state}{figure if result.scored else ''}" + (
        f" ({result.label})" if result.label else ""
    )


def _branch(branches: dict[str, Tree], path: str) -> Tree:
    """Give the branch of a field, with those above it."""
    if path not in branches:
        above, _, name = path.rpartition("/")
        branches[path] = _branch(branches, above).add(_line(name))
    return branches[path]


def _label(path: str, counts: Mapping[str, int]) -> Any:
    from rich.text import Text

    label = Text(printable(path.rpartition("/")[2]))
    for kind, count in counts.items():
        label.append(f"  {count} {kind}", _STYLES.get(kind, ""))
    return label


def _add_leaves(branch: Tree, outcomes: Iterable[Mapping[str, Any]]) -> None:
    outcomes = list(outcomes)
    for outcome in outcomes[:_MOST_IN_A_FIELD]:
        branch.add(_leaf(outcome))
    if len(outcomes) > _MOST_IN_A_FIELD:
        branch.add(_line(f"and {len(outcomes) - _MOST_IN_A_FIELD} more"))


def _leaf(outcome: Mapping[str, Any]) -> Any:
    from rich.text import Text

    kind = outcome["kind"]
    line = Text(f"{printable(outcome['path'] or '(the whole)')}  ")
    line.append(kind, _STYLES.get(kind, ""))
    for name, word in (("output", ""), ("reference", "expected ")):
        value = outcome.get(name, MISSING)
        if value is not MISSING:
            line.append(f"  {word}{_shown(value)}")
    if "score" in outcome:
        line.append(f"  score {outcome['score']:.3g}", "dim")
    return line


def _shown(value: Any) -> str:
    text = printable(canonical(value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _line(text: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(printable(text), style)
