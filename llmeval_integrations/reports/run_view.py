"""One run, or several beside each other, as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from llmeval_integrations.core.figures import format_within
from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.reports.causes import Cause, describe_unreadable, rank_causes
from llmeval_integrations.reports.group_view import group_sections
from llmeval_integrations.reports.rows import names_of
from llmeval_integrations.reports.view import NOTHING, Bar, Cell, Column, Section, Tone, View
from llmeval_integrations.runs.numbers import counted, figure, percent, percents
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import OTHER
from llmeval_integrations.text.excerpt import cut_around_difference

Runs = Mapping[str, Run]
"""Runs by name."""

_GOOD: Final = 0.9
_FAIR: Final = 0.5
"""The rates from which a rate is green, and yellow."""

_MOST_FIELDS: Final = 200
_MOST_CAUSES: Final = 100
_MOST_LABELS: Final = 20
_LONGEST_REASON: Final = 200
_LONGEST_VALUE: Final = 40
_MOST_VALUES: Final = 3
_NO_COST: Final = (
    "A cost is not known where genai-prices (pip install 'llmeval-integrations[prices]') is "
    "missing or has no price of the model, and where a server told no tokens."
)
_OF_FIELDS: Final = (
    "wrong: samples in which the field is wrong, of those with a readable output that have it. "
    "Precision and recall count leaves, which are single values, those of all outputs."
)
_OF_LEAVES: Final = "F1 counts every leaf of the run once, macro F1 is the mean of the samples."
_JUDGING: Final = ("calls", "cached", "failed", "not_asked", "input_tokens", "output_tokens")


def view_of(runs: Runs) -> View:
    """Return what a report says of these runs."""
    causes = {name: rank_causes(run.findings) for name, run in runs.items()}
    sections = [
        _evaluators(runs),
        _causes(runs, causes),
        *group_sections(
            _names(runs),
            [(_name_cells(runs, name, who), each) for name, who, each in _figures(runs)],
        ),
        *_leaves(runs),
        _tools(runs),
        _fields(runs),
        _labels(runs),
        _judges(runs),
    ]
    return View(
        _title(runs),
        _verdict(runs, causes),
        [each.drop_empty() for each in sections if each.rows],
        [
            f"{name}: the run is incomplete: {run.incomplete}"
            for name, run in runs.items()
            if run.incomplete
        ]
        + [f"{name}: {warning}" for name, run in runs.items() for warning in run.warnings],
    )


def view_of_run(run: Run) -> View:
    """Return what a report says of one run."""
    return view_of({names_of([run])[0]: run})


def _title(runs: Runs) -> str:
    return ", ".join(
        f"{name}: {counted(run.summary['samples'], 'sample')}" for name, run in runs.items()
    )


def _verdict(runs: Runs, causes: Mapping[str, Sequence[Cause]]) -> Cell:
    """Say in a sentence how good the outputs are, and what is wrong most often."""
    rated = [
        (each["pass_rate"], evaluator, name, each["n"] - each["unscored"] - each["errors"])
        for name, run in runs.items()
        for evaluator, each in run.summary["evaluators"].items()
        if each["pass_rate"] is not None
    ]
    parts = []
    tone: Tone = ""
    if rated:
        rate, evaluator, name, count = min(rated, key=itemgetter(0))
        where = f" in {name}" if len(runs) > 1 else ""
        lowest = ", the lowest rate" if len(rated) > 1 else ""
        parts.append(
            f"{percent(rate)} of {counted(count, 'sample')} pass {evaluator}{where}{lowest}."
        )
        tone = _tone(rate)
    for name, found in causes.items():
        where = f" in {name}" if len(runs) > 1 else ""
        if unreadable := describe_unreadable(found):
            parts.append(f"{unreadable}{where}.")
    lost = [
        counted(total, noun)
        for key, noun in (("unscored", "unscored row"), ("errors", "error"))
        if (total := sum(each[key] for _, _, each in _figures(runs)))
    ]
    if lost:
        parts.append(f"{' and '.join(lost)} count in no rate.")
    return Cell(" ".join(parts) or "No evaluator gave a verdict.", tone)


def _tone(rate: float) -> Tone:
    return "good" if rate >= _GOOD else "warn" if rate >= _FAIR else "bad"


def _figures(runs: Runs) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield evaluators, each run by run: the run's name, its own, its figures."""
    names = dict.fromkeys(name for run in runs.values() for name in run.summary["evaluators"])
    for evaluator in names:
        for name, run in runs.items():
            if evaluator in run.summary["evaluators"]:
                yield name, evaluator, run.summary["evaluators"][evaluator]


