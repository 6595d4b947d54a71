"""How far a judge agrees with people, and what that makes of its pass rate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, NamedTuple

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.options import check_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.agreement_table import render
from llmeval_integrations.judges.labels import (
    LabelledRow,
    as_verdict,
    fold,
    label_of,
    labelled_rows,
    majority,
    may_be_verdict,
    plain,
    rows_of,
)
from llmeval_integrations.stats.agreement import (
    Kappa,
    Rating,
    kappa,
    krippendorff_alpha,
    pair_agreement,
    squared,
)
from llmeval_integrations.stats.influence import design_effect
from llmeval_integrations.stats.intervals import Interval, Share, t_of, wilson, wilson_of
from llmeval_integrations.stats.judged_rate import (
    JudgedRate,
    JudgedRow,
    prediction_powered_rate,
    rogan_gladen_rate,
)


class Rate(NamedTuple):
    """A share of rows with its interval."""

    part: int
    whole: int
    interval: Interval | None
    """None of nothing, and of a single group."""

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; None of nothing."""
        return self.part / self.whole if self.whole else None


@dataclass(frozen=True)
class Agreement:
    """A judge's verdicts beside people's labels; printed, it is a table.

    A rate is None where there is nothing to take it of. Sensitivity, specificity and pass rates are
    None too where the labels are not pass and fail and `positive` does not name the one that
    passes.
    """

    name: ClassVar[str] = "agreement"

    rows: Sequence[LabelledRow]
    """All rows, with labels as they were spelt when they came first."""

    positive: Any = True
    """The label that passes."""

    level: float = 0.95
    """The probability of all intervals."""

    def __post_init__(self) -> None:
        check_number(self, "level", minimum=0.5, below=1)

    def __str__(self) -> str:
        return render(self)

    @cached_property
    def ratings(self) -> list[Rating]:
        """The rows with both labels: the person's, or that of most people, and the judge's."""
        pairs = [(majority(row.people), row.judge, row.group) for row in self.rows]
        return [Rating(*pair) for pair in pairs if pair[0] is not None and pair[1] is not None]

    @property
    def n(self) -> int:
        """The rows with both labels."""
        return len(self.ratings)

    @property
    def unscored(self) -> int:
        """Rows with a person's label about which the judge could not tell; in no figure."""
        return sum(row.judge is None and bool(row.people) for row in self.rows)

    @property
    def unlabelled(self) -> int:
        """Rows without a person's label; they count for the judge's pass rate alone."""
        return sum(not row.people for row in self.rows)

    @property
    def tied(self) -> int:
        """Rows on whose label as many people say one thing as another; they have none."""
        return sum(bool(row.people) and majority(row.people) is None for row in self.rows)

    @property
    def confusion(self) -> Mapping[tuple[Any, Any], int]:
        """How many rows there are for each pair of the person's label and the judge's."""
        return Counter((rating.first, rating.second) for rating in self.ratings)

    @property
    def accuracy(self) -> float | None:
        """The share of rows in which both say the same."""
        return self.shares["accuracy"].rate

    @property
    def kappa(self) -> Kappa | None:
        """Cohen's kappa with its interval; None where both give all rows the same label."""
        return kappa(self.ratings, level=self.level)

    @property
    def weighted_kappa(self) -> Kappa | None:
        """Kappa by the squared distance of ratings; None where the labels are not numbers."""
        if not self._are_ratings:
            return None
        return kappa(self.ratings, squared(self.ratings), self.level)

    @property
    def mean_error(self) -> float | None:
        """How far the judge's ratings lie from the person's; None where they are not numbers."""
        if not self._are_ratings:
            return None
        return math.fsum(abs(each.second - each.first) for each in self.ratings) / self.n  # type: ignore[operator]

    @property
    def _are_ratings(self) -> bool:
        labels = [label for rating in self.ratings for label in rating[:2]]
        return bool(labels) and all(
            isinstance(label, Real) and not isinstance(label, bool) for label in labels
        )

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha among the people; None where no row has two of them."""

        def distance(one: Any, other: Any) -> float:
            return float((one - other) ** 2) if self._are_ratings else 1.0

        return krippendorff_alpha([row.people for row in self.rows], distance)

    @property
    def people(self) -> Share:
        """Of all pairs of people who labelled the same row, those that agree: the ceiling."""
        return pair_agreement([row.people for row in self.rows])

    @property
    def judge_and_person(self) -> Share:
        """Of all pairs of the judge and one person, those that agree; beside `people`."""
        pairs = [
            row.judge == person
            for row in self.rows
            for person in row.people
            if row.judge is not None
        ]
        return Share(sum(pairs), len(pairs))

    @property
    def sensitivity(self) -> float | None:
        """The share that the judge passes of what a person passed."""
        return self.shares["sensitivity"].rate

    @property
    def specificity(self) -> float | None:
        """The share that the judge fails of what a person failed."""
        return self.shares["specificity"].rate

    @property
    def shares(self) -> dict[str, Rate]:
        """The rates by name, with intervals that know the groups of a run's rows."""
        yes = self.positive
        named: dict[str, list[tuple[Hashable, bool]]] = {
            "accuracy": [(each.group, each.first == each.second) for each in self.ratings],
            "sensitivity": [
                (each.group, each.second == yes) for each in self.ratings if each.first == yes
            ],
            "specificity": [
                (each.group, each.second != yes) for each in self.ratings if each.first != yes
            ],
            "judge passes": [
                (row.group, row.judge == yes) for row in self.rows if row.judge is not None
            ],
            "person passes": [(each.group, each.first == yes) for each in self.ratings],
        }
        if yes is None:
            named = {name: rows if name == "accuracy" else [] for name, rows in named.items()}
        return {name: self._rate(rows) for name, rows in named.items()}

    def _rate(self, rows: Sequence[tuple[Hashable, bool]]) -> Rate:
        part, n = sum(holds for _, holds in rows), len(rows)
        if not n:
            return Rate(0, 0, None)
        effect = design_effect((group, holds - part / n) for group, holds in rows)
        if effect is None:
            return Rate(part, n, None)
        if effect.factor == 1:
            return Rate(part, n, wilson(part, n, self.level))
        quantile = t_of(self.level, effect.freedom)
        return Rate(part, n, wilson_of(part / n, n / effect.factor, quantile))

    @property
    def corrected(self) -> JudgedRate:
        """How often a person would pass such outputs, by the labels and the judge together.

        Prediction-powered: the labelled rows have to be drawn by chance from all of them.
        """
        if self.positive is None:
            return self._no_rate(Share(0, sum(row.judge is not None for row in self.rows)))
        rows = [
            JudgedRow(
                row.judge == self.positive,
                None if (label := majority(row.people)) is None else label == self.positive,
                row.group,
            )
            for row in self.rows
            if row.judge is not None
        ]
        return prediction_powered_rate(rows, self.level)

    def corrected_pass_rate(self, judged: Any) -> JudgedRate:
        """Correct the pass rate of other rows that the same judge judged.

        By Rogan and Gladen, for rows none of which is among the labelled ones; where a part of a
        run is labelled, give the whole run to `agreement`, with None for the other labels, and use
        `corrected`. What is missing or unscored in `judged` is left out.
        """
        values = [plain(value) for value in rows_of("judged", judged)]
        given = [(row, value) for row, value in enumerate(values) if value is not None]
        if self.positive is None:
            return self._no_rate(Share(0, len(given)))
        other = None if self.positive is True else self.positive
        labels = [fold(label_of(value, row, "judged", other)) for row, value in given]
        found = Share(labels.count(fold(self.positive)), len(given))
        sensitivity, specificity = (
            Share(rate.part, rate.whole)
            for name, rate in self.shares.items()
            if name in ("sensitivity", "specificity")
        )
        return rogan_gladen_rate(found, sensitivity, specificity, self.level)

    def _no_rate(self, judged: Share) -> JudgedRate:
        reason = "positive= does not say which label passes"
        return JudgedRate(None, None, self.level, judged, "labels", reason)


