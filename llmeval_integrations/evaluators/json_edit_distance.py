"""How far is the output's canonical JSON text from the reference's?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import format_against
from llmeval_integrations.core.options import as_number, check_callable, check_choice, check_number
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result, read_both
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.text.edit_distance import METRICS, measure


@dataclass(frozen=True)
class JsonEditDistance(Evaluator):
    """How far is the output's JSON text from the reference's, if both are in canonical form?

    Score: the normalised distance of the canonical texts, from 0.0 if they are equal to 1.0. An
    output that is not JSON has 1.0. The result passes if the score is at most `threshold`.

    Metadata: `exact`. It is False only if the texts differ in more than 10,000 characters on both
    sides, or 80,000 for the faster metrics. An exact distance may then take too long, as its time
    is quadratic in the length, so the score is an upper bound.

    LangChain's drop-in writes its canonical text with `json.dumps`.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)
    lower_is_better: ClassVar[bool] = True

    string_distance: str | Callable[[str, str], float] | None = None
    """A metric of StringDistance by name, or a function of two texts. None means
    damerau_levenshtein; osa and levenshtein are 10 to 75 times as fast on long texts."""

    canonicalize: Callable[[Any], Any] | None = None
    """A function that writes a parsed value as text. None sorts keys, leaves out white space,
    writes `1.0` as `1`, and does not escape letters such as é."""

    threshold: float = 0.0
    """The largest distance that passes."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON, in output and reference alike."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.string_distance, str):
            check_choice(self, "string_distance", METRICS)
        else:
            check_callable(self, "string_distance")
        check_callable(self, "canonicalize")
        check_number(self, "threshold", minimum=0)
        if not callable(self.string_distance):
            check_number(self, "threshold", maximum=1)

    def check(self, sample: Sample) -> Result:
        # A function of the caller may change its argument, so it gets a copy.
        is_own = self.canonicalize is not None
        output, reference = read_both(self, sample, self.parsing, copied=is_own)
        if isinstance(output, Defect):
            return defect_result(output, 1.0)
        write = self.canonicalize or canonical
        score, exact = self._measure(write(output), write(reference))
        passed = score <= self.threshold
        reason = None if passed else f"Edit distance {format_against(self.threshold, score)}"
        return Result(float(score), passed, None, reason, {"exact": exact})

    def _measure(self, output: Any, reference: Any) -> tuple[float, bool]:
        if callable(self.string_distance):
            return as_number(self, "string_distance", self.string_distance(output, reference)), True
        if not (isinstance(output, str) and isinstance(reference, str)):
            raise InvalidOptionError(
                f"{self.name}: canonicalize returned {quote(output)}, which is not a text"
            )
        if output == reference:
            return 0.0, True
        return measure(self.string_distance or "damerau_levenshtein", output, reference)
