"""README, pages, examples, demo and charts: what they say is printed, and links lead somewhere."""

import ast
import re
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import rich
from examples import DETERMINISTIC, JUDGED

from llmeval_integrations import evaluate, list_evaluators
from llmeval_integrations.core.catalog import evaluator_class
from llmeval_integrations.demo import EVAL, OUTPUTS, SCHEMA

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = [DOCS / name for name in ("tutorials", "how-to", "reference", "explanation")]
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
PAGES = [README, *(page for folder in FOLDERS for page in sorted(folder.glob("*.md")))]
BLOCK = re.compile(r"^```([\w{}]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# A block that stands on two pages runs once.
BLOCKS = list(dict.fromkeys(block for page in PAGES for block in BLOCK.findall(page.read_text())))
# The text below a shell block is part of what it prints.
BELOW = re.compile(r"^```bash\n([^`]*)^```\n\n```text\n([^`]*)^```$", re.MULTILINE)
PRINTED = dict(block for page in PAGES for block in BELOW.findall(page.read_text()))
LOGS = {
    "inspect_a.json": "before.eval",  # in JSON, as not every Python reads zstd
    "inspect_b.json": "after.eval",
    "promptfoo.json": "results.json",
    "samples_capitals_mc_2026-11-27T00-00-58.678580.jsonl": "samples_capitals_2026-11-27.jsonl",
    "results_2026-11-27T00-00-58.678580.json": "results_2026-11-27.json",
}
NEEDS = {
    "langchain.agents": "langchain",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
    "pyarrow": "pyarrow",
}


def each_block(language):
    return pytest.mark.parametrize("code", [code for kind, code in BLOCKS if kind == language])


def said(code):
    """Give the lines that a block says it prints."""
    lines = [line.removeprefix("#> ") for line in code.splitlines() if line.startswith("#> ")]
    assert lines
    return lines


@pytest.fixture
def folder(tmp_path):
    """Make a folder with the data that the pages name."""
    shutil.copy(OUTPUTS, tmp_path / "outputs.jsonl")
    shutil.copy(SCHEMA, tmp_path / "schema.json")
    for log, name in LOGS.items():
        shutil.copy(ROOT / "tests/runs/logs/data" / log, tmp_path / name)
    return tmp_path


@pytest.fixture
def run(folder):
    """Run a command there, with our `llmeval` on the path."""
    usual = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
    }

    def run(*command, cwd=folder, **environment):
        return subprocess.check_output(command, cwd=cwd, env=usual | environment, text=True)

    return run


@pytest.fixture(scope="module")
def model_server():
    """A model on this machine in place of the one that the README names."""
    for package in ("openai", "xllamacpp", "gguf"):
        pytest.importorskip(package)
    tiny_llm = runpy.run_path(str(ROOT / "tools/tiny_llm.py"))
    server = tiny_llm["serve"]()
    yield {"OPENAI_BASE_URL": tiny_llm["address"](server), "OPENAI_API_KEY": "none"}
    del server


# --- code ----------------------------------------------------------------------------------------


@each_block("python")
def test_a_python_block_prints_what_it_says(code, folder, monkeypatch, capsys):
    for word, package in NEEDS.items():
        if re.search(rf"frameworks\.{word}\b|^(from|import) {package}\b", code, re.MULTILINE):
            pytest.importorskip(package)
    monkeypatch.chdir(folder)
    rich.reconfigure()  # some frameworks change the console of the whole process
    exec(code, {"__name__": "__main__"})  # noqa: S102
    assert capsys.readouterr().out.splitlines() == said(code)


@pytest.mark.parametrize("name", list_evaluators())
def test_an_example_prints_what_it_says(name, capsys):
    if name in JUDGED:
        pytest.importorskip("langchain_core")
    path = DOCS / "examples" / f"{name}.py"
    rich.reconfigure()
    runpy.run_path(str(path))
    assert capsys.readouterr().out.splitlines() == said(path.read_text())


def test_the_examples_for_contributors_work():
    codes = [code for kind, code in BLOCK.findall(CONTRIBUTING.read_text()) if kind == "python"]
    names = {}
    for code in codes:
        exec(code, names)  # noqa: S102
    assert names["WordCount"](at_least=2)("one").reason == "1 words"
    judge = names["PassFail"](names["Gateway"](), "Is it short?")
    samples = [{"output": f"text {number}"} for number in range(20)]
    run = evaluate(samples, [judge], concurrency=2, max_tokens=300)
    assert [row.label for row in run.rows[:3]] == ["Pass"] * 3
    assert 3 <= run.summary["judging"]["calls"] <= 4
    assert run.summary["judging"]["budget_reached"] == "max_tokens=300"


@each_block("bash")
def test_a_shell_block_runs(code, folder, run, request):
    if code.startswith("make"):
        # Running `make test` from a test would never end; make says what it would do.
        for command in re.findall(r"^make \w+", code, re.MULTILINE):
            run(*command.split(), "--dry-run", cwd=ROOT)
        return
    server = request.getfixturevalue("model_server") if "model=" in code else {}
    printed = run("/bin/bash", "-euc", code, **server)
    assert " ".join(PRINTED.get(code, "").split()) in " ".join(printed.split())
    for out in re.findall(r"--out (\S+)", code):
        written = folder / out
        assert written.is_file() or (written / "summary.json").exists()


