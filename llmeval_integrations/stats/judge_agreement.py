"""How far a judge agrees with people, and the pass rate that follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import fmean
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import quote, shorten
from llmeval_integrations.stats.agreement import (
    Kappa,
    Rating,
    kappa,
    krippendorff_alpha,
    pair_agreement,
)
from llmeval_integrations.stats.intervals import Interval, Rate, Share
from llmeval_integrations.stats.judged_rate import (
    JudgedRate,
    prediction_powered_rate,
    rogan_gladen_rate,
)
from llmeval_integrations.stats.labels import (
    LabelledRow,
    as_verdict,
    fold,
    list_rows,
    normalize,
    pair_labels,
    read_label,
    read_verdict,
)

_MOST_LABELS: Final = 12
_CORNER: Final = "person \\ judge"


@dataclass(frozen=True)
class Agreement:
    """A judge's verdicts beside people's labels; printed, it is a table.

    A figure is None if there are no rows to compute it from. Rates of passes are also None if the
    labels are not pass and fail and `positive` does not name the label that passes.
    """

    rows: Sequence[LabelledRow]
    """All rows. A label keeps the spelling of its first occurrence."""

    positive: Any
    """The label that passes."""

    n: int
    """The rows with both labels. Of several people's labels, the most frequent counts."""

    unscored: int
    """Rows with a person's label but no verdict of the judge; no figure includes them."""

    unlabelled: int
    """Rows without a person's label; they count only for the judge's pass rate."""

    tied: int
    """Rows whose most frequent labels are equally frequent; such a row has no label."""

    confusion: Mapping[tuple[Any, Any], int]
    """The number of rows for each pair of the person's label and the judge's."""

    shares: Mapping[str, Rate]
    """The rates by name, with intervals that respect the groups of a run's rows."""

    kappa: Kappa | None
    """Cohen's kappa with its interval; None if both give all rows the same label."""

    weighted_kappa: Kappa | None
    """Kappa weighted by the squared distance of ratings; None if labels are not numbers."""

    mean_error: float | None
    """The mean distance of the judge's ratings from the person's; None if not numbers."""

    alpha: float | None
    """Krippendorff's alpha among the people; None if no row has labels of two people."""

    people: Share
    """The share of pairs of people with the same row that agree: the ceiling for a judge."""

    judge_and_person: Share
    """The share of pairs of the judge and a person that agree; compare it with `people`."""

    corrected: JudgedRate
    """The rate at which a person would pass such outputs, from labels and verdicts together.

    The estimate is prediction-powered: the labelled rows must be a random draw from all rows.
    """

    def __str__(self) -> str:
        tied = f", {self.tied:,} tied" if self.tied else ""
        counts = (
            f"{self.n:,} rows compared, {self.unscored:,} unscored, "
            f"{self.unlabelled:,} without a label{tied}; intervals of 95 %"
        )
        lines = [*_confusion(self.confusion), "", *_figures(self), "", counts]
        return "\n".join(line.rstrip() for line in lines)

    @property
    def accuracy(self) -> float | None:
        """The share of rows in which both labels are the same."""
        return self.shares["accuracy"].rate

    @property
    def sensitivity(self) -> float | None:
        """The share of the rows passed by a person that the judge passes, too."""
        return self.shares["sensitivity"].rate

    @property
    def specificity(self) -> float | None:
        """The share of the rows failed by a person that the judge fails, too."""
        return self.shares["specificity"].rate

    def corrected_pass_rate(self, judged: Any) -> JudgedRate:
        """Correct the pass rate of other rows that the same judge judged.

        The correction is Rogan and Gladen's. None of the rows may be among the labelled ones. If
        part of a run is labelled, pass the whole run to `agreement`, with None for the other
        labels, and use `corrected`. Missing and unscored rows of `judged` are left out.
        """
        values = enumerate(map(normalize, list_rows("judged", judged)))
        given = [(row, value) for row, value in values if value is not None]
        if self.positive is None:
            return _no_rate(len(given))
        read: Any = read_verdict if self.positive is True else read_label
        labels = [fold(read(value, f"judged, row {row}")) for row, value in given]
        groups = (getattr(value, "group", None) for _, value in given)
        passes = [*zip(groups, (label == fold(self.positive) for label in labels))]
        known = _rows_by_share(self.rows, self.positive)
        return rogan_gladen_rate(passes, known["sensitivity"], known["specificity"])