def _names(runs: Runs) -> list[Column]:
    """Return the columns of an evaluator's name and of the run's, where there are several."""
    run = [Column("run", "name")] if len(runs) > 1 else []
    return [Column("evaluator", "name"), *run]


def _name_cells(runs: Runs, name: str, evaluator: str) -> list[Cell]:
    return [Cell(evaluator), *([Cell(name)] if len(runs) > 1 else [])]


def _evaluators(runs: Runs) -> Section:
    columns = [
        *_names(runs),
        Column("passed"),
        Column("95 % interval", rank=1),
        Column("mean score", rank=2),
        Column("scored", rank=3),
        Column("unscored", optional=True),
        Column("errors", optional=True),
    ]
    rows = [
        [*_name_cells(runs, name, evaluator), *_rate(each), *_counts(each)]
        for name, evaluator, each in _figures(runs)
    ]
    return Section("evaluators", "Evaluators", columns, rows, few=50, most=50, noun="evaluator")


def _rate(each: Mapping[str, Any]) -> Iterator[Cell]:
    rate, interval = each["pass_rate"], each["pass_rate_ci95"]
    if rate is None:
        yield from (Cell(NOTHING, "quiet"), Cell(NOTHING, "quiet"))
        return
    bar = Bar(rate, *interval) if interval else None  # rows of one group alone have none
    yield Cell(percent(rate), _tone(rate), bar=bar)
    yield Cell(percents(interval) if interval else NOTHING, "quiet")


def _counts(each: Mapping[str, Any]) -> Iterator[Cell]:
    mean = each["mean"]
    yield Cell(NOTHING if mean is None else _score(mean))
    yield Cell(figure(each["scored"]), "quiet")
    for name in ("unscored", "errors"):
        yield Cell(figure(each[name]), "bad" if each[name] else "quiet")


def _score(score: float) -> str:
    """Write a mean score with three decimals, or four digits where it is large."""
    return format_within((0, 1), score, "f", 3) if abs(score) < 10 else figure(score)


def _causes(runs: Runs, causes: Mapping[str, Sequence[Cause]]) -> Section:
    several = len(causes) > 1
    columns = [
        Column("cause", "text"),
        *([Column("run", "name")] if several else []),
        Column("samples"),
        Column("found by", "name", rank=1),
        Column("most often, or for example", "text", rank=2),
    ]
    ranked = sorted(
        ((name, each) for name, found in causes.items() for each in found),
        key=lambda pair: -pair[1].count,
    )
    rows = []
    for name, each in ranked[:_MOST_CAUSES]:
        link = {"label": each.label, **({"run": name} if several else {})}
        if not each.is_unreadable:
            link["evaluator"] = each.evaluators[0]
        what = f"{each.label}: {DEFECTS[each.label]}" if each.is_unreadable else each.label
        rows.append(
            [
                Cell(
                    f"error: {each.label}" if each.is_error else what,
                    "bad" if each.is_error else "",
                    filter=link if each.can_be_filtered else {},
                ),
                *([Cell(name)] if several else []),
                Cell(figure(each.count)),
                Cell(_by(each, runs[name]), "quiet"),
                Cell(_cut(each.reason), "quiet"),
            ]
        )
    left_out = len(ranked) - len(rows)
    return Section(
        "causes", "What went wrong", columns, rows, noun="cause", most=8, left_out=left_out
    )


