"""A run as JUnit XML: a suite for each evaluator, a case for each sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import BinaryIO, Final
from xml.sax.saxutils import quoteattr

from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.reports.tables import names_of, rows_of
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run

SUFFIX: Final = ".xml"


def write(runs: Sequence[Run], out: BinaryIO) -> None:
    """Write the rows as test cases.

    A row that failed is a failure, one without a result an error, and one that is unscored is
    skipped; one that has a score and neither passed nor failed is a plain case. A run that is
    incomplete has one error more, in a suite of its own.
    """
    out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
    for name, run in zip(names_of(runs), runs, strict=True):
        if run.incomplete:
            why = _element("error", message=run.incomplete, type="incomplete")
            case = _element("testcase", why, classname=name, name="the run is complete")
            out.write(_suite(name, Counter(error=1)).encode() + case.encode() + b"</testsuite>\n")
        for evaluator in run.summary["evaluators"]:
            suite = evaluator if len(runs) == 1 else f"{name}.{evaluator}"
            counts = Counter(_kind(row) for row in rows_of(run) if row.evaluator == evaluator)
            out.write(_suite(suite, counts).encode())
            cases = (_case(suite, row) for row in rows_of(run) if row.evaluator == evaluator)
            out.writelines(case.encode() for case in cases)
            out.write(b"</testsuite>\n")
    out.write(b"</testsuites>\n")


def _kind(row: Row) -> str:
    if row.error is not None:
        return "error"
    if row.unscored:
        return "skipped"
    return "failure" if row.passed is False else ""


def _suite(name: str, counts: Counter[str]) -> str:
    figures = {f"{kind}s": str(counts[kind]) for kind in ("failure", "error")}
    attributes = {"tests": str(counts.total()), **figures, "skipped": str(counts["skipped"])}
    return _element("testsuite", name=name, **attributes).replace("/>", ">")


def _case(suite: str, row: Row) -> str:
    kind = _kind(row)
    about = {"classname": suite, "name": text_of(row.id)}
    if not kind:
        return _element("testcase", **about)
    if row.error is not None:
        label, _, reason = row.error.partition(": ")
    else:
        label, reason = str(row.label or kind), str(row.reason or "")
    message = reason if row.score is None else f"score {row.score:g}: {reason}"
    said = {"message": message} if kind == "skipped" else {"message": message, "type": label}
    return _element("testcase", _element(kind, **said), **about)


def _element(tag: str, content: str = "", /, **attributes: str) -> str:
    """Write an element, with what XML cannot hold written out."""
    said = "".join(f" {key}={quoteattr(make_printable(text))}" for key, text in attributes.items())
    return f"<{tag}{said}>{content}</{tag}>\n" if content else f"<{tag}{said}/>\n"
