"""How far a judge agrees with people, and what that makes of its pass rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.options import check_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.trust.agreement_text import as_text
from llmeval_integrations.judges.trust.corrected_rate import CorrectedRate, corrected
from llmeval_integrations.judges.trust.pairing import (
    as_verdict,
    folded,
    label_of,
    may_be_verdict,
    paired,
    plain,
    rows_of,
)
from llmeval_integrations.stats.intervals import Share


@dataclass(frozen=True)
class Agreement:
    """A judge's verdicts beside a person's labels, counted; printed, it is a table.

    A rate is None where there is nothing to take it of. The binary figures (sensitivity,
    specificity, pass rates) are None too where the labels are not pass and fail and `positive`
    does not say which of them passes.
    """

    name: ClassVar[str] = "agreement"

    confusion: Mapping[tuple[Any, Any], int]
    """How many rows there are for each pair of the person's label and the judge's."""

    judged: Mapping[Any, int]
    """How often the judge gave each label, in rows without a person's label too."""

    unscored: int
    """Rows with the person's label about which the judge could not tell; in no figure."""

    unlabelled: int
    """Rows without the person's label; they count for the judge's pass rate alone."""

    positive: Any = True
    """The label that passes."""

    level: float = 0.95
    """The probability of all intervals."""

    def __post_init__(self) -> None:
        check_number(self, "level", minimum=0.5, below=1)

    def __str__(self) -> str:
        return as_text(self)

    @property
    def n(self) -> int:
        """The rows with both labels."""
        return sum(self.confusion.values())

    @property
    def accuracy(self) -> float | None:
        """The share of rows in which both say the same."""
        return self.shares["accuracy"].rate

    @property
    def kappa(self) -> float | None:
        """How much of the agreement that chance leaves open is reached: 1 all, 0 none of it.

        Cohen, Educ. Psychol. Meas. 20 (1960) 37. None where both give one and the same label to
        all rows, for then chance leaves nothing open.
        """
        by_human, by_judge = self._totals()
        n = self.n
        # In whole numbers, so that only what is truly undefined comes out as that.
        chance = sum(count * by_judge[label] for label, count in by_human.items())
        if chance == n * n:
            return None
        return (n * self.shares["accuracy"].part - chance) / (n * n - chance)

    @property
    def sensitivity(self) -> float | None:
        """The share that the judge passes of what a person passed."""
        return self.shares["sensitivity"].rate

    @property
    def specificity(self) -> float | None:
        """The share that the judge fails of what a person failed."""
        return self.shares["specificity"].rate

    @property
    def shares(self) -> dict[str, Share]:
        """The rates as counts, by name, each with its `interval(level)` after Wilson."""
        by_human, by_judge = self._totals()
        both = self.confusion.get((self.positive, self.positive), 0)
        passed, judge_passed = by_human[self.positive], by_judge[self.positive]
        known, n = self.positive is not None, self.n
        same = sum(count for (person, judge), count in self.confusion.items() if person == judge)
        return {
            "accuracy": Share(same, n),
            "sensitivity": Share(both, passed),
            "specificity": Share(n - passed - judge_passed + both, known * (n - passed)),
            "judge passes": Share(
                self.judged.get(self.positive, 0), known * sum(self.judged.values())
            ),
            "person passes": Share(passed, known * n),
        }

    @property
    def corrected(self) -> CorrectedRate:
        """The pass rate of all these rows, those without a person's label included, corrected."""
        return self._corrected(self.shares["judge passes"], shared=self.n)

    def corrected_pass_rate(self, judged: Any) -> CorrectedRate:
        """Correct the pass rate of other rows that the same judge judged.

        `judged` holds what `agreement` takes; what is missing or unscored is left out. None of
        the rows may be among the labelled ones: to correct a run of which a part is labelled,
        give the whole run to `agreement`, with None for the labels that there are not.
        """
        values = [plain(value) for value in rows_of("judged", judged)]
        given = [(row, value) for row, value in enumerate(values) if value is not None]
        if self.positive is None:
            return self._corrected(Share(0, len(given)), shared=0)
        beside = None if self.positive is True else self.positive
        labels = [folded(label_of(value, row, "judged", beside)) for row, value in given]
        return self._corrected(Share(labels.count(folded(self.positive)), len(given)), shared=0)

    def _corrected(self, judged: Share, *, shared: int) -> CorrectedRate:
        if self.positive is None:
            reason = "positive= does not say which label passes"
            return CorrectedRate(None, None, self.level, judged, reason)
        shares = self.shares
        return corrected(
            judged, shares["sensitivity"], shares["specificity"], shared=shared, level=self.level
        )

    def _totals(self) -> tuple[Counter[Any], Counter[Any]]:
        by_human: Counter[Any] = Counter()
        by_judge: Counter[Any] = Counter()
        for (person, judge), count in self.confusion.items():
            by_human[person] += count
            by_judge[judge] += count
        return by_human, by_judge


