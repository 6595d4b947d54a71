"""What a run says of the leaves of documents and calls, as sections of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from llmeval_integrations.reports.entries import (
    SHARES,
    Entry,
    Parts,
    count_column,
    name_columns,
    share_column,
    tabulate,
)
from llmeval_integrations.reports.view import NOTHING, Cell, Column, Section
from llmeval_integrations.runs.numbers import figure, percent
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.summary import OTHER
from llmeval_integrations.text.excerpt import cut_around_difference

_MOST_FIELDS: Final = 200
_MOST_VALUES: Final = 3
_LONGEST_VALUE: Final = 40
_KINDS: Final = ("mismatch", "wrong_type", "missing", "extra")
_OF_FIELDS: Final = (
    "wrong: samples in which the field is wrong, of those with a readable output that have it. "
    "Precision and recall count leaves, which are single values, those of all outputs."
)
_OF_LEAVES: Final = "F1 counts every leaf of the run once, macro F1 is the mean of the samples."


def field_sections(evaluators: Sequence[Entry]) -> Iterator[Section]:
    """Yield the figures of all leaves, of each tool, and of each field."""
    leaves = [
        each._replace(figures={**each.figures["micro"], "macro": each.figures["macro"]["f1"]})
        for each in evaluators
        if each.figures.get("micro") and each.figures["micro"]["precision"] is not None
    ]
    parts = [*name_columns("evaluator"), *SHARES, *share_column("macro", "macro F1", rank=1)]
    yield Section("leaves", "Leaves", *tabulate(parts, leaves), _OF_LEAVES, "evaluator", 50, 50)
    tools = sorted(_parts_of(evaluators, "tools"), key=_wrong_calls)
    counts = [part for key in ("called", "expected", "right") for part in count_column(key, rank=1)]
    yield Section(
        "tools", "Tools", *tabulate([*name_columns("tool"), *counts, *SHARES], tools), noun="tool"
    )
    yield _fields([each for each in _parts_of(evaluators, "fields") if each.figures["leaves"]])


def _parts_of(evaluators: Sequence[Entry], key: str) -> Iterator[Entry]:
    """Yield the tools or fields of evaluators."""
    for each in evaluators:
        for name, figures in each.figures.get(key, {}).items():
            yield Entry(each.run, name, figures, each.evaluator)


def _wrong_calls(tool: Entry) -> int:
    counts = tool.figures
    return 2 * int(counts["right"]) - int(counts["called"]) - int(counts["expected"])


def _fields(fields: list[Entry]) -> Section:
    fields.sort(key=lambda field: (field.name == OTHER, _badness(field.figures)))
    one = len({field.evaluator for field in fields}) == 1
    parts: Parts = [
        (Column("field", "name"), _name),
        (Column("evaluator", "name", 5, True), lambda field: Cell("" if one else field.evaluator)),
        *name_columns("")[1:],
        (Column("wrong"), _wrong),
        *count_column("samples", "of"),
        (Column("share", rank=4), _wrong_share),
        *((replace(column, rank=3), read) for column, read in SHARES),
        *((Column(kind.replace("_", " "), rank=5, optional=True), _kind(kind)) for kind in _KINDS),
        (Column("most often wrong", "text", rank=2), _values),
    ]
    return Section(
        "fields",
        "Fields",
        *tabulate(parts, fields[:_MOST_FIELDS]),
        _OF_FIELDS,
        noun="field",
        left_out=max(len(fields) - _MOST_FIELDS, 0),
        elsewhere="llmeval export RUN --table fields --to csv",
    )


def _badness(figures: Mapping[str, Any]) -> tuple[float, ...]:
    """Rank fields by the samples in which they are wrong, then by that share, then by leaves."""
    wrong, samples = figures["wrong_samples"], figures["samples"]
    leaves = figures["leaves"] - figures["match"] - figures["unreadable"]
    return (-wrong, -(wrong / samples if samples else 0.0), -leaves)


def _name(field: Entry) -> Cell:
    examples = field.figures["examples"]
    found = {"evaluator": field.evaluator, "sample": text_of(examples[0])} if examples else {}
    if examples and field.run:
        found["run"] = field.run
    return Cell(field.name or "(the whole)", filter=found)


def _wrong(field: Entry) -> Cell:
    wrong = field.figures["wrong_samples"]
    return Cell(figure(wrong), "bad" if wrong else "quiet")


def _wrong_share(field: Entry) -> Cell:
    samples = field.figures["samples"]
    return Cell(percent(field.figures["wrong_samples"] / samples) if samples else NOTHING)


def _kind(kind: str) -> Callable[[Entry], Cell]:
    """Count the leaves of a kind, without those whose output is not JSON."""

    def read(field: Entry) -> Cell:
        unreadable = field.figures["unreadable"] if kind == "missing" else 0
        count = field.figures[kind] - unreadable
        return Cell(figure(count), "" if count else "quiet")

    return read


def _values(field: Entry) -> Cell:
    values = [*map(_value, field.figures["wrong_values"][:_MOST_VALUES])]
    return Cell(values[0] if values else "", others=values[1:])


def _value(found: Mapping[str, Any]) -> str:
    output, reference = cut_around_difference(found["output"], found["reference"], _LONGEST_VALUE)
    times = f" ({found['count']:,} times)" if found["count"] > 1 else ""
    return f"{output} for {reference}{times}"
