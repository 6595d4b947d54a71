"""What a verdict is worth, by how sure the judge is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import check_flag, check_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.replies.judgement import Confidence, Judgement, Verdict
from llmeval_integrations.judges.replies.parse import parse_judgement

_LEVELS = [level.name.lower() for level in Confidence]


@dataclass(frozen=True)
class ScoreTable:
    """Six scores from 0 to 1, one for each verdict at each confidence.

    The defaults are the confidence (1, 0.85, 0.6) for a pass, and what is left to 1 for a fail.
    """

    name: ClassVar[str] = "score_table"

    pass_high: float = 1.0
    pass_medium: float = 0.85
    pass_low: float = 0.6
    fail_high: float = 0.0
    fail_medium: float = 0.15
    fail_low: float = 0.4

    strict: bool = field(default=True, kw_only=True)
    """Whether every pass has to be worth at least as much as every fail."""

    def __post_init__(self) -> None:
        check_flag(self, "strict")
        cells = {verdict: [f"{verdict}_{each}" for each in _LEVELS] for verdict in ("pass", "fail")}
        for cell in (*cells["pass"], *cells["fail"]):
            check_number(self, cell, minimum=0, maximum=1)
        least, most = min(cells["pass"], key=self._weight), max(cells["fail"], key=self._weight)
        if self.strict and self._weight(least) < self._weight(most):
            raise InvalidOptionError(
                f"{self.name}: {least}={self._weight(least)} is less than "
                f"{most}={self._weight(most)}, so a fail would score more than a pass; give "
                "strict=False where that is meant"
            )

    def __str__(self) -> str:
        rows = [f"{'':<6}" + "".join(f"{level:>8}" for level in _LEVELS)]
        for verdict in ("pass", "fail"):
            weights = (self._weight(f"{verdict}_{level}") for level in _LEVELS)
            rows.append(f"{verdict:<6}" + "".join(f"{weight:>8.3g}" for weight in weights))
        return "\n".join(rows)

    def _weight(self, cell: str) -> float:
        return float(getattr(self, cell))

    def score(self, judgement: Judgement | Mapping[str, Any]) -> float:
        """Return the score of a judgement, or of a mapping with `verdict` and `confidence`.

        Without a confidence it is that of a medium one.
        """
        if not isinstance(judgement, Judgement):
            judgement = parse_judgement(judgement)
        if not isinstance(judgement.verdict, Verdict):
            raise InvalidOptionError(
                f"{self.name}: the verdict {quote(judgement.verdict)} is neither Pass nor Fail"
            )
        confidence = judgement.confidence or Confidence.MEDIUM
        return self._weight(f"{judgement.verdict.value}_{confidence.value}".lower())
