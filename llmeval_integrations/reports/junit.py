"""A run as JUnit XML: a suite for each evaluator, a case for each sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from llmeval_integrations.core.quote import make_printable
from llmeval_integrations.reports.tables import name_runs, rows_of
from llmeval_integrations.runs.cells import text_of
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
    root = Element("testsuites")
    for name, run in name_runs(runs).items():
        if run.incomplete:
            why = f"incomplete: {run.incomplete}"
            whole = Row("the run is complete", "", None, None, None, None, {}, False, why)
            _add_suite(root, name, [whole])
        for evaluator in run.summary["evaluators"]:
            suite = evaluator if len(runs) == 1 else f"{name}.{evaluator}"
            _add_suite(root, suite, (row for row in rows_of(run) if row.evaluator == evaluator))
    indent(root)
    ElementTree(root).write(out, "UTF-8", xml_declaration=True)


def _add_suite(root: Element, name: str, rows: Iterable[Row]) -> None:
    suite = _add(root, "testsuite", name=name)
    counts: Counter[str] = Counter()
    for row in rows:
        case = _add(suite, "testcase", classname=name, name=text_of(row.id))
        kind = "skipped" if row.unscored else "failure" if row.passed is False else ""
        kind = kind if row.error is None else "error"
        counts[kind] += 1
        if kind:
            (_, label), reason = find_cause(row)
            message = reason if row.score is None else f"score {row.score:g}: {reason}"
            said = {} if kind == "skipped" else {"type": "failure" if label == "failed" else label}
            _add(case, kind, message=message, **said)
    for key, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(counts[kind]))
    suite.set("tests", str(len(suite)))


def _add(parent: Element, tag: str, /, **attributes: str) -> Element:
    """Add an element; characters that XML does not allow are written as escapes."""
    return SubElement(parent, tag, {key: make_printable(text) for key, text in attributes.items()})
