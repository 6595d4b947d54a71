"""A run, or several beside each other, as one HTML file that needs nothing but itself."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.reports.markup import Html, joined, tag
from llmeval_integrations.reports.parts.failing import MOST_LISTED, MOST_SHOWN, Listing
from llmeval_integrations.reports.parts.figures import figures_of
from llmeval_integrations.reports.parts.names import names_of
from llmeval_integrations.reports.parts.overview import Named, evaluators_of, overview
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_manifest

SUFFIX: Final = ".html"

_DATE: Final = len("2026-01-31")

_ACTIVE: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""What must not stand in a script element as it is, and what UTF-8 has no form for."""


def write(runs: Sequence[Run], out: BinaryIO, *, live: bool = False) -> None:
    """Write the page; a live one asks its server every few seconds for news."""
    named: Named = {
        name: (run, figures_of(run)) for name, run in zip(names_of(runs), runs, strict=True)
    }
    out.write(_page(named, live=live).encode())


def _page(runs: Named, *, live: bool) -> str:
    evaluators = evaluators_of(runs)
    listing = Listing(list(runs), evaluators)
    for number, (run, figures) in enumerate(runs.values()):
        listing.add(number, run, figures)
    manifests = {name: _manifest(run) for name, (run, _) in runs.items()}
    title = f"Evaluation: {', '.join(_named(*each) for each in manifests.items())}"
    style, script = _file("page.css"), _file("page.js") + (_file("live.js") if live else "")
    head = tag(
        "head",
        Html('<meta charset="utf-8">'),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script, live)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", Html(style)),
    )
    main = tag(
        "main",
        tag("div", overview(runs, compared=not live), id="overview"),
        _samples(listing),
        _what_was_run(manifests),
        id="main",
    )
    body = tag(
        "body",
        tag("a", "Skip to the samples", href="#samples", class_="skip"),
        tag("header", tag("h1", title)),
        main,
        tag("script", Html(_embedded(listing.data())), type="application/json", id="data"),
        tag("script", Html(script)),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def _policy(style: str, script: str, live: bool) -> str:
    """Allow this style and this script and nothing else; a live page may ask its server."""
    connect = " connect-src 'self';" if live else ""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)};{connect} "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _embedded(data: Any) -> str:
    """Write JSON that can stand in a script element, whatever is in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return _ACTIVE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _file(name: str) -> str:
    return (files(__package__) / "parts" / name).read_text("utf-8")


def _samples(listing: Listing) -> Html:
    """Write the place of the samples, which the script fills."""
    note = f"{counted(listing.failing, 'sample')} did not pass."
    if listing.failing > MOST_SHOWN:
        note += (
            f" The worst {MOST_LISTED:,} of a run are listed, and up to {MOST_SHOWN:,} of them,"
            " some of each kind, are shown with their texts; the rest is in results.jsonl and"
            " samples.jsonl."
        )
    script = tag("noscript", tag("p", "Filters and samples need scripts to be allowed."))
    return tag(
        "section",
        tag("h2", "Samples that did not pass", id="samples-title"),
        tag("p", note, class_="quiet"),
        script,
        tag("form", id="filters", aria_label="Filter the samples"),
        tag("p", id="count", role="status", aria_live="polite"),
        tag("div", id="list"),
        tag("nav", id="pages", aria_label="Pages of samples"),
        id="samples",
        aria_labelledby="samples-title",
    )


def _named(name: str, manifest: dict[str, Any] | None) -> str:
    """Name a run with its file of data and the day on which it began, as far as these are known."""
    if manifest is None:
        return name
    data = Path(manifest["data"].get("path", "")).name
    known = [each for each in (data, manifest["started"][:_DATE]) if each]
    return f"{name} ({', '.join(known)})"


def _what_was_run(manifests: Mapping[str, dict[str, Any] | None]) -> Html:
    details = [
        tag("details", tag("summary", name), tag("pre", *_lines(manifest)))
        for name, manifest in manifests.items()
        if manifest is not None
    ]
    heading = tag("h2", "What was run", id="run-title")
    return tag("section", heading, *details, aria_labelledby="run-title") if details else Html()


def _lines(manifest: dict[str, Any]) -> list[Html]:
    """Write a manifest line by line, since a line break in a text would be written out."""
    lines = json.dumps(manifest, indent=2, ensure_ascii=False).split("\n")
    return [joined([line, Html("\n")]) for line in lines]


def _manifest(run: Run) -> dict[str, Any] | None:
    try:
        return None if run.out is None else read_manifest(run.out)
    except InputError:
        return None
