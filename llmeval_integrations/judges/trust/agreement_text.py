"""An agreement as a table of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.quoting import shorten

if TYPE_CHECKING:
    from llmeval_integrations.judges.trust.agreement import Agreement

_MOST_LABELS: Final = 12
_LONGEST_LABEL: Final = 16
_CORNER: Final = "person \\ judge"


def as_text(agreement: Agreement) -> str:
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
    text = str(label)
    text = text if text.isprintable() else ascii(text)
    return shorten(text, _LONGEST_LABEL)


def _figures(agreement: Agreement) -> list[str]:
    lines = []
    for name, share in agreement.shares.items():
        interval = share.interval(agreement.level)
        counts = f"{share.part:,} of {share.whole:,}" if interval else ""
        lines.append(_line(name, share.rate, interval, counts))
    lines.insert(1, _line("kappa", agreement.kappa, None, ""))
    rate = agreement.corrected
    return [*lines, _line("corrected", rate.rate, rate.interval, rate.reason or "")]


def _line(name: str, rate: float | None, interval: tuple[float, float] | None, rest: str) -> str:
    figure = "-" if rate is None else f"{rate:.3f}"
    bounds = f"{interval[0]:.3f} to {interval[1]:.3f}" if interval else ""
    return f"{name:<14}  {figure:>6}  {bounds:<14}  {rest}"


def _counts(agreement: Agreement) -> str:
    return (
        f"{agreement.n:,} rows compared, {agreement.unscored:,} unscored, "
        f"{agreement.unlabelled:,} without a label; intervals of {100 * agreement.level:g} %"
    )
