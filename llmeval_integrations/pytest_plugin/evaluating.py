"""Evaluating an output in a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

import pytest

from llmeval_integrations.core.catalog import list_evaluators
from llmeval_integrations.core.errors import EvalError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.pytest_plugin.found import FOUND, EvaluationFailure, Found
from llmeval_integrations.pytest_plugin.judges import Judges
from llmeval_integrations.pytest_plugin.marker import Marked
from llmeval_integrations.pytest_plugin.message import LONGEST, long_message, short_message
from llmeval_integrations.pytest_plugin.setups import Setups
from llmeval_integrations.runs.naming import name_evaluators

_FIELDS: Final = ("output", "reference", "input", "contexts", "schema", "variables")


class Evaluate:
    """The fixture `evaluate`."""

    def __init__(
        self, item: Any, judges: Judges, setups: Setups, marked: Marked | None, sample: Any
    ) -> None:
        self._item = item
        self._judges = judges
        self._setups = setups
        self._evaluators: Mapping[str, Evaluator] = {} if marked is None else marked.evaluators
        self._row = sample if isinstance(sample, Sample) else None
        self._unscored = item.config.getoption("--llmeval-unscored")

    def __call__(
        self,
        output: Any = MISSING,
        *evaluators: Evaluator,
        reference: Any = MISSING,
        input: Any = MISSING,
        contexts: Any = MISSING,
        schema: Any = MISSING,
        variables: Any = MISSING,
    ) -> Any:
        """Evaluate; raise EvaluationFailure unless all evaluators say that the output passes."""
        __tracebackhide__ = True
        try:
            sample = self._sample(output, reference, input, contexts, schema, variables)
            named = self._named(evaluators)
            results = {
                name: self._judges.ready(evaluator).evaluate(sample)
                for name, evaluator in named.items()
            }
        except EvalError as error:  # a wrong call: of interest is where it stands, not our frames
            raise error.with_traceback(None)  # noqa: B904 - the same one
        for name, result in results.items():
            self._record(name, self._setups.of(named[name]), result)
        bad = {name: result for name, result in results.items() if not result.passed}
        if bad:
            self._end(sample, bad)
        given = list(results.values())
        return given[0] if len(given) == 1 else given

    def _end(self, sample: Sample, bad: Mapping[str, Result]) -> NoReturn:
        """Fail the test, or skip it where no evaluator could tell and that is to be skipped."""
        __tracebackhide__ = True
        short = short_message(bad)
        untold = all(each.passed is None and each.is_unscored for each in bad.values())
        if untold and self._unscored == "skip":
            pytest.skip(short)
        undecided = any(each.passed is None or each.is_unscored for each in bad.values())
        raise EvaluationFailure(long_message(sample, bad), short, undecided=undecided)

    def _named(self, evaluators: Sequence[Evaluator]) -> Mapping[str, Evaluator]:
        """Name the evaluators that are given, or take the marker's."""
        for given in evaluators:
            if call := _right_call(given):
                raise InvalidOptionError(f"expected an Evaluator, got {quote(given)}; {call}")
        named = name_evaluators(evaluators) if evaluators else self._evaluators
        if not named:
            raise InvalidOptionError(
                "evaluate(output) needs an evaluator: evaluate(output, JsonValidity())"
            )
        return named

    def _sample(self, *given: Any) -> Sample:
        """Take from the row what is not given."""
        row = [MISSING] * len(_FIELDS)
        if self._row is not None:
            row = [getattr(self._row, name) for name in _FIELDS]
        values = [own if value is MISSING else value for value, own in zip(given, row)]
        if values[0] is MISSING:
            raise InvalidOptionError("evaluate() needs an output: the test has no row that has one")
        return Sample(*values)

    def _record(self, name: str, setup: tuple[str, ...], result: Result) -> None:
        """Keep a result for the summary, and for JUnit's properties."""
        score = None if result.score is None else float(result.score)
        passed = None if result.passed is None else bool(result.passed)
        label = None if result.label is None else one_line(str(result.label))[:LONGEST]
        reason = one_line(str(result.reason))[:LONGEST] if result.reason else None
        found = Found(name, setup, score, passed, label, reason)
        self._item.stash.setdefault(FOUND, []).append(found)


def _right_call(given: Any) -> str | None:
    """Word how to give what stands where only evaluators stand; None for what the core words."""
    if isinstance(given, (list, tuple)) and any(isinstance(each, Evaluator) for each in given):
        return "write them one by one: evaluate(output, JsonValidity(), JsonMatch())"
    is_name = isinstance(given, str) and given in list_evaluators()
    if isinstance(given, (Evaluator, type)) or is_name:
        return None
    return "what it is compared with is named: evaluate(output, JsonMatch(), reference=...)"