def agreement(judged: Any, human: Any, *, positive: Any = None) -> Agreement:
    """Compare a judge's verdicts with people's labels of the same rows.

    judged: a run of one judge or its rows; or results, judgements, verdicts (True, "pass", 1) or
        labels, in a sequence or in a mapping by id. None is unscored, and never a fail.
    human: verdicts or labels, in the same order or by id. If several people labelled a row, give a
        list of their labels: the most frequent counts. None is a row that nobody labelled.
    positive: the label that passes, if the labels are not verdicts.

    The labelled rows should be a random draw. Labels are compared without regard to case and
    surrounding space. Ratings are numbers.

    Raises InputError if rows or ids do not match, or a value is neither a verdict nor a label.
    """
    rows, known = _read_rows(judged, human)
    if positive is None and known == {True: True}:
        positive = True
    if positive is not None and fold(positive) not in known:
        labels = ", ".join(sorted(map(quote, known.values())))
        raise InvalidOptionError(f"agreement: positive={quote(positive)} is none of {labels}")
    return _compare(rows, known.get(fold(positive)))


def _compare(rows: Sequence[LabelledRow], yes: Any) -> Agreement:
    """Return all figures; `yes` is the label that passes, None if there is none."""
    scored = [row for row in rows if row.judge is not None]
    labelled = [row for row in rows if row.people]
    ratings = _ratings(rows)
    pairs = [each[:2] for each in ratings]
    values: list[Any] = [label for pair in pairs for label in pair]
    are_numbers = bool(values) and all(
        isinstance(label, Real) and not isinstance(label, bool) for label in values
    )
    people = [row.people for row in rows]
    return Agreement(
        rows,
        yes,
        n=len(ratings),
        unscored=sum(row.judge is None for row in labelled),
        unlabelled=len(rows) - len(labelled),
        tied=sum(row.person is None for row in labelled),
        confusion=Counter(pairs),
        shares={name: Rate.of(each) for name, each in _rows_by_share(rows, yes).items()},
        kappa=kappa(ratings),
        weighted_kappa=kappa(ratings, numbers=True) if are_numbers else None,
        mean_error=fmean(abs(one - other) for one, other in pairs) if are_numbers else None,
        alpha=krippendorff_alpha(people, numbers=are_numbers),
        people=pair_agreement(people),
        judge_and_person=Share(
            sum(row.people.count(row.judge) for row in scored),
            sum(len(row.people) for row in scored),
        ),
        corrected=_corrected(scored, yes),
    )


def _read_rows(judged: Any, human: Any) -> tuple[list[LabelledRow], dict[Any, Any]]:
    """Return the rows with their labels read, and the spelling of each label."""
    rows = [row._replace(judge=normalize(row.judge)) for row in pair_labels(judged, human)]
    values = [value for row in rows for value in (row.judge, *row.people)]
    are_verdicts = all(
        each is None or hasattr(each, "passed") or as_verdict(each) is not None for each in values
    )
    read_value: Any = read_verdict if are_verdicts else read_label
    spelling: dict[Any, Any] = {}

    def read(value: Any, name: str, row: Hashable) -> Any:
        found = read_value(value, f"{name}, row {quote(row)}")
        return spelling.setdefault(fold(found), found)

    labelled = [
        row._replace(
            judge=None if row.judge is None else read(row.judge, "judged", row.row),
            people=tuple(read(value, "human", row.row) for value in row.people),
        )
        for row in rows
    ]
    return labelled, {True: True} if are_verdicts else spelling


