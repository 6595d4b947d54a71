"""The fixture `evaluate`, and its message for an output that does not pass."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec
import pytest

from llmeval_integrations.core.errors import EvalError, InvalidOptionError
from llmeval_integrations.core.escape import make_printable, one_line, plain_console
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.pytest_plugin.evaluation import (
    EVALUATIONS,
    Evaluation,
    EvaluationFailure,
)
from llmeval_integrations.pytest_plugin.marker import Marker
from llmeval_integrations.reports.explain import explain
from llmeval_integrations.reports.outcomes import objects
from llmeval_integrations.runs.options import name_evaluators

if TYPE_CHECKING:
    from llmeval_integrations.llm.cache import Cache

_FIELDS: Final = ("output", "reference", "input", "contexts", "schema", "variables")
_LISTS: Final = ("outcomes", "differences", "errors", "calls")
_LONGEST: Final = 2_000
"""The most characters of a reason, and of an output."""

_MOST_ENTRIES: Final = 20
_WIDTH: Final = 100


class Evaluate:
    """The fixture `evaluate`."""

    def __init__(
        self, item: Any, cache: Cache | None, marker: Marker | None, sample: Sample | None
    ) -> None:
        self._item, self._cache, self._sample = item, cache, sample
        self._evaluators: Mapping[str, Evaluator] = {} if marker is None else marker.evaluators

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
        """Evaluate; raise EvaluationFailure unless the output passes all evaluators."""
        __tracebackhide__ = True
        try:
            sample = self._make_sample(output, reference, input, contexts, schema, variables)
            named = self._name(evaluators)
            with self._session():
                results = {name: each.evaluate(sample) for name, each in named.items()}
        except EvalError as error:  # a wrong call: show the line of the test, not our frames
            raise error.with_traceback(None)  # noqa: B904 - the same error
        said = self._item.stash.setdefault(EVALUATIONS, [])
        said += [_record(name, result) for name, result in results.items()]
        bad = {name: result for name, result in results.items() if not result.passed}
        if bad:
            self._end(sample, bad)
        found = list(results.values())
        return found[0] if len(found) == 1 else found

    def _make_sample(self, *given: Any) -> Sample:
        row = [getattr(self._sample, name, MISSING) for name in _FIELDS]
        values = [own if value is MISSING else value for value, own in zip(given, row)]
        if values[0] is MISSING:
            raise InvalidOptionError("evaluate() needs an output: the test has no row with one")
        return Sample(*values)

    def _name(self, evaluators: tuple[Any, ...]) -> Mapping[str, Evaluator]:
        if evaluators:
            return name_evaluators(evaluators)
        if not self._evaluators:
            raise InvalidOptionError(
                "evaluate(output) needs an evaluator: evaluate(output, JsonValidity())"
            )
        return self._evaluators

    def _session(self) -> AbstractContextManager[Any]:
        """Return a context in which judges use the cache."""
        if self._cache is None:
            return nullcontext()
        from llmeval_integrations.llm.session import Session

        return Session(cache=self._cache)

    def _end(self, sample: Sample, bad: Mapping[str, Result]) -> NoReturn:
        """Fail the test, or skip it if all bad results are unscored and the option says so."""
        __tracebackhide__ = True
        line = "; ".join(_word(*each) for each in bad.items())
        may_skip = self._item.config.getoption("--llmeval-unscored") == "skip"
        if may_skip and all(each.passed is None and each.is_unscored for each in bad.values()):
            pytest.skip(line)
        undecided = any(each.passed is None or each.is_unscored for each in bad.values())
        raise EvaluationFailure(_message(sample, bad), line, undecided=undecided)


def _record(name: str, result: Result) -> Evaluation:
    """Convert a result for the summary and for the properties in JUnit files."""
    score, passed = result.score, result.passed
    texts = (
        one_line(str(text))[:_LONGEST] if text else None for text in (result.label, result.reason)
    )
    numbers = None if score is None else float(score), None if passed is None else bool(passed)
    return Evaluation(name, *numbers, *texts)


def _message(sample: Sample, bad: Mapping[str, Result]) -> str:
    """Write the results that do not pass, with their details, and the output."""
    lines: list[str] = []
    for name, result in bad.items():
        lines.append(_word(name, result))
        if result.is_unscored or result.passed is not None:
            lines += _draw(result)
    output = sample.output if isinstance(sample.output, str) else quote(sample.output)
    text = "\n".join(map(make_printable, output[:_LONGEST].split("\n")))
    more = "" if len(output) <= _LONGEST else f" ... ({len(output):,} characters)"
    return "\n".join([*lines, "output:", *_indent(text + more)])


def _word(name: str, result: Result) -> str:
    state = result.label or ("failed" if result.scored else "unscored")
    if not result.is_unscored and result.passed is None:
        gave = f"a score ({result.score})" if result.scored else f"an answer ({result.label})"
        state = f"gave {gave} and no verdict; use an evaluator with a threshold, such as threshold"
    text = f"{name}: {state}: {result.reason}" if result.reason else f"{name}: {state}"
    return one_line(text)[:_LONGEST]


def _draw(result: Result) -> list[str]:
    """Draw a result as a tree of its first entries."""
    name = next((name for name in _LISTS if objects(result.metadata.get(name))), "")
    listed = objects(result.metadata.get(name))
    first = listed[:_MOST_ENTRIES]
    metadata: dict[str, Any] = {name: first}
    if name == "outcomes":
        fields = result.metadata.get("fields", {})
        named = {outcome.get("field") for outcome in first}
        metadata["fields"] = {path: fields[path] for path in fields if path in named}
    console = plain_console(_WIDTH)
    with console.capture() as capture:
        explain(msgspec.structs.replace(result, metadata=metadata), console)
    lines = _indent(capture.get())
    more = len(listed) - len(first)
    return [*lines, f"  and {more:,} more"] if more else lines


def _indent(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in text.rstrip().split("\n")]
