"""Every code block of the README and of the documentation runs, and prints what it says."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rich
from examples import DETERMINISTIC, JUDGED

from llmeval_integrations import evaluate
from llmeval_integrations.core.catalog import evaluator_class
from llmeval_integrations.demo import OUTPUTS, SCHEMA

ROOT = Path(__file__).parents[1]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```([\w{}]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FOLDERS = ("tutorials", "how-to", "reference", "explanation")
PAGES = [
    README,
    *(page.read_text() for name in FOLDERS for page in sorted((ROOT / "docs" / name).glob("*.md"))),
]
# A block that stands on two pages runs once.
BLOCKS = list(dict.fromkeys(block for page in PAGES for block in BLOCK.findall(page)))
LOGS = {
    "inspect_a.json": "before.eval",  # in JSON, as not every Python reads zstd
    "inspect_b.json": "after.eval",
    "promptfoo.json": "results.json",
    "samples_capitals_mc_2026-11-27T00-00-58.678580.jsonl": "samples_capitals.jsonl",
}
NEEDS = {
    "langchain.agents": "langchain",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
    "pyarrow": "pyarrow",
}


def blocks(language):
    return [code for kind, code in BLOCKS if kind == language]


@pytest.fixture
def folder_with_data(tmp_path):
    shutil.copy(OUTPUTS, tmp_path / "outputs.jsonl")
    shutil.copy(SCHEMA, tmp_path / "schema.json")
    for log, name in LOGS.items():
        shutil.copy(ROOT / "tests/runs/logs/data" / log, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="module")
def model_server():
    """A model on this machine in place of the one that the README names."""
    for package in ("openai", "xllamacpp", "gguf"):
        pytest.importorskip(package)
    tiny_llm = runpy.run_path(str(ROOT / "tools/tiny_llm.py"))
    server = tiny_llm["serve"]()
    yield {"OPENAI_BASE_URL": tiny_llm["address"](server), "OPENAI_API_KEY": "none"}
    del server


@pytest.mark.parametrize("code", blocks("python"))
def test_a_python_block_prints_what_it_says(code, folder_with_data, monkeypatch, capsys):
    for word, package in NEEDS.items():
        if re.search(rf"frameworks\.{word}\b|^(from|import) {package}\b", code, re.MULTILINE):
            pytest.importorskip(package)
    monkeypatch.chdir(folder_with_data)
    rich.reconfigure()  # some frameworks change the console of the whole process
    exec(code, {"__name__": "__main__"})  # noqa: S102
    said = [line.removeprefix("#> ") for line in code.splitlines() if line.startswith("#> ")]
    assert said
    assert capsys.readouterr().out.splitlines() == said


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


@pytest.mark.parametrize("code", blocks("bash"))
def test_a_shell_block_runs(code, folder_with_data, request):
    if code.startswith("make"):
        # Running `make test` from a test would never end; make says what it would do.
        for command in re.findall(r"^make \w+", code, re.MULTILINE):
            subprocess.run(
                [*command.split(), "--dry-run"], cwd=ROOT, capture_output=True, check=True
            )
        return
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder_with_data)}
    if "model=" in code:
        env |= request.getfixturevalue("model_server")
    done = subprocess.run(
        ["/bin/bash", "-euc", code],
        cwd=folder_with_data,
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for out in re.findall(r"--out (\S+)", code):
        written = folder_with_data / out
        assert written.is_file() or (written / "summary.json").exists()


@pytest.mark.parametrize("code", blocks("yaml"))
def test_a_configuration_runs(code, folder_with_data):
    (folder_with_data / "eval.yaml").write_text(code)
    subprocess.run(
        [sys.executable, "-m", "llmeval_integrations", "run", "eval.yaml"],
        cwd=folder_with_data,
        capture_output=True,
        check=True,
    )
    assert (folder_with_data / "runs/second/results.jsonl").exists()


@pytest.mark.parametrize("code", blocks("py"))
def test_a_test_file_runs(code, folder_with_data):
    (folder_with_data / "test_it.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, cwd=folder_with_data, capture_output=True, text=True, check=True)
    assert "= evaluations =" in done.stdout


@pytest.mark.parametrize("code", blocks("yml"))
def test_the_commands_of_a_workflow_run(code, folder_with_data):
    import yaml

    steps = yaml.safe_load(code)["jobs"]["evaluate"]["steps"]
    commands = [step["run"] for step in steps if step.get("run", "").startswith("llmeval")]
    assert commands
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder_with_data)}
    for command in commands:
        subprocess.run(["/bin/bash", "-euc", command], cwd=folder_with_data, env=env, check=True)
    for written in ("comment.md", "junit.xml"):
        assert (folder_with_data / written).stat().st_size


def test_no_block_is_left_out():
    kinds = [kind for kind, _ in BLOCKS]
    assert set(kinds) == {"python", "py", "bash", "text", "yaml", "yml", "{toctree}"}


def test_the_tables_name_every_evaluator_and_judge():
    rows = re.findall(r"^\| \[`(\w+)`\]", README, re.MULTILINE)
    assert sorted(rows) == DETERMINISTIC
    judges = (ROOT / "docs/how-to/judges.md").read_text()
    table = re.search(r"^\| judge \|.*?\n\n", judges, re.DOTALL | re.MULTILINE)[0]
    for name in JUDGED:
        assert re.search(rf"`{evaluator_class(name).__name__}[`(]", table)


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 250
    assert len(README.split()) <= 2_500


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.partition("\n")[0].strip("# "))
def test_no_placeholder_is_left(page):
    prose = re.sub(r"```.*?```|`[^`]*`", "", page, flags=re.DOTALL)
    assert set(re.findall(r"\b[A-Z]{6,}\b", prose)) <= {"CONTRIBUTING", "CHANGELOG", "RESULTS"}
