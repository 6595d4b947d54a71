"""Evaluating an output in a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

from llmeval_integrations.core.catalog import list_evaluators
from llmeval_integrations.core.errors import EvalError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.pytest_plugin.finding import FINDINGS, EvaluationFailure, Finding
from llmeval_integrations.pytest_plugin.marker import Marker
from llmeval_integrations.pytest_plugin.message import LONGEST, long_message, short_message
from llmeval_integrations.runs.manifest import described
from llmeval_integrations.runs.options import name_evaluators

if TYPE_CHECKING:
    from llmeval_integrations.llm.cache import Cache

_FIELDS: Final = ("output", "reference", "input", "contexts", "schema", "variables")


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
        """Evaluate; raise EvaluationFailure unless all evaluators say that the output passes."""
        __tracebackhide__ = True
        try:
            sample = self._make_sample(output, reference, input, contexts, schema, variables)
            named = self._name(evaluators)
            with self._session():
                results = {name: each.evaluate(sample) for name, each in named.items()}
        except EvalError as error:  # a wrong call: of interest is where it stands, not our frames
            raise error.with_traceback(None)  # noqa: B904 - the same one
        for name, result in results.items():
            self._record(name, named[name], result)
        bad = {name: result for name, result in results.items() if not result.passed}
        if bad:
            self._end(sample, bad)
        found = list(results.values())
        return found[0] if len(found) == 1 else found

    def _make_sample(self, *given: Any) -> Sample:
        """Take from the row what is not given."""
        row = [getattr(self._sample, name, MISSING) for name in _FIELDS]
        values = [own if value is MISSING else value for value, own in zip(given, row)]
        if values[0] is MISSING:
            raise InvalidOptionError("evaluate() needs an output: the test has no row that has one")
        return Sample(*values)

    def _name(self, evaluators: tuple[Any, ...]) -> Mapping[str, Evaluator]:
        """Name the evaluators that are given, or take the marker's."""
        for given in evaluators:
            if isinstance(given, (list, tuple)) and any(
                isinstance(one, Evaluator) for one in given
            ):
                call = "write them one by one: evaluate(output, JsonValidity(), JsonMatch())"
            elif isinstance(given, (Evaluator, type)) or given in list_evaluators():
                continue
            else:
                call = "a reference is named: evaluate(output, JsonMatch(), reference=...)"
            raise InvalidOptionError(f"expected an Evaluator, got {quote(given)}; {call}")
        named = name_evaluators(evaluators) if evaluators else self._evaluators
        if not named:
            raise InvalidOptionError(
                "evaluate(output) needs an evaluator: evaluate(output, JsonValidity())"
            )
        return named

    def _session(self) -> AbstractContextManager[Any]:
        """Return a context in which judges ask only what the cache lacks."""
        if self._cache is None:
            return nullcontext()
        from llmeval_integrations.llm.session import Session

        return Session(cache=self._cache)

    def _record(self, name: str, evaluator: Evaluator, result: Result) -> None:
        """Keep a result for the summary, and for JUnit's properties."""
        finding = Finding(
            name,
            _word_options(evaluator),
            None if result.score is None else float(result.score),
            None if result.passed is None else bool(result.passed),
            None if result.label is None else one_line(str(result.label))[:LONGEST],
            one_line(str(result.reason))[:LONGEST] if result.reason else None,
        )
        self._item.stash.setdefault(FINDINGS, []).append(finding)

    def _end(self, sample: Sample, bad: Mapping[str, Result]) -> NoReturn:
        """Fail the test, or skip it where no evaluator could tell and that is to be skipped."""
        __tracebackhide__ = True
        short = short_message(bad)
        may_skip = self._item.config.getoption("--llmeval-unscored") == "skip"
        if may_skip and all(each.passed is None and each.is_unscored for each in bad.values()):
            pytest.skip(short)
        undecided = any(each.passed is None or each.is_unscored for each in bad.values())
        raise EvaluationFailure(long_message(sample, bad), short, undecided=undecided)


def _word_options(evaluator: Evaluator) -> str:
    """Write the options that are not the default ones, as `threshold=0.9`, without keys."""
    options = described(evaluator)["options"]
    words = []
    settings: tuple[Field[Any], ...] = fields(evaluator) if is_dataclass(evaluator) else ()
    for field in settings:
        default = field.default
        if field.default_factory is not NO_DEFAULT:
            default = field.default_factory()
        value = getattr(evaluator, field.name)
        if value is not default and not (type(value) is type(default) and value == default):
            text = json.dumps(options.get(field.name), sort_keys=True, ensure_ascii=False)
            words.append(f"{field.name}={text}")
    return one_line(", ".join(words))
