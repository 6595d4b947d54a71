"""An agreement as a table of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.quoting import shorten
from llmeval_integrations.stats.intervals import Interval

if TYPE_CHECKING:
    from llmeval_integrations.judges.agreement import Agreement
    from llmeval_integrations.stats.agreement import Kappa

_MOST_LABELS: Final = 12
_CORNER: Final = "person \\ judge"


def render(agreement: Agreement) -> str:
    """Write the confusion table, then each figure with its interval and the counts behind it."""
    lines = [*_confusion(agreement), "", *_figures(agreement), "", _counts(agreement)]
    return "\n".join(line.rstrip() for line in lines)


def _confusion(agreement: Agreement) -> list[str]:
    labels = sorted({label for pair in agreement.confusion for label in pair}, key=str)
    if len(labels) > _MOST_LABELS:
        return [f"{len(labels)} labels, too many for a table"]
    names = [_name(label) for label in labels]
    widths = [max(6, len(name)) for name in names]
    first = max(map(len, [_CORNER, *names]))
    head = "  ".join(name.rjust(width) for name, width in zip(names, widths))
    lines = [f"{_CORNER:<{first}}  {head}"]
    for name, person in zip(names, labels):
        counts = [agreement.confusion.get((person, judge), 0) for judge in labels]
        cells = "  ".join(f"{count:>{width},}" for count, width in zip(counts, widths))
        lines.append(f"{name:<{first}}  {cells}")
    return lines


def _name(label: Any) -> str:
    if isinstance(label, bool):
        return "pass" if label else "fail"
    return shorten(str(label), 16)


def _figures(agreement: Agreement) -> list[str]:
    lines = []
    for name, share in agreement.shares.items():
        counts = f"{share.part:,} of {share.whole:,}" if share.whole else ""
        lines.append(_line(name, share.rate, share.interval, counts))
    lines.insert(1, _kappa("kappa", agreement.kappa))
    if agreement.mean_error is not None:
        lines.insert(2, _kappa("weighted kappa", agreement.weighted_kappa))
        lines.insert(3, _line("mean error", agreement.mean_error, None, ""))
    rate = agreement.corrected
    note = rate.reason or ("" if rate.rate is None else rate.method)
    lines.append(_line("corrected", rate.rate, rate.interval, note))
    if (people := agreement.people).whole:
        both = agreement.judge_and_person
        lines += [
            _line("people agree", people.rate, None, f"{people.part:,} of {people.whole:,} pairs"),
            _line("judge, person", both.rate, None, f"{both.part:,} of {both.whole:,} pairs"),
            _line("people's alpha", agreement.alpha, None, "Krippendorff"),
        ]
    return lines


def _kappa(name: str, found: Kappa | None) -> str:
    return _line(name, found and found.value, found and found.interval, "")


def _line(name: str, rate: float | None, interval: Interval | None, rest: str) -> str:
    figure = "-" if rate is None else f"{rate:.3f}"
    bounds = f"{interval[0]:.3f} to {interval[1]:.3f}" if interval else ""
    return f"{name:<14}  {figure:>6}  {bounds:<14}  {rest}"


def _counts(agreement: Agreement) -> str:
    tied = f", {agreement.tied:,} tied" if agreement.tied else ""
    return (
        f"{agreement.n:,} rows compared, {agreement.unscored:,} unscored, "
        f"{agreement.unlabelled:,} without a label{tied}; intervals of 95 %"
    )