def _by(cause: Cause, run: Run) -> str:
    count = len(cause.evaluators)
    is_all = 1 < count == len(run.summary["evaluators"])
    return f"all {count}" if is_all else ", ".join(cause.evaluators)


def _cut(text: str) -> str:
    """Show that a reason was cut, as a run's findings are."""
    return text if len(text) < _LONGEST_REASON else f"{text[: _LONGEST_REASON - 3]}..."


def _leaves(runs: Runs) -> Iterator[Section]:
    shares = [Column(head) for head in ("precision", "recall", "F1")]
    rows = [
        [
            *_name_cells(runs, name, evaluator),
            *_shares(each["micro"]),
            Cell(_share(each["macro"]["f1"])),
        ]
        for name, evaluator, each in _figures(runs)
        if each.get("micro") and each["micro"]["precision"] is not None
    ]
    columns = [*_names(runs), *shares, Column("macro F1", rank=1)]
    yield Section("leaves", "Leaves", columns, rows, _OF_LEAVES, few=50, most=50, noun="evaluator")


def _shares(figures: Mapping[str, Any]) -> list[Cell]:
    return [Cell(_share(figures[name])) for name in ("precision", "recall", "f1")]


def _share(value: float | None) -> str:
    return NOTHING if value is None else percent(value)


def _tools(runs: Runs) -> Section:
    columns = [
        Column("tool", "name"),
        *_names(runs)[1:],
        *(Column(head, rank=1) for head in ("called", "expected", "right")),
        *(Column(head) for head in ("precision", "recall", "F1")),
    ]
    rows = [
        [
            *_name_cells(runs, name, tool),
            *(Cell(figure(each[count])) for count in ("called", "expected", "right")),
            *_shares(each),
        ]
        for name, _, figures in _figures(runs)
        for tool, each in sorted(figures.get("tools", {}).items(), key=_wrong_calls)
    ]
    return Section("tools", "Tools", columns, rows, noun="tool")


def _wrong_calls(item: tuple[str, Mapping[str, Any]]) -> int:
    _, each = item
    return 2 * int(each["right"]) - int(each["called"]) - int(each["expected"])


def _fields(runs: Runs) -> Section:
    found = [
        (name, evaluator, path, each)
        for name, evaluator, figures in _figures(runs)
        for path, each in figures.get("fields", {}).items()
        if each["leaves"]
    ]
    found.sort(key=lambda field: (field[2] == OTHER, _badness(field[3])))
    columns = [
        Column("field", "name"),
        Column("evaluator", "name", rank=5, optional=True),
        *_names(runs)[1:],
        Column("wrong"),
        Column("of"),
        Column("share", rank=4),
        *(Column(head, rank=3) for head in ("precision", "recall", "F1")),
        *(
            Column(head, rank=5, optional=True)
            for head in ("mismatch", "wrong type", "missing", "extra")
        ),
        Column("most often wrong", "text", rank=2),
    ]
    one = len({evaluator for _, evaluator, _, _ in found}) == 1
    rows = [
        [
            Cell(path or "(the whole)", filter=_examples(each, evaluator, name, runs)),
            Cell("" if one else evaluator),
            *([Cell(name)] if len(runs) > 1 else []),
            *_field(each),
        ]
        for name, evaluator, path, each in found[:_MOST_FIELDS]
    ]
    return Section(
        "fields",
        "Fields",
        columns,
        rows,
        _OF_FIELDS,
        noun="field",
        left_out=len(found) - len(rows),
        elsewhere="llmeval export RUN --table fields --to csv",
    )


