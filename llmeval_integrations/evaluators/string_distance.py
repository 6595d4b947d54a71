"""How far is the output's text from the reference's?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from llmeval_integrations.core.figures import format_against
from llmeval_integrations.core.options import check_number
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import TextEvaluator, to_text
from llmeval_integrations.messages.read import read_answer
from llmeval_integrations.text.edit_distance import Metric, measure


@dataclass(frozen=True)
class StringDistance(TextEvaluator):
    """How far is the output's text from the reference's?

    Score: the distance, which is 0 for equal texts. It is from 0 to 1 if it is normalised, and
    otherwise a number of edits. Jaro distances are always from 0 to 1. The result passes if the
    score is at most `threshold`.

    Metadata: `exact`. It is False only if the texts differ in more than 10,000 characters on both
    sides or, for a Jaro distance, are longer than 80,000. An edit distance is then an upper bound.

    The name and the default distance are LangChain's.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)
    lower_is_better: ClassVar[bool] = True

    distance: Metric = "jaro_winkler"
    """The kind of distance, by its name in LangChain."""

    normalize_score: bool = True
    """Whether the distance is divided by its largest possible value."""

    threshold: float = 0.0
    """The largest distance that passes; at most 1 if the score is normalised."""

    def __post_init__(self) -> None:
        super().__post_init__()
        most = 1 if self.normalize_score else math.inf
        check_number(self, "threshold", minimum=0, maximum=most)

    def check_text(self, text: str, sample: Sample) -> Result:
        reference = to_text(read_answer(sample.require("reference", self.name)).value)
        score, exact = measure(self.distance, text, reference, normalized=self.normalize_score)
        passed = score <= self.threshold
        reason = (
            None if passed else f"{self.distance} distance {format_against(self.threshold, score)}"
        )
        return Result(float(score), passed, None, reason, {"exact": exact})
