"""Results of promptfoo, as `promptfoo eval -o results.json` writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import free_name, shorten
from llmeval_integrations.core.result import Result
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.runs.logs.log import Log, LoggedSample, score_of

_WHOLE: Final = "promptfoo"
"""The evaluator that combines all assertions of a test."""

_NO_ASSERTION: Final = Result(None, None, "no_assertion", answered=True)
"""The result of an assertion that the test does not have."""

_ERROR: Final = 2
"""The `failureReason` of a test without an output."""


def read_document(document: Mapping[str, Any], column: int | None) -> Log:
    """Read the results in one column of promptfoo's table, or in all columns.

    A column is one prompt with one provider. Raises InputError if there is no such column.
    """
    results = sorted(document["results"]["results"], key=lambda each: each["testIdx"])
    columns = {each["promptIdx"]: _column(each) for each in results}
    if column is not None:
        if column - 1 not in columns:
            known = ", ".join(f"{each + 1} ({columns[each]})" for each in sorted(columns))
            raise InputError(f"no column is {column}; there are {known}")
        columns = {column - 1: columns[column - 1]}
    samples = [*_samples(results, columns)]
    names = dict.fromkeys([_WHOLE, *(name for each in samples for name in each.results)])
    metadata = document.get("metadata") or {}
    return Log(
        "results of promptfoo",
        samples,
        {name: {} for name in names},
        {
            "version": f"promptfoo {metadata.get('promptfooVersion')}",
            "started": str(document["results"].get("timestamp", "")),
            "prompts": [columns[each] for each in sorted(columns)],
        },
    )


def _column(result: Mapping[str, Any]) -> str:
    provider, prompt = result["provider"], result["prompt"].get("label", "")
    return f"{provider.get('label') or provider['id']}: {shorten(prompt, 40)}"


def _samples(results: list[dict[str, Any]], columns: Mapping[int, str]) -> Iterator[LoggedSample]:
    """Read the results in these columns. All results of one test are a group.

    For promptfoo, each repeat is a test. Repeats have equal variables and assertions.
    """
    tests: dict[str, list[dict[str, Any]]] = {}
    for each in results:
        case = each["testCase"]
        key = canonical([each.get("vars"), case.get("description"), case.get("assert")])
        tests.setdefault(key, []).append(each)
    named = Counter(each[0]["testCase"].get("description") for each in tests.values())
    for number, tries in enumerate(tests.values(), 1):
        description = tries[0]["testCase"].get("description")
        test = description if description and named[description] == 1 else number
        repeats: Counter[int] = Counter()
        chosen = [each for each in tries if each["promptIdx"] in columns]
        for each in chosen:
            column = each["promptIdx"]
            repeats[column] += 1
            marks = [f"column {column + 1}"] if len(columns) > 1 else []
            marks += [f"repeat {repeats[column]}"] if repeats[column] > 1 else []
            fields = {"id": f"{test} ({', '.join(marks)})" if marks else test, **_fields(each)}
            if len(chosen) > 1:
                fields["group"] = test
            if each.get("failureReason") == _ERROR:
                yield LoggedSample(fields, {}, f"ProviderError: {each.get('error')}")
            else:
                yield LoggedSample(fields, _results(each), _NO_ASSERTION)


def _fields(result: Mapping[str, Any]) -> dict[str, Any]:
    response, grading = result.get("response") or {}, result.get("gradingResult") or {}
    fields = {"output": response.get("output"), "input": result["prompt"].get("raw", "")}
    for each in grading.get("componentResults") or ():
        assertion = each.get("assertion") or {}
        if assertion.get("type") == "equals":
            rendered = (each.get("metadata") or {}).get("renderedAssertionValue")
            fields["reference"] = assertion.get("value") if rendered is None else rendered
    return fields


def _results(result: Mapping[str, Any]) -> dict[str, Result | str]:
    """Read the results of the test and of its assertions."""
    grading = result.get("gradingResult") or {}
    components = grading.get("componentResults") or ()
    names = _names(each.get("assertion") or {} for each in components)
    parts = dict(zip(names, map(_result, components), strict=True))
    errors = [each for each in parts.values() if isinstance(each, str)]
    passed, reason = result["success"], grading.get("reason")
    # In the score of the whole test, a failed grader counts as 0.
    is_error = errors and not passed
    whole = errors[0] if is_error else Result(score_of(result.get("score")), passed, None, reason)
    return {_WHOLE: whole, **parts}


def _names(assertions: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name each assertion by its metric or, without one, by its type."""
    names = [_WHOLE]
    for each in assertions:
        name = each.get("metric") or each.get("type") or "assert-set"
        names.append(free_name(str(name), names))
    return names[1:]


def _result(component: Mapping[str, Any]) -> Result | str:
    if (component.get("metadata") or {}).get("graderError"):
        return f"GraderError: {component.get('reason')}"
    return Result(
        score_of(component.get("score")), component["pass"], None, component.get("reason")
    )
