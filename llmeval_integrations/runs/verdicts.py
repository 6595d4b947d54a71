"""Whether rows passed at lower or at higher scores."""

from __future__ import annotations

import math


class Verdicts:
    """Between which scores rows passed, and between which they failed."""

    def __init__(self) -> None:
        self._ends = {True: (math.inf, -math.inf), False: (math.inf, -math.inf)}

    def add(self, score: float, passed: bool) -> None:
        """Take a row into account."""
        low, high = self._ends[passed]
        self._ends[passed] = min(low, score), max(high, score)

    @property
    def lower_passed(self) -> bool | None:
        """Whether all that passed had lower scores than all that failed, False where higher ones.

        None where neither is so: then a verdict is about something else than the score.
        """
        (low, high), (low_failed, high_failed) = self._ends[True], self._ends[False]
        if high < low or high_failed < low_failed:
            return None
        return True if high < low_failed else False if low > high_failed else None
