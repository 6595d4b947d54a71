"""The documentation: examples run, and links lead somewhere."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import rich
from examples import JUDGED

from llmeval_integrations import list_evaluators

DOCS = Path(__file__).parents[1] / "docs"
FOLDERS = [DOCS / name for name in ("tutorials", "how-to", "reference", "explanation")]
GUIDE = [page for folder in FOLDERS for page in sorted(folder.glob("*.md"))]
LINKING = [
    DOCS.parent / "README.md",
    DOCS.parent / "CONTRIBUTING.md",
    *(page for page in GUIDE if page.stem != "index"),
]


def test_every_evaluator_has_one_example():
    assert sorted(path.stem for path in (DOCS / "examples").glob("*.py")) == list_evaluators()


@pytest.mark.parametrize("name", list_evaluators())
def test_an_example_prints_what_it_says(name, capsys):
    if name in JUDGED:
        pytest.importorskip("langchain_core")
    path = DOCS / "examples" / f"{name}.py"
    rich.reconfigure()  # some frameworks change the console of the whole process
    runpy.run_path(str(path))
    lines = path.read_text().splitlines()
    said = [line.removeprefix("#> ") for line in lines if line.startswith("#> ")]
    assert said
    assert capsys.readouterr().out.splitlines() == said


@pytest.mark.parametrize("path", LINKING, ids=lambda path: path.stem)
def test_a_link_between_files_leads_somewhere(path):
    prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)", prose):
        file = path.parent / target if target else path
        if "/api/" in target or "/evaluators/" in target:  # made when the site is built
            continue
        assert file.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)", file.read_text(), re.MULTILINE)
            assert anchor in map(slug, titles), f"{target}#{anchor}"


def slug(title):
    """Write a title as GitHub does in an address."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


@pytest.mark.nightly  # `make docs` does the same
def test_the_site_builds_without_a_warning_and_every_link_leads_somewhere(tmp_path):
    for package in ("sphinx", "myst_nb", "furo", "langchain_core"):
        pytest.importorskip(package)
    site = tmp_path / "site"
    build = ["sphinx", "--quiet", "--fail-on-warning", "-d", tmp_path / "trees", DOCS, site]
    done = subprocess.run(
        [sys.executable, "-m", *build], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(runpy.run_path(str(DOCS / "links.py"))["problems"](site)) == []
