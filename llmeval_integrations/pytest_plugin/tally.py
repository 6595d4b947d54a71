"""The figures of a session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from llmeval_integrations.pytest_plugin.plugin import Evaluation
from llmeval_integrations.reports.run_view import rates
from llmeval_integrations.reports.terminal import as_text
from llmeval_integrations.reports.view import Cell, View
from llmeval_integrations.runs.numbers import percent
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.summary import Tally


class Tallies:
    """The figures of a session, by test and evaluator. Each evaluation counts."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, list[Evaluation], str | None]] = {}
        self._rates: dict[str, float] = {}

    def __bool__(self) -> bool:
        return any(found for _, found, _ in self._found.values())

    def note(
        self, nodeid: str, test: str, found: list[Evaluation], rate: float | None, group: str | None
    ) -> None:
        """Store the evaluations of a row or test so far; they replace those stored before.

        They are sent after each phase and subtest, and again if a test is repeated. `rate` is the
        pass rate that a marked test requires, `group` is the group of the row.
        """
        if rate is not None:
            self._rates[test] = rate
            if len({name for name, *_ in found}) < len(found):
                group = group or nodeid  # several evaluations of a row are not independent
        self._found[nodeid] = test, found, group

    def lines(self) -> list[str]:
        """Write a table with a line for each evaluator, in the session and in each marked test."""
        rows = [
            {**figures, "name": f"{test}: {name}" if test else name}
            for test, name, figures in self._figures()
        ]
        section = replace(rates(rows), few=len(rows))
        return as_text(View("", Cell(""), [section])).splitlines()

    def misses(self) -> Iterator[str]:
        """Word each pass rate of a marked test that is below the required one."""
        for test, name, figures in self._figures():
            least, rate = self._rates.get(test, 1), figures["pass_rate"]
            if least < 1 and (rate or 0.0) < least:
                passed = "nothing" if rate is None else percent(rate)
                yield f"{test}: {name} passed {passed}, under min_pass_rate={least:g}"

    def _figures(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Return the figures of each evaluator: of the session, then of each marked test."""
        tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
        for nodeid, (test, found, group) in self._found.items():
            is_marked = test in self._rates
            for name, score, passed in found:
                row = Row(nodeid, name, score, passed, None, None, {}, score is None, None, group)
                for part in ("", test) if is_marked else ("",):
                    tallies[part, name].add([row])
        by_part = sorted(tallies.items(), key=lambda item: item[0][0] != "")
        return [(test, name, each.summary()) for (test, name), each in by_part]
