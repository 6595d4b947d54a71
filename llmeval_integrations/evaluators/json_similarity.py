"""How similar are two JSON documents, as one figure?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, ClassVar, Final, Literal, get_args

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import format_against
from llmeval_integrations.core.options import check_choice, check_number
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.anls_star import AnlsStar, TooManyPairsError
from llmeval_integrations.evaluators.json_validity import defect_result
from llmeval_integrations.evaluators.read import read_both
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import equal, write_scalar
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import MATCH, MISMATCH, Node, Order, Verdict
from llmeval_integrations.text.edit_distance import count_edits, exact_reach, load_levenshtein

Variant = Literal["paper", "anls_star"]

_SURELY_EXACT: Final = 80_000
"""The most characters of two texts whose distance is exact, whatever they are; see `reach`."""


@dataclass(frozen=True)
class JsonSimilarity(Evaluator):
    """How similar are output and reference, as trees of texts?

    Score: ANLS*, 0 to 1 (Peer, Schoepf, Nebendahl, Rietzler, Stabinger, "ANLS* - A Universal
    Document Processing Metric for Generative Large Language Models", 2024): the share of all
    leaves that the documents have in common. Two leaves have one minus the Levenshtein distance of
    their texts in common, by the longer text's length, and nothing from a distance of `tau`
    on. Members are compared by name; items are paired for the most in common. Numbers, booleans
    and null are compared as they are written. An empty object or array is no leaf; two documents
    without a leaf have a score of 1.

    The authors' own package differs: it ignores case and white space, counts a distance of exactly
    `tau`, takes null for a missing value, and pairs items for the best average.
    `variant="anls_star"` gives its figure.

    Passes from `threshold` on; an output that is not JSON never does. `limit_reached` in the
    metadata names the arrays that had too many pairs of items to be tried. `exact` is False where
    two texts differ in more than about 80,000 characters: their distance may be less.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    tau: float = 0.5
    """The distance of two texts, 0 to 1, from which on they have nothing in common."""

    variant: Variant = "paper"
    """Whose figure it is: that of the paper, or of the authors' package `anls-star`."""

    threshold: float = 1.0
    """The lowest score that passes."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON, in output and reference alike."""

    def __post_init__(self) -> None:
        check_number(self, "tau", minimum=0, maximum=1)
        check_choice(self, "variant", get_args(Variant))
        check_number(self, "threshold", minimum=0, maximum=1)
        check_choice(self, "parsing", PARSINGS)

    def check(self, sample: Sample) -> Result:
        output, reference = read_both(self, sample, self.parsing)
        if type(output) is Defect:
            return defect_result(output, 0.0)
        load_levenshtein()
        if self.variant == "anls_star":
            try:
                score = AnlsStar(self.tau).score(output, reference)
            except TooManyPairsError as error:
                return Result.unscored(str(error), label="too_many_pairs")
            return self._result(score, "", {})
        comparison = Comparison()
        if not equal(output, reference):
            comparison.compare(_Text(self.tau), _as_texts(output), _as_texts(reference))
        leaves = len(comparison.matched) + len(comparison.outcomes)
        gained = len(comparison.matched) + fsum(each.score for each in comparison.outcomes)
        metadata: dict[str, Any] = {}
        remark = ""
        if comparison.limits:
            metadata["limit_reached"] = comparison.limits
            remark += " (too many pairs of items; not all were tried)"
        if not all(outcome.exact for outcome in comparison.outcomes):
            metadata["exact"] = False
            remark += " (texts too long to be compared exactly)"
        return self._result(gained / leaves if leaves else 1.0, remark, metadata)

    def _result(self, score: float, remark: str, metadata: dict[str, Any]) -> Result:
        if score >= self.threshold:
            return Result(score, True, None, None, metadata)
        reason = f"Similarity {format_against(self.threshold, score)}{remark}"
        return Result(score, False, None, reason, metadata)


class _Text(Node):
    """Compares leaves as texts and pairs items in any order."""

    order: Order = "any_order"
    exact = False
    uniform = True
    rates = True
    literal = True
    fuzzy = True
    counts_empty = False
    larger_alone = True
    pairs_all = True  # fewer leaves in all are a higher score

    def __init__(self, tau: float) -> None:
        self.tau = tau

    def leaf(self, output: Any, reference: Any) -> Verdict:
        if type(output) is not str or type(reference) is not str:
            return MATCH if type(output) is not str and type(reference) is not str else MISMATCH
        if output == reference:
            return MATCH
        one, other = len(output), len(reference)
        longest = max(other, one)
        if longest <= _SURELY_EXACT and abs(one - other) / longest >= self.tau:
            return MISMATCH
        most = int(self.tau * longest) + 1  # one more, whatever the product is rounded to
        edits = count_edits(most, output, reference)
        exact = longest <= _SURELY_EXACT or min(edits, most) <= exact_reach(output, reference)
        score = (longest - edits) / longest if edits / longest < self.tau else 0.0
        return Verdict("mismatch", score, exact) if score or not exact else MISMATCH

    def rate(self, output: str, references: Sequence[str]) -> Iterable[tuple[int, float]]:
        from rapidfuzz.distance.Levenshtein import normalized_similarity
        from rapidfuzz.process import extract_iter

        least = 1 - self.tau + 1e-9  # a distance of `tau` is none
        scorer = normalized_similarity
        for _, score, position in extract_iter(
            output, references, scorer=scorer, score_cutoff=least
        ):
            if score >= least:
                yield position, score


def _as_texts(value: Any) -> Any:
    """Return a value with each number, boolean and null as the text that it is written as."""
    if type(value) is dict:
        return {name: _as_texts(part) for name, part in value.items()}
    if type(value) is list:
        return [_as_texts(part) for part in value]
    return value if type(value) is str else write_scalar(value)