def _ratings(rows: Sequence[LabelledRow]) -> list[Rating]:
    """Return the rows with both labels."""
    found = (Rating(row.person, row.judge, row.group) for row in rows if row.judge is not None)
    return [each for each in found if each.person is not None]


def _rows_by_share(rows: Sequence[LabelledRow], yes: Any) -> dict[str, list[tuple[Hashable, bool]]]:
    """Return the rows of each rate, as their group and whether they hold.

    `yes` is the label that passes, None if there is none.
    """
    ratings = _ratings(rows)
    known = [] if yes is None else ratings
    judged = [] if yes is None else [row for row in rows if row.judge is not None]
    return {
        "accuracy": [(each.group, each.person == each.judge) for each in ratings],
        "sensitivity": [(each.group, each.judge == yes) for each in known if each.person == yes],
        "specificity": [(each.group, each.judge != yes) for each in known if each.person != yes],
        "judge passes": [(row.group, row.judge == yes) for row in judged],
        "person passes": [(each.group, each.person == yes) for each in known],
    }


def _corrected(scored: Sequence[LabelledRow], yes: Any) -> JudgedRate:
    if yes is None:
        return _no_rate(len(scored))
    people = (None if row.person is None else row.person == yes for row in scored)
    return prediction_powered_rate(
        [Rating(person, row.judge == yes, row.group) for person, row in zip(people, scored)]
    )


def _no_rate(judged: int) -> JudgedRate:
    reason = "positive= does not say which label passes"
    return JudgedRate(None, None, Share(0, judged), "labels", reason)


def _confusion(confusion: Mapping[tuple[Any, Any], int]) -> list[str]:
    labels = sorted({label for pair in confusion for label in pair}, key=str)
    if len(labels) > _MOST_LABELS:
        return [f"{len(labels)} labels, too many for a table"]
    verdicts = {True: "pass", False: "fail"}
    names = [verdicts[each] if type(each) is bool else shorten(str(each), 16) for each in labels]
    widths = [max(6, len(name)) for name in names]
    first = max(map(len, [_CORNER, *names]))
    head = "  ".join(name.rjust(width) for name, width in zip(names, widths))
    lines = [f"{_CORNER:<{first}}  {head}"]
    for name, person in zip(names, labels):
        counts = [confusion.get((person, judge), 0) for judge in labels]
        cells = "  ".join(f"{count:>{width},}" for count, width in zip(counts, widths))
        lines.append(f"{name:<{first}}  {cells}")
    return lines


def _figures(found: Agreement) -> Iterator[str]:
    """Yield a line for each figure, with its interval and where it comes from."""

    def line(name: str, rate: float | None, interval: Interval | None, rest: str = "") -> str:
        figure = "-" if rate is None else f"{rate:.3f}"
        bounds = f"{interval[0]:.3f} to {interval[1]:.3f}" if interval else ""
        return f"{name:<14}  {figure:>6}  {bounds:<14}  {rest}"

    def count(share: Rate | Share, unit: str = "") -> str:
        return f"{share.part:,} of {share.whole:,}{unit}" if share.whole else ""

    accuracy, *others = (
        line(name, share.rate, share.interval, count(share)) for name, share in found.shares.items()
    )
    yield accuracy
    yield line("kappa", *(found.kappa or (None, None)))
    if found.mean_error is not None:
        yield line("weighted kappa", *(found.weighted_kappa or (None, None)))
        yield line("mean error", found.mean_error, None)
    yield from others
    rate = found.corrected
    source = rate.reason or (rate.method if rate.interval else "")
    yield line("corrected", rate.rate, rate.interval, source)
    if found.people.whole:
        for name, share in (
            ("people agree", found.people),
            ("judge, person", found.judge_and_person),
        ):
            yield line(name, share.rate, None, count(share, " pairs"))
        yield line("people's alpha", found.alpha, None, "Krippendorff")
