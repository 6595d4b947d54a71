"""A pass rate, corrected for the errors of the judge that measured it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from llmeval_integrations.stats.intervals import Interval, Share, z_of


@dataclass(frozen=True)
class CorrectedRate:
    """The share of outputs that a person would pass, told from a judge's verdicts."""

    rate: float | None
    """From 0 to 1; None where the judge's errors cannot be corrected."""

    interval: Interval | None
    """Where it lies with the probability `level`; None with the rate."""

    level: float
    """The probability of the interval, such as 0.95."""

    judged: Share
    """What the judge passed, out of what it scored."""

    reason: str | None = None
    """Why there is no rate."""

    def __str__(self) -> str:
        if self.rate is None or self.interval is None:
            return f"no corrected pass rate: {self.reason}"
        low, high = self.interval
        return (
            f"{self.rate:.3f}, {100 * self.level:g} % interval {low:.3f} to {high:.3f} "
            f"(the judge passed {self.judged.part:,} of {self.judged.whole:,})"
        )


def corrected(
    judged: Share, sensitivity: Share, specificity: Share, *, shared: int, level: float
) -> CorrectedRate:
    """Correct the judge's pass rate by Rogan and Gladen, Am. J. Epidemiol. 107 (1978) 71.

    rate = (judged + specificity - 1) / (sensitivity + specificity - 1), clipped to 0..1.
    `shared` is how many of the labelled rows are among the judged ones: all or none. The interval
    holds the true rate about as often as `level` says or more, save where one of the two labels is
    rare: with one or two labelled rows of a kind, a 95 % interval is right in 88 to 93 % of cases.
    """
    reason = _obstacle(judged, sensitivity, specificity)
    if reason is not None:
        return CorrectedRate(None, None, level, judged, reason)
    false_passes = sensitivity.whole * (specificity.whole - specificity.part)
    above = judged.part * sensitivity.whole * specificity.whole - judged.whole * false_passes
    rate = min(1.0, max(0.0, above / (judged.whole * _youden(sensitivity, specificity))))
    if shared == judged.whole:  # every row has a label, and the rate is what a person passed
        low, high = Share(sensitivity.whole, shared).interval(level) or (0.0, 1.0)
    else:
        low, high = _lang_reiczigel(judged, sensitivity, specificity, shared, level)
    return CorrectedRate(rate, (min(low, rate), max(high, rate)), level, judged)


def _obstacle(judged: Share, sensitivity: Share, specificity: Share) -> str | None:
    if not judged.whole:
        return "no row was judged"
    for share, name, what in (
        (sensitivity, "sensitivity", "passed"),
        (specificity, "specificity", "failed"),
    ):
        if not share.whole:
            return f"no scored row was {what} by a person, so the {name} is unknown"
    if _youden(sensitivity, specificity) <= 0:
        return (
            "the judge does no better than chance: sensitivity "
            f"{sensitivity.rate:.3f} + specificity {specificity.rate:.3f} is not above 1"
        )
    return None


def _youden(sensitivity: Share, specificity: Share) -> int:
    """Return sensitivity + specificity - 1, times both sample sizes, and so in whole numbers.

    In floats, a sum of exactly 1 may be left as 1e-16, and something would be divided by it.
    """
    passed, failed = sensitivity.part * specificity.whole, specificity.part * sensitivity.whole
    return passed + failed - sensitivity.whole * specificity.whole


def _lang_reiczigel(
    judged: Share, sensitivity: Share, specificity: Share, shared: int, level: float
) -> Interval:
    """Return the interval of Lang and Reiczigel, Prev. Vet. Med. 113 (2014) 13.

    It takes the judged rows and both labelled samples as independent. Where labelled rows are
    among the judged ones, their errors partly cancel: twice the share of such rows is taken off
    the variance that stems from the labels, and at most all of it. That term is ours; the tests
    measure how often the interval is right with it and without.
    """
    z = z_of(level)
    n = judged.whole + z * z
    p = (judged.part + z * z / 2) / n
    se = (sensitivity.part + 1) / (sensitivity.whole + 2)
    sp = (specificity.part + 1) / (specificity.whole + 2)
    youden = se + sp - 1
    if youden <= 0:  # after smoothing, nothing tells this judge from chance
        return 0.0, 1.0
    rate = (p + sp - 1) / youden
    own = max(0.0, 1 - 2 * shared / judged.whole)
    of_se = own * rate * se * (1 - se) / (sensitivity.whole + 2)
    of_sp = own * (1 - rate) * sp * (1 - sp) / (specificity.whole + 2)
    variance = (p * (1 - p) / n + rate * of_se + (1 - rate) * of_sp) / youden**2
    center = rate + 2 * z * z * (of_se - of_sp)
    half = z * math.sqrt(variance)
    return min(1.0, max(0.0, center - half)), max(0.0, min(1.0, center + half))
