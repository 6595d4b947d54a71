"""A run as JUnit XML: a suite for each evaluator, a case for each sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import BinaryIO, Final
from xml.sax.saxutils import quoteattr

from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.reports.rows import names_of, rows_of
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
            out.write(_incomplete(name, run.incomplete).encode())
        kinds = Counter((row.evaluator, _kind(row)) for row in rows_of(run))
        for evaluator in run.summary["evaluators"]:
            suite = evaluator if len(runs) == 1 else f"{name}.{evaluator}"
            count = {kind: kinds[evaluator, kind] for kind in ("", *_KINDS)}
            out.write(
                f'<testsuite name={_attribute(suite)} tests="{sum(count.values())}" '
                f'failures="{count["failure"]}" errors="{count["error"]}" '
                f'skipped="{count["skipped"]}">\n'.encode()
            )
            for row in rows_of(run):
                if row.evaluator == evaluator:
                    out.write(_case(suite, row).encode())
            out.write(b"</testsuite>\n")
    out.write(b"</testsuites>\n")


_KINDS: Final = ("failure", "error", "skipped")


def _kind(row: Row) -> str:
    if row.error is not None:
        return "error"
    if row.unscored:
        return "skipped"
    return "failure" if row.passed is False else ""


def _case(suite: str, row: Row) -> str:
    head = f"<testcase classname={_attribute(suite)} name={_attribute(text_of(row.id))}"
    kind = _kind(row)
    if not kind:
        return f"{head}/>\n"
    if row.error is not None:
        label, _, reason = row.error.partition(": ")
    else:
        label, reason = str(row.label or kind), str(row.reason or "")
    message = reason if row.score is None else f"score {row.score:g}: {reason}"
    said = f"message={_attribute(message)}" + (
        f" type={_attribute(label)}" if kind != "skipped" else ""
    )
    return f"{head}><{kind} {said}/></testcase>\n"


def _incomplete(name: str, reason: str) -> str:
    return (
        f'<testsuite name={_attribute(name)} tests="1" failures="0" errors="1" skipped="0">\n'
        f'<testcase classname={_attribute(name)} name="the run is complete">'
        f'<error message={_attribute(reason)} type="incomplete"/></testcase>\n</testsuite>\n'
    )


def _attribute(text: str) -> str:
    """Quote a text for XML, with what XML cannot hold written out."""
    return quoteattr(make_printable(text))