@each_block("yaml")
def test_a_configuration_runs(code, folder, run):
    (folder / "eval.yaml").write_text(code)
    run("llmeval", "run", "eval.yaml")
    assert (folder / "runs/second/results.jsonl").exists()


@each_block("py")
def test_a_test_file_runs(code, folder, run):
    (folder / "test_it.py").write_text(code)
    assert "= evaluations =" in run(
        sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py"
    )


@each_block("yml")
def test_the_commands_of_a_workflow_run(code, folder, run):
    import yaml

    steps = yaml.safe_load(code)["jobs"]["evaluate"]["steps"]
    commands = [step["run"] for step in steps if step.get("run", "").startswith("llmeval")]
    assert commands
    for command in commands:
        run("/bin/bash", "-euc", command)
    for written in ("comment.md", "junit.xml"):
        assert (folder / written).stat().st_size


def test_no_block_is_left_out():
    kinds = {kind for kind, _ in BLOCKS}
    assert kinds == {"python", "py", "bash", "text", "yaml", "yml", "{toctree}"}


# --- demo and benchmarks -------------------------------------------------------------------------

SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))


def test_the_script_writes_the_demo_data_again(run, tmp_path):
    again = tmp_path / "again"
    again.mkdir()
    run(sys.executable, ROOT / "tools/make_demo_data.py", again)
    for path in (OUTPUTS, SCHEMA, EVAL):
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_demo_compares_two_prompts_writes_a_report_and_says_what_to_do_next(folder, run):
    said = run("llmeval", "demo")
    assert (
        "B is better: json_validity pass rate 73.3 % → 95.0 %; json_schema pass rate 46.7 % → 91.7 %; "
        "json_fields pass rate 43.3 % → 78.3 %" in " ".join(said.split())
    )
    *_, page, _, command = said.splitlines()
    report = folder / re.search(r"Open (\S+) in a browser", page)[1]
    assert "json_fields" in report.read_text(encoding="utf-8")
    run(*command.split())
    run("llmeval", "run", "eval.yaml", "--quiet", cwd=report.parent)


def test_the_demo_leaves_a_file_that_was_there(folder, run):
    (folder / "outputs.jsonl").write_text("mine")
    run("llmeval", "demo", "--out", ".")
    assert (folder / "outputs.jsonl").read_text() == "mine"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_imports_of_a_benchmark_exist(script):  # since benchmarks are run by hand
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("llmeval_"):
            module = import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names)


def test_chart_and_tables_show_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS[0].parent)
    summary = import_module("summary")
    results, page = summary.RESULTS.read_text(), summary.PAGE.read_text()
    assert summary.draw(summary.read_rows(results)) == summary.CHART.read_text()
    assert summary.write_page(page, results) == page


# --- prose ---------------------------------------------------------------------------------------


def test_every_evaluator_and_judge_has_an_example_and_its_row_in_a_table():
    assert sorted(path.stem for path in (DOCS / "examples").glob("*.py")) == list_evaluators()
    rows = re.findall(r"^\| \[`(\w+)`\]", README.read_text(), re.MULTILINE)
    assert sorted(rows) == DETERMINISTIC
    judges = (DOCS / "how-to/judges.md").read_text()
    table = re.search(r"^\| judge \|.*?\n\n", judges, re.DOTALL | re.MULTILINE)[0]
    for name in JUDGED:
        assert re.search(rf"`{evaluator_class(name).__name__}[`(]", table)


def test_the_readme_is_short():
    text = README.read_text()
    assert len(text.splitlines()) <= 250
    assert len(text.split()) <= 2_500


@pytest.mark.parametrize("path", [CONTRIBUTING, *PAGES], ids=lambda path: path.stem)
def test_a_page_has_no_placeholder_and_its_links_lead_somewhere(path):
    prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    shouted = set(re.findall(r"\b[A-Z]{6,}\b", re.sub(r"`[^`]*`", "", prose)))
    assert shouted <= {"README", "CONTRIBUTING", "CHANGELOG", "RESULTS"}
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)", prose):
        file = path.parent / target if target else path
        if "/api/" in target or "/evaluators/" in target:  # made when the site is built
            continue
        assert file.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)", file.read_text(), re.MULTILINE)
            # as GitHub writes a title in an address
            anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
            assert anchor in anchors, f"{target}#{anchor}"


def test_the_source_distribution_has_the_files_that_the_site_includes():
    included = re.findall(
        r"\{include\} \.\./(\w+)", "".join(page.read_text() for page in DOCS.glob("*.md"))
    )
    listed = re.findall(r'^    "/([\w-]+)', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert set(included) <= set(listed), included


@pytest.mark.nightly  # `make docs` does the same
def test_the_site_builds_without_a_warning_and_every_link_leads_somewhere(tmp_path):
    for package in ("sphinx", "myst_nb", "furo", "langchain_core"):
        pytest.importorskip(package)
    site = tmp_path / "site"
    build = ["sphinx", "--quiet", "--fail-on-warning", "-d", tmp_path / "trees", DOCS, site]
    subprocess.run([sys.executable, "-m", *build], check=True)
    assert list(runpy.run_path(str(DOCS / "links.py"))["problems"](site)) == []
