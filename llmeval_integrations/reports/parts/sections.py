"""The pieces of which a report's page is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from llmeval_integrations.reports.markup import Html, tag

_LONGEST_ID: Final = 40


def section(name: str, title: str, *parts: Html) -> Html:
    """Write a section under its heading."""
    heading = tag("h2", title, id=f"{name}-title")
    return tag("section", heading, *parts, id=name, aria_labelledby=f"{name}-title")


def table(label: str, heads: Sequence[str], rows: Sequence[Html], class_: str = "") -> Html:
    """Write a table that scrolls by itself where the page is narrow."""
    cells = [tag("th", head, scope="col") for head in heads]
    body = tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows), class_=class_ or None)
    return tag("div", body, class_="wide", role="region", aria_label=label, tabindex=0)


def number(value: str, class_: str = "") -> Html:
    """Write a cell with a figure."""
    return tag("td", value, class_=f"number {class_}".strip())


def sample_link(id_: str, evaluator: str, run: str) -> Html:
    """Write a link to a sample, which the script follows where it is listed."""
    shown = id_ if len(id_) <= _LONGEST_ID else f"{id_[:_LONGEST_ID]}..."
    known = {"data_evaluator": evaluator, "data_run": run or None, "data_sample": id_}
    return tag("a", shown or '""', href="#samples", **known)
