"""Evaluating an output in a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, Final

import pytest

from llmeval_integrations.errors import EvalError, InvalidOptionError
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.explaining import explain
from llmeval_integrations.printable import one_line, printable
from llmeval_integrations.result import Result
from llmeval_integrations.runs.naming import free_name, name_evaluators
from llmeval_integrations.sample import MISSING, Sample
from llmeval_integrations.testing.found import FOUND, EvaluationFailure, Found
from llmeval_integrations.testing.judges import Judges
from llmeval_integrations.testing.marker import Marked
from llmeval_integrations.wording import shown

_FIELDS: Final = ("output", "reference", "input", "contexts", "variables")
_WIDTH: Final = 100
_LONGEST: Final = 2_000


class Evaluate:
    """The fixture `evaluate`."""

    def __init__(
        self, item: Any, judges: Judges, marked: Marked | None, sample: Any, unscored: str
    ) -> None:
        self._item = item
        self._judges = judges
        self._evaluators: Mapping[str, Evaluator] = {} if marked is None else marked.evaluators
        self._row = sample if isinstance(sample, Sample) else None
        self._unscored = unscored

    def __call__(
        self,
        output: Any = MISSING,
        *evaluators: Evaluator,
        reference: Any = MISSING,
        input: Any = MISSING,
        contexts: Any = MISSING,
        variables: Any = MISSING,
    ) -> Any:
        """Evaluate; raise EvaluationFailure unless all evaluators say that the output passes."""
        __tracebackhide__ = True
        sample = self._sample(output, reference, input, contexts, variables)
        named = name_evaluators(evaluators) if evaluators else self._evaluators
        if not named:
            raise InvalidOptionError(
                "evaluate(output) needs an evaluator: evaluate(output, JsonValidity())"
            )
        try:
            results = {
                name: self._judges.ready(evaluator).evaluate(sample)
                for name, evaluator in named.items()
            }
        except EvalError as error:  # a wrong call: of interest is where it stands, not our frames
            raise error.with_traceback(None)  # noqa: B904 - the same one
        for name, result in results.items():
            self._record(name, result)
        bad = {name: result for name, result in results.items() if not result.passed}
        wrong = {name: result for name, result in bad.items() if result.passed is False}
        if not wrong and self._unscored == "skip" and any(not each.scored for each in bad.values()):
            pytest.skip("; ".join(_short(name, result) for name, result in bad.items()))
        bad = {name: result for name, result in bad.items() if _is_failure(result)}
        if bad:
            short = "; ".join(_short(name, result) for name, result in bad.items())
            unscored = any(not result.scored for result in bad.values())
            raise EvaluationFailure(_message(sample, bad), short, unscored=unscored)
        given = list(results.values())
        return given[0] if len(given) == 1 else given

    def _sample(self, *given: Any) -> Sample:
        """Take from the row what is not given."""
        row = [MISSING] * len(_FIELDS)
        if self._row is not None:
            row = [getattr(self._row, name) for name in _FIELDS]
        values = [own if value is MISSING else value for value, own in zip(given, row)]
        if values[0] is MISSING:
            raise InvalidOptionError("evaluate() needs an output: the test has no row that has one")
        return Sample(*values)

    def _record(self, name: str, result: Result) -> None:
        """Keep a result for the summary, and for JUnit's properties."""
        found: list[Found] = self._item.stash.setdefault(FOUND, [])
        score = None if result.score is None else float(result.score)
        reason = None if result.reason is None else one_line(str(result.reason))[:_LONGEST]
        label = None if result.label is None else one_line(str(result.label))[:_LONGEST]
        found.append(Found(name, score, result.passed, label, reason))
        known = [key.rpartition(".")[0] for key, _ in self._item.user_properties]
        place = free_name(f"llmeval.{name}", known)
        for key, value in (("score", score), ("passed", result.passed), ("label", label)):
            if value is not None:
                self._item.user_properties.append((f"{place}.{key}", value))
        if reason:
            self._item.user_properties.append((f"{place}.reason", reason))


def _is_failure(result: Result) -> bool:
    """Whether a result fails a test; a score that neither passes nor fails does not."""
    return result.passed is False or not result.scored


def _short(name: str, result: Result) -> str:
    state = result.label or ("failed" if result.scored else "unscored")
    return one_line(f"{name}: {state}: {result.reason}" if result.reason else f"{name}: {state}")


def _message(sample: Sample, bad: Mapping[str, Result]) -> str:
    lines: list[str] = []
    for name, result in bad.items():
        file = StringIO()
        _explain(result, file)
        lines += [_short(name, result), *_indented(file.getvalue())]
    lines.append("output:")
    lines += _indented(_text(sample.output))
    return "\n".join(lines)


def _explain(result: Result, file: StringIO) -> None:
    from rich.console import Console

    explain(result, Console(file=file, width=_WIDTH, color_system=None))


def _indented(text: str) -> Sequence[str]:
    return [f"  {line}".rstrip() for line in text.rstrip().split("\n")]


def _text(output: Any) -> str:
    text = output if isinstance(output, str) else shown(output)
    lines = "\n".join(map(printable, text[:_LONGEST].split("\n")))
    return lines if len(text) <= _LONGEST else f"{lines} ... ({len(text):,} characters)"
