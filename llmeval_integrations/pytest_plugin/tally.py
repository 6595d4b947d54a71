"""The figures of a session."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from llmeval_integrations.pytest_plugin.plugin import Sent
from llmeval_integrations.reports.run_view import rates
from llmeval_integrations.reports.terminal import as_text
from llmeval_integrations.reports.view import Cell, View
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.summary import Tally


class Tallies:
    """The figures of a session, by test and evaluator. Each evaluation counts."""

    def __init__(self) -> None:
        self._sent: dict[str, Sent] = {}

    def __bool__(self) -> bool:
        return any(found for _, found, *_ in self._sent.values())

    def note(self, nodeid: str, sent: Sent) -> None:
        """Store the evaluations of a row or test so far; they replace those stored before.

        They are sent after each phase and subtest, and again if a test is repeated.
        """
        self._sent[nodeid] = sent

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
        required = {test: rate for test, _, rate, *_ in self._sent.values() if rate is not None}
        for test, name, figures in self._figures():
            least, rate = required.get(test, 1), figures["pass_rate"]
            if least < 1 and (rate or 0.0) < least:
                passed = "nothing" if rate is None else f"{rate:.6g}"  # 0.7996 is not 80.0 %
                yield f"{test}: {name} passed {passed}, under min_pass_rate={least:g}"

    def _figures(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Return the figures of each evaluator: of the session, then of each marked test.

        Several evaluations of a row are not independent, so the row is their group.
        """
        tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
        sent = self._sent.items()
        times = Counter(
            (test, name, row) for _, (test, found, *_, row) in sent for name, *_ in found
        )
        for nodeid, (test, found, rate, group, row) in sent:
            for name, score, passed in found:
                is_repeated = row is not None and times[test, name, row] > 1
                of = group or (f"{test}[{row}]" if is_repeated else None)
                each = Row(nodeid, name, score, passed, None, None, {}, score is None, None, of)
                for part in ("",) if rate is None else ("", test):
                    tallies[part, name].add([each])
        by_part = sorted(tallies.items(), key=lambda item: item[0][0] != "")
        return [(test, name, each.summary()) for (test, name), each in by_part]
