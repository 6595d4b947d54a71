"""How similar are output and reference, as trees of strings?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, ClassVar, Literal

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import format_against
from llmeval_integrations.core.options import ZeroToOne
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.anls_star import AnlsStar, TooManyPairsError
from llmeval_integrations.evaluators.json_evaluator import defect_result, read_both
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import canonical, equal
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import MATCH, MISMATCH, Node, Order, Verdict
from llmeval_integrations.text.edit_distance import count_edits

Variant = Literal["paper", "anls_star"]


@dataclass(frozen=True)
class JsonSimilarity(Evaluator):
    """How similar are output and reference, as trees of strings?

    Score: ANLS*, from 0 to 1 (Peer, Schoepf, Nebendahl, Rietzler, Stabinger, "ANLS* - A Universal
    Document Processing Metric for Generative Large Language Models", 2024). It is the sum of the
    similarities of all leaves, divided by the number of leaves. The distance of two leaves is their
    Levenshtein distance divided by the length of the longer one. Their similarity is 1 minus the
    distance, or 0 if the distance is `tau` or more.

    Members are compared by name, and items are paired for the largest sum. Numbers, booleans and
    null are compared as they are written. Empty objects and arrays are not leaves. Two documents
    without leaves have the score 1.

    `variant="anls_star"` computes the figure of the authors' own package, which differs from the
    paper. It ignores case and white space, and null is a missing value. A distance of exactly `tau`
    still counts. Items are paired for the best average.

    The result passes if the score is at least `threshold`. An output that is not JSON never passes.

    Metadata: `limit_reached` lists the arrays with too many items to try every pair.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    tau: ZeroToOne = 0.5
    """The distance, from 0 to 1, at which two texts have the similarity 0."""

    variant: Variant = "paper"
    """Whether to compute the figure of the paper, or of the authors' package `anls-star`."""

    threshold: ZeroToOne = 1.0
    """The lowest score that passes."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON, in output and reference alike."""

    def check(self, sample: Sample) -> Result:
        output, reference = read_both(self, sample, self.parsing)
        if type(output) is Defect:
            return defect_result(output, 0.0)
        if self.variant == "anls_star":
            try:
                score = AnlsStar(self.tau).score(output, reference)
            except TooManyPairsError as error:
                return Result.unscored(str(error), label="too_many_pairs")
            return self._result(score, [])
        comparison = Comparison()
        if not equal(output, reference):
            comparison.compare(_Text(self.tau), _as_texts(output), _as_texts(reference))
        leaves = len(comparison.matched) + len(comparison.outcomes)
        gained = len(comparison.matched) + fsum(each.score for each in comparison.outcomes)
        return self._result(gained / leaves if leaves else 1.0, comparison.limits)

    def _result(self, score: float, limits: list[str]) -> Result:
        metadata = {"limit_reached": limits} if limits else {}
        if score >= self.threshold:
            return Result(score, True, None, None, metadata)
        remark = " (too many pairs of items; not all were tried)" if limits else ""
        reason = f"Similarity {format_against(self.threshold, score)}{remark}"
        return Result(score, False, None, reason, metadata)


class _Text(Node):
    """Compares leaves as texts and pairs items in any order."""

    order: Order = "any_order"
    exact = False
    uniform = True
    grades_texts = True
    literal = True
    fuzzy = True
    counts_empty = False
    larger_alone = True
    pairs_all = True  # a pair counts its leaves once, so that pairing raises the score

    def __init__(self, tau: float) -> None:
        self.tau = tau

    def leaf(self, output: Any, reference: Any) -> Verdict:
        if type(output) is not str or type(reference) is not str:
            return MISMATCH  # one is an empty object or array; two of them are no leaves
        if output == reference:
            return MATCH
        one, other = len(output), len(reference)
        longest = max(other, one)
        if abs(one - other) / longest >= self.tau:
            return MISMATCH  # the lengths alone differ too much
        most = int(self.tau * longest) + 1  # one more, as the product may be rounded down
        edits = count_edits(most, output, reference)
        is_near = edits / longest < self.tau
        return Verdict("mismatch", (longest - edits) / longest) if is_near else MISMATCH

    def grade_texts(self, output: str, references: Sequence[str]) -> Iterable[tuple[int, float]]:
        from rapidfuzz.distance.Levenshtein import normalized_similarity
        from rapidfuzz.process import extract_iter

        least = 1 - self.tau + 1e-9  # at a distance of exactly `tau` the similarity is 0
        scorer = normalized_similarity
        for _, score, position in extract_iter(
            output, references, scorer=scorer, score_cutoff=least
        ):
            if score >= least:
                yield position, score


def _as_texts(value: Any) -> Any:
    """Return a value in which each number, boolean and null is replaced by its text."""
    if type(value) is dict:
        return {name: _as_texts(part) for name, part in value.items()}
    if type(value) is list:
        return [_as_texts(part) for part in value]
    return value if type(value) is str else canonical(value)
