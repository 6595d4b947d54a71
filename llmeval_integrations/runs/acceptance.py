"""The confidence from which on values of a run can be accepted without review."""

from __future__ import annotations

import math
from collections import defaultdict
from heapq import nsmallest
from typing import Any, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.options import check_share
from llmeval_integrations.runs.run import Run
from llmeval_integrations.stats.confidence import Answer, Threshold, safe_threshold


class Review(NamedTuple):
    """A value that a person should review."""

    id: Any  # the id of the sample
    pointer: str
    confidence: float


class Acceptance(NamedTuple):
    """The thresholds of a run."""

    overall: Threshold
    fields: dict[str, Threshold]  # by field, those with the most values first
    review: list[Review]  # the values with the lowest confidence that are not accepted


def acceptance(
    run: Run,
    evaluator: str | None = None,
    *,
    errors: float = 0.01,
    sure: float = 0.95,
    review: int = 20,
) -> Acceptance:
    """Return the lowest confidence from which on few accepted values of a run are wrong.

    Args:
        run: A run with confidences.
        evaluator: A `json_fields` with `confidence=`; None if there is only one.
        errors: The share of samples, or of groups, that may have a wrong value among the accepted
            ones.
        sure: The probability that this holds; see `stats.confidence.safe_threshold`.
        review: The number of values to list that are not accepted.

    Raises:
        InputError: If the run has no confidences.
    """
    check_share("errors", errors)
    check_share("sure", sure)
    answers, reviews = _read_confidences(run, evaluator)
    overall = safe_threshold([each for own in answers.values() for each in own], errors, sure)
    if overall is None:
        raise InputError(
            "no row has confidences; evaluate with json_fields and confidence='/_confidence', "
            "'variables.NAME' or a function"
        )
    ranked = sorted(answers.items(), key=lambda item: (-len(item[1]), item[0]))
    fields = {path: found for path, own in ranked if (found := safe_threshold(own, errors, sure))}
    least = math.inf if overall.confidence is None else overall.confidence
    below = (each for each in reviews if each.confidence < least)
    return Acceptance(overall, fields, nsmallest(review, below, key=lambda each: each.confidence))


def _read_confidences(
    run: Run, evaluator: str | None
) -> tuple[dict[str, list[Answer]], list[Review]]:
    """Return the values with a confidence, by field and as a list."""
    answers: dict[str, list[Answer]] = defaultdict(list)
    reviews: list[Review] = []
    names: set[str] = set()
    for row in run.rows:
        if evaluator not in (None, row.evaluator):
            continue
        group = repr(row.id if row.group is None else row.group)
        found = row.metadata.get("confidence")
        for leaf in found if isinstance(found, list) else ():  # that of a judge is a word
            names.add(row.evaluator)
            answers[leaf["field"]].append(Answer(leaf["confidence"], leaf["right"], group))
            reviews.append(Review(row.id, leaf["pointer"], leaf["confidence"]))
    if len(names) > 1:
        raise InputError(f"{', '.join(sorted(names))} have confidences; name one as evaluator")
    return answers, reviews
