"""`llmeval run`: its tables, files and exit codes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pace import TooSlowError, pace

from llmeval_integrations.cli.main import main

ROWS = [
    {"id": "a", "response": '{"x": 1}', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "b", "response": '{"x": 2}', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "c", "response": '{"x": ', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "d", "response": "[]", "gold": [], "form": {"type": "object"}},
]
MATCH = ["-e", "json_match", "--column", "output=response", "--column", "reference=gold"]
PYTHON = [sys.executable, "-m", "llmeval_integrations"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def installed(*arguments, **options):
    command = shutil.which("llmeval", path=str(Path(sys.executable).parent))
    assert command, "the package is not installed"
    streams = {"capture_output": True, "text": True}
    return subprocess.run([command, *arguments], **streams, check=False, timeout=60, **options)


def figures(capsys, name):
    return json.loads(capsys.readouterr().out)["evaluators"][name]


def test_the_main_job_from_the_installed_command(data, tmp_path):
    done = installed(
        "run", data, "-e", "json_validity", "-e", "json_match", "-e", "length_penalty:min_length=3,max_length=7",
        "-e", "json_schema", "--column", "schema=form", "--column", "output=response",
        "--column", "reference=gold", "-o", str(tmp_path / "runs/first"), "--fail-under", "json_match=0.5",
    )  # fmt: skip
    said = "llmeval run: schema is column 'form'; --column schema= turns this off\n"
    assert (done.returncode, done.stderr) == (0, said)
    summary = json.loads((tmp_path / "runs/first/summary.json").read_text())
    rates = [each["pass_rate"] for each in summary["evaluators"].values()]
    assert (summary["samples"], rates) == (4, [0.75, 0.5, 0.25, 0.5])
    lines = (tmp_path / "runs/first/results.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == list("aaaabbbbccccdddd")
    assert "truncated" in done.stdout
    assert "\x1b" not in done.stdout
    assert str(tmp_path / "runs/first") in done.stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "llmeval run: schema is column 'schema', group is column 'group'; --column schema= turns this off\n"),
        (["--column", "schema=", "--column", "group="], ""),
    ],
)  # fmt: skip
def test_a_run_names_its_columns_of_schema_and_group(tmp_path, capsys, more, said):
    data = tmp_path / "rows.csv"
    data.write_text("output,group,schema\n1,a,{}\n2,b,{}\n")
    assert main(["run", str(data), "-e", "json_validity", *more]) == 0
    assert capsys.readouterr().err == said


# Windows has none.
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_data_comes_from_a_pipe_and_a_terminal_gets_a_progress_bar(data):
    done = installed("-v", "run", "-", *MATCH, "--json", input=Path(data).read_text())
    assert "runs.evaluate: evaluating" in done.stderr  # only with -v
    assert json.loads(done.stdout)["evaluators"]["json_match"]["mean"] == 0.5
    main_end, terminal = os.openpty()  # a terminal gets one
    command = [*PYTHON, "run", data, *MATCH]
    subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True, timeout=60)
    os.close(terminal)
    assert "4 samples" in os.read(main_end, 100_000).decode()
    os.close(main_end)


def test_it_starts_fast(data, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))  # by the first run

    def cpu_seconds():
        before = os.times()
        assert installed("run", data, *MATCH).returncode == 0
        after = os.times()
        spent = after.children_user + after.children_system
        return spent - before.children_user - before.children_system

    if all(cpu_seconds() >= 0.4 * pace() for _ in range(10)):
        raise TooSlowError


def test_the_command_line_overrides_the_configuration(data, tmp_path, capsys):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "eval.yml").write_text(
        "data: ../outputs.jsonl\nevaluators: [json_match]\n"
        "columns: {output: response, reference: gold}\nout: run\n"
        "fail_under: {json_match: 1.0, json_match.mean: 0.5}\n"
    )
    call = ["run", "folder/eval.yml", "--json"]
    assert main(call) == 1
    from_file = figures(capsys, "json_match")
    assert main(["run", data, *MATCH, "--json"]) == 0
    assert figures(capsys, "json_match") == from_file
    assert (folder / "run" / "results.jsonl").exists()
    assert main([*call, "--out", "other", "--fail-under", "json_match=50%"]) == 0
    assert (tmp_path / "other").exists()


@pytest.mark.parametrize(("written", "said"), [("overwrite", "--resume"), ("resume", "--overwrite")])  # fmt: skip
def test_the_command_line_resumes_or_replaces_a_run(data, written, said):
    columns = "columns: {output: response}\n"
    Path("eval.yaml").write_text(
        f"data: {data}\nevaluators: [json_validity]\nout: run\n{written}: true\n{columns}"
    )
    assert main(["run", "eval.yaml", "-q"]) == 0
    results = Path("run/results.jsonl")
    results.write_bytes(results.read_bytes().replace(b'"score":1', b'"score":0', 1))
    assert main(["run", "eval.yaml", "-q", said]) == 0
    assert (b'"score":0' in results.read_bytes().splitlines()[0]) is (said == "--resume")


def test_options_name_functions_in_the_current_folder(data, tmp_path):
    (tmp_path / "nearness.py").write_text("def near(a, b):\n    return abs(a - b) <= 1\n")
    rules = 'json_fields:fields={"/x": {"compare": "nearness:near"}}'
    done = installed("run", data, "-e", rules, *MATCH[2:], "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["evaluators"]["json_fields"]["pass_rate"] == 0.75


def test_quiet_prints_nothing_and_json_only_the_summary(data, capsys):
    assert main(["run", data, *MATCH, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["run", data, *MATCH, "--quiet", "--json", "--out", "run"]) == 0
    assert capsys.readouterr() == (Path("run/summary.json").read_text(), "")


@pytest.mark.parametrize(
    ("rows", "code", "said"),
    [
        ("", 2, ["warning: the data has no rows", "no row has a result, so nothing was evaluated"]),
        ('{"output": "{}"}\nnot a row\n{"answer": 1}\n', 0, ["2 of 3 rows are errors and are left out of rates, for example:"]),
        ('{"answer": "{}"}\n', 2, ["1 of 1 rows are errors"]),
    ],
)  # fmt: skip
def test_rows_without_a_result_are_reported(tmp_path, capsys, rows, code, said):
    path = tmp_path / "rows.jsonl"
    path.write_text(rows)
    assert main(["run", str(path), "-e", "json_validity", "-q"]) == code
    printed = capsys.readouterr().err
    assert all(each in printed for each in said), printed


GATES = [
    ("fields=75%", None),
    ("fields=75.1%", "fields: the pass rate 0.75 is under 0.751"),
    ("fields.mean=0.9", "fields.mean: the mean 0.875 is under 0.9"),
    ("fields.macro=0.9", "fields.macro: the macro F1 0.875 is under 0.9"),
    ("fields/items/*/sku=0.8", "fields/items/*/sku: the F1 0.75 is under 0.8"),
    ("fields/totl=0.1", "no sample has this field; did you mean '/total'? there are /"),
    ("a/b.mean=99%", "a/b.mean: the mean 0.875 is under 0.99"),
    ("penalty.mean=-0.5", "penalty.mean: the mean -"),
]


@pytest.mark.parametrize(("gate", "missed"), GATES)
def test_a_missed_gate_is_exit_code_1(tmp_path, capsys, gate, missed):
    reference = {"total": 1, "items": [{"sku": "A"}]}
    outputs = [reference] * 3 + [{"total": 1, "items": [{"sku": "B"}]}]
    file = tmp_path / "data.jsonl"
    rows = ({"output": json.dumps(output), "reference": reference} for output in outputs)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call = ["run", str(file), "-q", "-e", "fields=json_fields", "-e", "a/b=json_fields"]
    call += ["-e", "penalty=length_penalty:max_length=1,min_length=0,penalty_rate=0.1"]
    assert main([*call, "--fail-under", gate]) == (0 if missed is None else 1)
    assert (missed or "") in capsys.readouterr().err


@pytest.mark.parametrize(("errors", "code"), [(5, 0), (6, 1)])
def test_a_gate_fails_if_too_many_rows_are_errors(tmp_path, capsys, errors, code):
    file = tmp_path / "data.jsonl"
    rows = '{"output": "{}", "reference": "{}"}\n' * (100 - errors) + '{"output": "{}"}\n' * errors
    file.write_text(rows)
    call = ["run", str(file), "-e", "json_match", "-q"]
    assert main([*call, "--fail-under", "json_match=1"]) == code
    said = f"json_match: {errors} of 100 rows have no result, more than 5%"
    assert (said in capsys.readouterr().err) is bool(code)
    assert main(call) == 0


RUN = ["run", "DATA", "-e", "json_match"]
WRONG = [
    (["rum"], "there is no command 'rum'; did you mean 'run'?"),
    (["-x"], "unrecognized arguments: -x"),
    (["run"], "the following arguments are required: data"),
    (["run", "DATA"], "no evaluator is given"),
    (["run", "DATA", "-e", "x\x1b[2J\ny=json_mtch"], "no evaluator is called 'json_mtch'"),
    (["run", "none.yaml"], "none.yaml: cannot be read: No such file or directory"),
    ([*RUN, "--format", "xml"], "invalid choice: 'xml'"),
    ([*RUN, "--column", "outputs=x"], "no field is called 'outputs'; did you mean 'output'?"),
    ([*RUN, "--fail-under", "json_mtch=1"], "no evaluator of this run is called 'json_mtch'"),
    ([*RUN, "--fail-under", "json_match=90"], "json_match=90 is not a rate from 0 to 1; did you mean 90%?"),
    ([*RUN, "--fail-under", "json_match/total=1"], "'json_match/total': json_match has no figures of fields"),
    ([*RUN, "--fail-under", "json_match.f1=1"], "'f1' is not a figure; write NAME=RATE (of rows that pass), NAME.mean=SCORE"),
    (["compare", "a", "b", "--max-left-out", "5"], "'5' is not a share from 0 to 1 or in per cent, such as 5%"),
    ([*RUN, "--limt", "5"], "unrecognized arguments: --limt 5; did you mean --limit; see llmeval run --help"),
    ([*RUN, "--open"], "add --out DIR"),
    ([*RUN, "--out", "run", "--resume", "--overwrite"], "leave one out"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_a_wrong_call_is_one_clear_line_and_exit_code_2(data, tmp_path, capsys, arguments, message):
    arguments = [data if argument == "DATA" else argument for argument in arguments]
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    out, said = capsys.readouterr()
    assert code == 2
    assert message in said
    assert said.startswith("llmeval")
    assert (said.count("\n"), "\x1b" in said, out) == (1, False, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outputs.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_an_interrupt_ends_without_a_traceback_and_leaves_the_rows(tmp_path):
    results = tmp_path / "run" / "results.jsonl"
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [*PYTHON, "run", "-", "-e", "json_validity", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        process.stdin.write('{"output": "1"}\n' * 20)
        process.stdin.flush()
        until = time.monotonic() + 60
        while not (results.exists() and results.stat().st_size) and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read().splitlines() == [
            "llmeval run: the finished rows are in run; to continue, repeat the call with --resume",
            "llmeval run: interrupted",
        ]
    assert len(results.read_text().splitlines()) >= 8
