"""Results of promptfoo, as `promptfoo eval -o results.json` writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import free_name, shorten
from llmeval_integrations.core.result import Result
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.runs.logs.log import Log, LoggedSample, score_of

_WHOLE: Final = "promptfoo"  # the evaluator that combines all assertions of a test
_NO_ASSERTION: Final = Result(None, None, "no_assertion", answered=True)
"""The result of an assertion that the test does not have."""

_ERROR: Final = 2  # the `failureReason` of a test without an output


def read_document(document: Mapping[str, Any], column: int | None) -> Log:
    """Read the results in one column of promptfoo's table, or in all columns.

    A column is one prompt with one provider. Raises InputError if there is no such column.
    """
    results = sorted(document["results"]["results"], key=lambda each: each["testIdx"])
    columns = {}
    for each in results:
        provider, prompt = each["provider"], shorten(each["prompt"].get("label", ""), 40)
        columns[each["promptIdx"]] = f"{provider.get('label') or provider['id']}: {prompt}"
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
    grading, passed = result.get("gradingResult") or {}, result["success"]
    whole = Result(score_of(result.get("score")), passed, None, grading.get("reason"))
    found: dict[str, Result | str] = {_WHOLE: whole}
    for each in grading.get("componentResults") or ():
        assertion, score = each.get("assertion") or {}, score_of(each.get("score"))
        # An assertion has the name of its metric or, without one, of its type.
        name = str(assertion.get("metric") or assertion.get("type") or "assert-set")
        is_error = (each.get("metadata") or {}).get("graderError")
        found[free_name(name, found)] = (
            f"GraderError: {each.get('reason')}"
            if is_error
            else Result(score, each["pass"], None, each.get("reason"))
        )
    errors = [each for each in found.values() if isinstance(each, str)]
    if errors and not passed:  # in the score of the whole test, a failed grader counts as 0
        found[_WHOLE] = errors[0]
    return found
