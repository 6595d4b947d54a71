"""The figures of leaves, tools and fields of a run, as sections of cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from llmeval_integrations.core.quote import OTHER
from llmeval_integrations.reports.tables import rows_of
from llmeval_integrations.reports.view import Column, Row, Section, alarm
from llmeval_integrations.runs.cells import text_of
from llmeval_integrations.runs.load import read_texts
from llmeval_integrations.runs.numbers import percent
from llmeval_integrations.runs.run import Run
from llmeval_integrations.text.excerpt import cut_around_difference

_MOST_VALUES: Final = 3
_LONGEST_VALUE: Final = 40
_MOST_SOURCES: Final = 200
"""The most sources whose numbers are counted; each takes about a millisecond."""

_FEWEST_SOURCES: Final = 10
"""With fewer sources nobody can tell which numbers are common."""

_OF_FIELDS: Final = (
    "wrong: the samples in which the field is wrong, out of those that have it and whose output is "
    "readable."
)
_OF_SHARES: Final = "Precision and recall count the single values of all outputs."
_OF_ORIGINS: Final = (
    "Invented: wrong values that are not in the source. Misread: wrong values that are in it."
)
_OF_LEAVES: Final = "F1 counts every leaf of the run once, macro F1 is the mean of the samples."
_OF_COMMON: Final = "By chance: values that many sources contain, so finding them proves little."
_ALL: Final = "llmeval export RUN --table fields --to csv"
_FIELD: Final = Column("field", "name", lambda name: name or "(the whole)", "name")


def field_sections(run: Run, evaluators: Sequence[Row]) -> Iterator[Section]:
    """Yield the figures of all leaves, of each tool, of values in their sources, of each field."""
    columns = [Column("evaluator", "name", kind="name"), *_shares()]
    columns.append(Column("macro F1", "macro", percent, rank=1))
    leaves = (
        {**each["micro"], "name": each["name"], "macro": each["macro"]["f1"]}
        for each in evaluators
        if each.get("micro") and each["micro"]["precision"] is not None
    )
    yield Section.of("leaves", "Leaves", columns, leaves, note=_OF_LEAVES, few=50, most=50)
    counts = (Column(key, key, rank=1) for key in ("called", "expected", "right"))
    columns = [Column("tool", "name", kind="name"), *counts, *_shares()]
    tools = sorted(
        _parts(evaluators, "tools"),
        key=lambda tool: 2 * tool["right"] - tool["called"] - tool["expected"],
    )
    yield Section.of("tools", "Tools", columns, tools, noun="tool")
    yield from (_list_grounding(run, each) for each in evaluators if "grounding" in each)
    yield _rank_fields([each for each in _parts(evaluators, "fields") if each["leaves"]])


def _shares(rank: int = 0, note: str = "") -> list[Column]:
    shares = [Column(key, key, percent, rank=rank) for key in ("precision", "recall")]
    return [*shares, Column("F1", "f1", percent, rank=rank, note=note)]


def _parts(evaluators: Sequence[Row], key: str) -> Iterator[dict[str, Any]]:
    for each in evaluators:
        for name, figures in each.get(key, {}).items():
            yield {**figures, "name": name, "evaluator": each["name"]}


def _list_grounding(run: Run, figures: Row) -> Section:
    """Show for each field how many of its values are in the sources."""
    columns = [
        _FIELD,
        Column("not in the source", "ungrounded", tone=alarm),
        Column("of", "judged"),
        Column("found", "share", percent, rank=1),
        Column("by chance", "common", percent, rank=2, optional=True, note=_OF_COMMON),
    ]
    rows = [
        {**each, "judged": judged}
        for each in _parts([figures], "grounding")
        if (judged := each["grounded"] + each["ungrounded"])
    ]
    if not any(each["common"] for each in rows):
        found = _count_common(run, figures["name"])
        for each in rows:
            each["common"] = found[each["name"]] / max(each["grounded"], 1) or None
    return Section.of("grounding", "Values in their sources", columns, rows, noun="field")


def _count_common(run: Run, evaluator: str) -> Counter[str]:
    """Count, by field, the grounded values that many sources of the run contain."""
    from llmeval_integrations.evaluators.json_grounded import texts_of  # takes 14 ms to import
    from llmeval_integrations.text.sources import common_numbers, normalize

    sources = set()
    for _, sample in islice(read_texts(run, evaluator), _MOST_SOURCES):
        contexts = sample.get("contexts") or ()
        parts = [sample.get("input"), *([contexts] if isinstance(contexts, str) else contexts)]
        sources.add("\n\n".join(text for part in parts if part for text in texts_of(part, "")))
    if len(sources) < _FEWEST_SOURCES:
        return Counter()
    common = frozenset(map(normalize, common_numbers(sources)))
    return Counter(
        each["field"]
        for row in rows_of(run)
        if row.evaluator == evaluator
        for each in row.metadata.get("outcomes", ())
        if "place" in each and normalize(each["output"]) in common
    )


def _rank_fields(fields: Sequence[Row]) -> Section:
    """Rank fields by their wrong samples, then by the share of these, then by wrong leaves."""
    columns = [
        _FIELD,
        Column("evaluator", "evaluator", kind="name", rank=5, optional=True),
        Column("wrong", "wrong_samples", tone=alarm),
        Column("of", "samples"),
        Column("share", "wrong_share", percent, rank=4),
        *_shares(3, _OF_SHARES),
        *(
            Column(kind.replace("_", " "), kind, rank=5, optional=True)
            for kind in ("mismatch", "wrong_type", "missing", "extra")
        ),
        Column("invented", "invented", rank=1, optional=True, tone=alarm),
        Column("misread", "misread", rank=1, optional=True, note=_OF_ORIGINS),
        Column("most often wrong", "values", kind="text", rank=2),
    ]
    rows = sorted(map(_field, fields), key=lambda row: row["rank"])
    return Section.of(
        "fields", "Fields", columns, rows, noun="field", note=_OF_FIELDS, elsewhere=_ALL
    )


def _field(field: Row) -> dict[str, Any]:
    wrong, samples = field["wrong_samples"], field["samples"]
    leaves = field["leaves"] - field["match"] - field["unreadable"]
    examples = [text_of(each) for each in field["examples"]]
    return {
        **field,
        "missing": field["missing"] - field["unreadable"],
        "wrong_share": wrong / samples if samples else None,
        "values": [_value(each) for each in field["wrong_values"][:_MOST_VALUES]] or "",
        "link": {"evaluator": field["evaluator"], "sample": examples[0]} if examples else {},
        "rank": (field["name"] == OTHER, -wrong, -wrong / max(samples, 1), -leaves),
    }


def _value(found: Mapping[str, Any]) -> str:
    sides = cut_around_difference(found["output"], found["reference"], _LONGEST_VALUE)
    times = f" ({found['count']:,} times)" if found["count"] > 1 else ""
    return f"{' for '.join(sides)}{times}"
