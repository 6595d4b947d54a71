"""A run as JUnit XML: a suite for each evaluator, a case for each sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import BinaryIO, Final
from xml.sax.saxutils import quoteattr

from llmeval_integrations.core.escape import make_printable
from llmeval_integrations.reports.tables import names_of, rows_of
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import find_cause

SUFFIX: Final = ".xml"


def write(runs: Sequence[Run], out: BinaryIO) -> None:
    """Write the rows as test cases.

    A failed row is a failure, an error row is an error, and an unscored row is skipped. A row
    with a score but no verdict is a plain case. An incomplete run has one more error, in a suite
    of its own.
    """
    out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
    for name, run in zip(names_of(runs), runs, strict=True):
        if run.incomplete:
            why = f"incomplete: {run.incomplete}"
            whole = Row("the run is complete", "", None, None, None, None, {}, False, why)
            out.write(_suite(name, [whole]).encode())
        for evaluator in run.summary["evaluators"]:
            suite = evaluator if len(runs) == 1 else f"{name}.{evaluator}"
            rows = (row for row in rows_of(run) if row.evaluator == evaluator)
            out.write(_suite(suite, rows).encode())
    out.write(b"</testsuites>\n")


def _suite(name: str, rows: Iterable[Row]) -> str:
    counts: Counter[str] = Counter()
    cases = []
    for row in rows:
        kind = "skipped" if row.unscored else "failure" if row.passed is False else ""
        kind = kind if row.error is None else "error"
        counts[kind] += 1
        about = {"classname": name, "name": text_of(row.id)}
        cases.append(_element("testcase", _report(kind, row) if kind else "", **about))
    figures = {f"{kind}s": str(counts[kind]) for kind in ("failure", "error")}
    figures |= {"tests": str(counts.total()), "skipped": str(counts["skipped"])}
    return _element("testsuite", "\n" + "".join(cases), name=name, **figures)


def _report(kind: str, row: Row) -> str:
    (_, label), reason = find_cause(row)
    message = reason if row.score is None else f"score {row.score:g}: {reason}"
    type_ = "failure" if label == "failed" else label
    return _element(kind, message=message, **({} if kind == "skipped" else {"type": type_}))


def _element(tag: str, content: str = "", /, **attributes: str) -> str:
    """Write an element; characters that XML does not allow are written as escapes."""
    said = "".join(f" {key}={quoteattr(make_printable(text))}" for key, text in attributes.items())
    return f"<{tag}{said}>{content}</{tag}>\n" if content else f"<{tag}{said}/>\n"
