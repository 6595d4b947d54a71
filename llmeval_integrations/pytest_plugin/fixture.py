"""The marker `llmeval`, and the fixture `evaluate` with its message for what does not pass."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from llmeval_integrations.core.catalog import check_options
from llmeval_integrations.core.errors import EvalError, InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_number
from llmeval_integrations.core.quote import make_printable, one_line, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.pytest_plugin.plugin import EVALUATIONS, EvaluationFailure
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.data.source import open_source, parse_records
from llmeval_integrations.runs.options import name_evaluators

if TYPE_CHECKING:
    from llmeval_integrations.llm.cache import Cache

_LONGEST: Final = 2_000
"""The most characters of a reason, of the findings of an evaluator, and of an output."""


@dataclass
class Marker:
    """The arguments of a marker."""

    name = "llmeval"  # in messages about options

    data: str | Path

    evaluators: Any = ()
    """Evaluators, then by name; empty if the test passes its own."""

    min_pass_rate: float = 1.0
    """The share of rows that have to pass; below 1 single rows may fail."""

    columns: Mapping[str, str | None] | None = None

    def __post_init__(self) -> None:
        self.evaluators = name_evaluators(self.evaluators) if self.evaluators else {}
        check_number(self, "min_pass_rate", minimum=0, maximum=1)

    def read_samples(self, folder: Path) -> list[Sample]:
        """Read the rows; raise InputError for a row that is not a sample, or if there are none."""
        [columns] = columns_by_evaluator(self.columns or {}, ["row"]).values()
        source = open_source(folder / self.data)
        samples = []
        for number, row in parse_records(source.records):
            sample = columns.sample(row, number)
            if not isinstance(sample, Sample):
                raise type(sample)(f"{source.name}, row {number}: {sample}")
            samples.append(sample)
        if not samples:  # pytest would skip the test
            raise InputError(f"{source.name} has no rows")
        return samples


class Evaluate:
    """The fixture `evaluate`."""

    def __init__(
        self, item: Any, cache: Cache | None, marker: Marker | None, sample: Sample | None
    ) -> None:
        self._item, self._cache = item, cache
        self._sample = Sample(MISSING) if sample is None else sample
        self._evaluators: Mapping[str, Evaluator] = {} if marker is None else marker.evaluators

    def __call__(self, output: Any = MISSING, *evaluators: Evaluator, **fields: Any) -> Any:
        """Evaluate; raise EvaluationFailure unless the output passes all evaluators."""
        __tracebackhide__ = True
        if output is not MISSING:
            fields["output"] = output
        try:
            check_options("evaluate", fields, Sample.__struct_fields__)
            sample = replace(self._sample, **fields)
            if sample.output is MISSING:
                raise InvalidOptionError("evaluate() needs an output: the test has no row with one")
            named = name_evaluators(evaluators) if evaluators else self._evaluators
            if not named:
                raise InvalidOptionError(
                    "evaluate(output) needs an evaluator: evaluate(output, JsonValidity())"
                )
            results = self._evaluate(sample, named)
        except EvalError as error:  # a wrong call: show the line of the test, not our frames
            raise error.with_traceback(None)  # noqa: B904 - the same error
        bad = {name: result for name, result in results.items() if not result.passed}
        if bad:
            line = "; ".join(_word(*each) for each in bad.items())
            undecided = any(each.passed is None or each.is_unscored for each in bad.values())
            raise EvaluationFailure(_message(sample, bad), line, undecided=undecided)
        found = list(results.values())
        return found[0] if len(found) == 1 else found

    def _evaluate(self, sample: Sample, named: Mapping[str, Evaluator]) -> dict[str, Result]:
        """Evaluate the sample, with the cache for judges, and store the results for the summary."""
        session: Any = nullcontext()
        if self._cache is not None:
            from llmeval_integrations.llm.session import Session

            session = Session(cache=self._cache)
        with session:
            results = {name: each.evaluate(sample) for name, each in named.items()}
        self._item.stash.setdefault(EVALUATIONS, []).extend(
            (
                name,
                None if each.score is None else float(each.score),
                None if each.passed is None else bool(each.passed),
            )
            for name, each in results.items()
        )
        return results


def _message(sample: Sample, bad: Mapping[str, Result]) -> str:
    """Write the results that do not pass, with their findings, and the output."""
    lines: list[str] = []
    for name, result in bad.items():
        _, *findings = result.feedback(_LONGEST).split("\n")
        lines += [_word(name, result), *map(_indent, findings)]
    output = sample.output if isinstance(sample.output, str) else quote(sample.output)
    lines += ["output:", *map(_indent, output[:_LONGEST].split("\n"))]
    if len(output) > _LONGEST:
        lines[-1] += f" ... ({len(output):,} characters)"
    return "\n".join(lines)


def _indent(line: str) -> str:
    return f"  {make_printable(line)}".rstrip()


def _word(name: str, result: Result) -> str:
    state = result.label or ("failed" if result.scored else "unscored")
    if not result.is_unscored and result.passed is None:
        gave = f"a score ({result.score})" if result.scored else f"an answer ({result.label})"
        state = f"gave {gave} and no verdict; use an evaluator with a threshold, such as threshold"
    text = f"{name}: {state}: {result.reason}" if result.reason else f"{name}: {state}"
    return one_line(text)[:_LONGEST]
