"""One run, or several side by side, as a single self-contained HTML file."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from llmeval_integrations.core.quote import make_printable
from llmeval_integrations.reports.comparison_view import views_of_comparisons
from llmeval_integrations.reports.run_view import view_of_run
from llmeval_integrations.reports.samples import samples_of_page
from llmeval_integrations.reports.tables import name_runs
from llmeval_integrations.reports.view import View
from llmeval_integrations.runs.load import find_manifest
from llmeval_integrations.runs.run import Run

SUFFIX: Final = ".html"

_DATE: Final = len("2026-01-31")
_CHANGES: Final = 20
_ACTIVE: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""Characters that a script element must not contain, and those that UTF-8 cannot encode."""


def write(runs: Sequence[Run], out: BinaryIO, *, version: str = "") -> None:
    """Write the page; with a `version` it asks its server every few seconds for a newer one."""
    named = name_runs(runs)
    manifests = {name: find_manifest(run.out) for name, run in named.items()}
    scripts = ("marks.js", "page.js", *(["live.js"] if version else []))
    is_whole = not version or not any(run.incomplete for run in runs)
    style, script = _file("page.css"), Markup().join(map(_file, scripts))
    samples = samples_of_page(named)
    text = (
        _environment()
        .get_template("page.html.j2")
        .render(
            title=", ".join(_title(*each) for each in manifests.items()),
            policy=_policy(style, script, connect="'self'" if version else "'none'"),
            style=style,
            script=script,
            views={name: view_of_run(run, name) for name, run in named.items()},
            version=version,
            # A comparison of a part, which grows on a live page, would mislead.
            comparisons=[*views_of_comparisons(named, _CHANGES)] if is_whole else [],
            evaluators=samples["evaluators"],
            data=_embed(samples),
            manifests={
                name: json.dumps(manifest, indent=2, ensure_ascii=False)
                for name, manifest in manifests.items()
                if manifest
            },
        )
    )
    out.write(text.encode())


def as_fragment(view: View) -> str:
    """Write a view as HTML for a notebook, with its own style."""
    template = _environment().get_template("notebook.html.j2")
    return template.render(view=view, style=_file("notebook.css"))


@cache
def _environment() -> Environment:
    """Return the environment of the templates.

    It escapes every text and writes unprintable characters as escapes. It does not change Markup.
    """
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        finalize=lambda value: make_printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A name breaks after `/` and `_`, but not after the first slash of a path.
    environment.filters["breakable"] = lambda text: Markup("<wbr>").join(
        re.split(r"(?<=[^\s/][/_])", make_printable(text))
    )
    return environment


def _policy(style: str, script: str, connect: str) -> str:
    """Allow only this style and this script; a live page may also ask its server."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _embed(data: Any) -> Markup:
    """Write JSON that is safe in a script element, whatever it contains."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = _ACTIVE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return Markup(text)  # noqa: S704 - every bracket is escaped


def _file(name: str) -> Markup:
    """Read one of our own files."""
    return Markup((files(__package__) / "templates" / name).read_text("utf-8"))  # noqa: S704


def _title(name: str, manifest: Mapping[str, Any]) -> str:
    """Name a run, with its data file and the day of its start if these are known."""
    if not manifest:
        return name
    known = Path(manifest["data"].get("path", "")).name, manifest["started"][:_DATE]
    return f"{name} ({', '.join(filter(None, known))})"