def agreement(judged: Any, human: Any, *, positive: Any = None, level: float = 0.95) -> Agreement:
    """Compare a judge's verdicts with people's labels of the same rows.

    judged: a run of one judge or its rows; or results, judgements, verdicts (True, "pass", 1) or
        labels, in a sequence or in a mapping by id. None is unscored, and never a fail.
    human: verdicts or labels, in the same order or by id; a list of labels where several people
        labelled a row, of which the most frequent counts. None is a row that nobody labelled.
    positive: the label that passes, where labels are not verdicts.

    The labelled rows should be drawn by chance. Labels are compared without regard to case and the
    space around them; ratings are numbers.

    Raises InputError where rows or ids do not match, a value is neither verdict nor label, or the
    judge's labels, if they are not ratings, are none of the people's.
    """
    rows = [row._replace(judge=plain(row.judge)) for row in labelled_rows(judged, human)]
    values = (value for row in rows for value in (row.judge, *row.people))
    other = next((value for value in values if not may_be_verdict(value)), None)
    spelling: dict[Any, Any] = {}

    def label(value: Any, row: Any, name: str) -> Any:
        found = label_of(value, row, name, other)
        return spelling.setdefault(fold(found), found)

    read = [
        row._replace(
            judge=None if row.judge is None else label(row.judge, row.row, "judged"),
            people=tuple(label(value, row.row, "human") for value in row.people),
        )
        for row in rows
    ]
    judges = {row.judge for row in read if row.judge is not None}
    people = {value for row in read for value in row.people}
    if other is not None and any(row.judge is not None and row.people for row in read):
        _check_shared(judges, people)
    positive = spelling.get(fold(positive), positive)
    return Agreement(read, _choose_positive(positive, judges | people, binary=other is None), level)


def _check_shared(judged: AbstractSet[Any], human: AbstractSet[Any]) -> None:
    """Raise InputError for names of two sorts; ratings may all be others, and still be ratings."""
    are_ratings = all(isinstance(label, Real) for label in judged | human)
    if judged.isdisjoint(human) and not are_ratings:
        raise InputError(
            f"agreement: no label is in both: judged has {_list(judged)}, human {_list(human)}"
        )


def _list(labels: Iterable[Any]) -> str:
    return ", ".join(sorted(map(quote, labels))[:10])


def _choose_positive(positive: Any, labels: AbstractSet[Any], *, binary: bool) -> Any:
    """Return the label that passes, of verdicts True, of labels the caller's to say."""
    if binary and positive is not None and as_verdict(positive) is not True:
        raise InvalidOptionError(
            f"agreement: positive={quote(positive)} is not True, which passes among verdicts"
        )
    if not binary and positive is not None and positive not in labels:
        raise InvalidOptionError(
            f"agreement: positive={quote(positive)} is none of {_list(labels)}"
        )
    return True if binary else positive