def _badness(each: Mapping[str, Any]) -> tuple[float, ...]:
    """Rank fields by the samples in which they are wrong, then by that share, then by leaves."""
    wrong, samples = each.get("wrong_samples", 0), each.get("samples", 0)
    leaves = each["leaves"] - each["match"] - each["unreadable"]
    return (-wrong, -(wrong / samples if samples else 0.0), -leaves)


def _examples(each: Mapping[str, Any], evaluator: str, name: str, runs: Runs) -> Mapping[str, str]:
    if not each["examples"]:
        return {}
    run = {"run": name} if len(runs) > 1 else {}
    return {"evaluator": evaluator, "sample": text_of(each["examples"][0]), **run}


def _field(each: Mapping[str, Any]) -> Iterator[Cell]:
    wrong, samples = each.get("wrong_samples"), each.get("samples")
    yield Cell(figure(wrong), "bad" if wrong else "quiet")
    yield Cell(figure(samples), "quiet")
    yield Cell(percent(wrong / samples) if wrong is not None and samples else NOTHING)
    yield from _shares(each)
    for kind in ("mismatch", "wrong_type", "missing", "extra"):
        count = each[kind] - (each["unreadable"] if kind == "missing" else 0)
        yield Cell(figure(count), "" if count else "quiet")
    values = [*map(_wrong_value, each["wrong_values"][:_MOST_VALUES])]
    yield Cell(values[0] if values else "", others=values[1:])


def _wrong_value(found: Mapping[str, Any]) -> str:
    output, reference = cut_around_difference(found["output"], found["reference"], _LONGEST_VALUE)
    times = f" ({found['count']:,} times)" if found["count"] > 1 else ""
    return f"{output} for {reference}{times}"


def _labels(runs: Runs) -> Section:
    """Count the labels of evaluators that only label, and give no verdict."""
    rows = []
    for name, evaluator, figures in _figures(runs):
        unanswered = figures["unscored"] + figures["errors"]
        if figures["pass_rate"] is not None or unanswered == figures["n"]:
            continue
        labels = list(figures["labels"].items())
        shown: list[tuple[str, int, Mapping[str, str]]] = [
            (label, count, {"evaluator": evaluator, "label": label})
            for label, count in labels[:_MOST_LABELS]
        ]
        if rest := [count for _, count in labels[_MOST_LABELS:]]:
            shown.append((f"and {counted(len(rest), 'label')} more", sum(rest), {}))
        rows += [
            [
                *_name_cells(runs, name, evaluator),
                Cell(label, filter=link),
                Cell(figure(count)),
                Cell(percent(count / figures["n"])),
            ]
            for label, count, link in shown
        ]
    columns = [*_names(runs), Column("label", "text"), Column("rows"), Column("share")]
    return Section("labels", "Labels", columns, rows, noun="label", few=21, most=21)


def _judges(runs: Runs) -> Section:
    taken = [(name, who, each["judge"]) for name, who, each in _figures(runs) if "judge" in each]
    for name, run in runs.items():
        if sum(1 for other, _, _ in taken if other == name) > 1:
            taken.append((name, "all", run.summary["judging"]))
    columns = [
        Column("judge", "name"),
        *_names(runs)[1:],
        Column("calls"),
        Column("cached", rank=1),
        Column("failed"),
        Column("not asked", optional=True),
        Column("input tokens", rank=2),
        Column("output tokens", rank=2),
        Column("cost"),
    ]
    rows = [
        [
            *_name_cells(runs, name, who),
            *(Cell(figure(each.get(key)), _of_judging(key, each)) for key in _JUDGING),
            Cell("not known" if each.get("cost") is None else f"${each['cost']:.4f}"),
        ]
        for name, who, each in taken
    ]
    is_known = all(each.get("cost") is not None for _, _, each in taken)
    note = "" if is_known else _NO_COST
    return Section("judges", "Judges", columns, rows, note, noun="judge", few=50, most=50)


def _of_judging(key: str, each: Mapping[str, Any]) -> Tone:
    return "bad" if key in {"failed", "not_asked"} and each.get(key) else ""
