"""From which confidence on the values of a run can be accepted unseen."""

from __future__ import annotations

from collections import defaultdict
from heapq import nsmallest
from typing import Any, NamedTuple

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quote import quote
from llmeval_integrations.runs.run import Run
from llmeval_integrations.stats.confidence import Answer, Threshold, safe_threshold


class Review(NamedTuple):
    """A value that a person should look at."""

    id: Any
    """The sample's id."""

    pointer: str
    confidence: float


class Acceptance(NamedTuple):
    """The thresholds of a run."""

    overall: Threshold
    fields: dict[str, Threshold]
    """By field, those with the most values first."""

    review: list[Review]
    """The least sure of the values that are not accepted, the least sure first."""


def acceptance(
    run: Run,
    evaluator: str | None = None,
    *,
    errors: float = 0.01,
    sure: float = 0.95,
    review: int = 20,
) -> Acceptance:
    """Return from which confidence on at most so many accepted values of a run are wrong.

    evaluator: a `json_fields` with `confidence=`; None takes the only one.
    errors: the share of samples (of groups, where the run has them) that may have a wrong value
        among the accepted ones. A sample is right where all its accepted values are.
    sure: the chance that the promise holds; see `stats.confidence.safe_threshold`.
    review: how many values to list that are not accepted.

    Raises InputError for a run without confidences.
    """
    for name, share in (("errors", errors), ("sure", sure)):
        if not is_number(share) or not 0 < share < 1:
            raise InvalidOptionError(f"{name}={quote(share)} is not a number between 0 and 1")
    values = _values_with_confidence(run, evaluator)
    fields: dict[str, list[Answer]] = defaultdict(list)
    for path, answer, _ in values:
        fields[path].append(answer)
    overall = safe_threshold([answer for _, answer, _ in values], errors, sure)
    if overall is None:
        raise InputError(
            "no row has confidences; evaluate with json_fields and confidence='/_confidence', "
            "'variables.NAME' or a function"
        )
    ranked = sorted(fields.items(), key=lambda item: (-len(item[1]), item[0]))
    found = {path: safe_threshold(answers, errors, sure) for path, answers in ranked}
    least = 2.0 if overall.confidence is None else overall.confidence
    unsure = (each for _, _, each in values if each.confidence < least)
    return Acceptance(
        overall,
        {path: threshold for path, threshold in found.items() if threshold is not None},
        nsmallest(review, unsure, key=lambda each: each.confidence),
    )


def _values_with_confidence(run: Run, evaluator: str | None) -> list[tuple[str, Answer, Review]]:
    """Return the fields of values with a confidence, each with what is known of the value.

    Raises InputError for values of several evaluators.
    """
    values = []
    names: set[str] = set()
    for row in run.rows:
        if evaluator not in (None, row.evaluator):
            continue
        group = repr(row.id if row.group is None else row.group)
        for leaf in row.metadata.get("confidence", ()):
            names.add(row.evaluator)
            answer = Answer(leaf["confidence"], leaf["right"], group)
            review = Review(row.id, leaf["pointer"], leaf["confidence"])
            values.append((leaf["field"], answer, review))
    if len(names) > 1:
        raise InputError(f"{', '.join(sorted(names))} have confidences; name one as evaluator")
    return values