def agreement(judged: Any, human: Any, *, positive: Any = None, level: float = 0.95) -> Agreement:
    """Compare a judge's verdicts with a person's labels of the same rows.

    Both are sequences of the same length or mappings with the same ids; a run of one judge, or the
    rows of one, go beside a mapping by their ids, and beside a sequence by their order. `judged`
    holds results, rows of a run, judgements or mappings with a `verdict`, verdicts (True, False, 1,
    0, "pass", "fail") or any labels; `human` verdicts or labels. None among `judged` is unscored,
    and never a fail; None among `human` is a row that nobody labelled. The labelled rows should be
    drawn by chance, or by the person's label; where they are drawn by the judge's verdict,
    sensitivity and specificity are biased.

    Labels that are not all verdicts are compared as they are, but for case and the space around
    them, results by their `label`; then `positive` names the one that passes.

    Raises InputError where rows or ids do not match, a value is neither verdict nor label, or the
    judge's labels, if they are not ratings, are none of the person's.
    """
    rows = [(row, plain(one), plain(other)) for row, one, other in paired(judged, human)]
    beside = next((value for _, *pair in rows for value in pair if not may_be_verdict(value)), None)
    confusion: Counter[tuple[Any, Any]] = Counter()
    by_judge: Counter[Any] = Counter()
    unscored = unlabelled = 0
    truths: set[Any] = set()
    spelt: dict[Any, Any] = {}
    for row, one, other in rows:
        label, truth = (
            None if value is None else _spelt(spelt, label_of(value, row, name, beside))
            for name, value in (("judged", one), ("human", other))
        )
        unlabelled += truth is None
        unscored += label is None and truth is not None
        if truth is not None:
            truths.add(truth)
        if label is not None:
            by_judge[label] += 1
            if truth is not None:
                confusion[truth, label] += 1
    if confusion and beside is not None:
        _check_shared(by_judge.keys(), truths)
    labels = {label for pair in confusion for label in pair}.union(by_judge)
    passing = _positive(_spelt(spelt, positive), labels, binary=beside is None)
    return Agreement(confusion, by_judge, unscored, unlabelled, passing, level)


def _spelt(known: dict[Any, Any], label: Any) -> Any:
    """Return a label as it was spelt when it came first."""
    return known.setdefault(folded(label), label)


def _check_shared(judged: AbstractSet[Any], human: AbstractSet[Any]) -> None:
    """Raise InputError for names of two sorts; ratings may all be others, and still be ratings."""
    are_ratings = all(isinstance(label, Real) for label in judged | human)
    if judged.isdisjoint(human) and not are_ratings:
        raise InputError(
            f"agreement: no label is in both: judged has {_some(judged)}, human {_some(human)}"
        )


def _some(labels: Iterable[Any]) -> str:
    return ", ".join(sorted(map(quote, labels))[:10])


def _positive(positive: Any, labels: set[Any], *, binary: bool) -> Any:
    """Return the label that passes, of verdicts True, of labels the caller's to say."""
    if binary and positive is not None and as_verdict(positive) is not True:
        raise InvalidOptionError(
            f"agreement: positive={quote(positive)} is not True, which passes among verdicts"
        )
    if not binary and positive is not None and positive not in labels:
        raise InvalidOptionError(
            f"agreement: positive={quote(positive)} is none of {_some(labels)}"
        )
    return True if binary else positive
