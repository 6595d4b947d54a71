"""The command `llmeval`."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pace import TooSlowError, pace

from llmeval_integrations import __version__
from llmeval_integrations.cli.main import main

ROWS = [
    {"id": "a", "response": '{"x": 1}', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "b", "response": '{"x": 2}', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "c", "response": '{"x": ', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "d", "response": "[]", "gold": [], "form": {"type": "object"}},
]
MATCH = ["-e", "json_match", "--column", "output=response", "--column", "reference=gold"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def installed(*arguments, **options):
    command = shutil.which("llmeval", path=str(Path(sys.executable).parent))
    assert command, "the package is not installed"
    return subprocess.run(
        [command, *arguments], capture_output=True, text=True, check=False, timeout=60, **options
    )


def test_the_main_job_from_the_installed_command(data, tmp_path):
    done = installed(
        "run", data, "-e", "json_validity", "-e", "json_match", "-e", "length_penalty:min_length=3,max_length=7",
        "-e", "json_schema", "--column", "schema=form", "--column", "output=response",
        "--column", "reference=gold", "--out", str(tmp_path / "runs/first"), "--fail-under", "json_match=0.5",
    )  # fmt: skip
    said = "llmeval run: schema is column 'form'; --column schema= takes none\n"
    assert (done.returncode, done.stderr) == (0, said)
    summary = json.loads((tmp_path / "runs/first/summary.json").read_text())
    assert summary["samples"] == 4
    rates = {name: figures["pass_rate"] for name, figures in summary["evaluators"].items()}
    assert rates == {
        "json_validity": 0.75,
        "json_match": 0.5,
        "length_penalty": 0.25,
        "json_schema": 0.5,
    }
    lines = (tmp_path / "runs/first/results.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == list("aaaabbbbccccdddd")
    assert "json_validity" in done.stdout
    assert "truncated" in done.stdout
    assert "\x1b" not in done.stdout
    assert str(tmp_path / "runs/first") in done.stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "llmeval run: schema is column 'schema', group is column 'group'; --column schema= takes none\n"),
        (["--column", "schema="], "llmeval run: group is column 'group'; --column group= takes none\n"),
        (["--column", "schema=", "--column", "group="], ""),
        (["--quiet"], ""),
    ],
)  # fmt: skip
def test_a_run_says_which_columns_it_took_as_schema_and_group(tmp_path, capsys, more, said):
    data = tmp_path / "rows.csv"
    data.write_text("output,group,schema\n1,a,{}\n2,b,{}\n")
    assert main(["run", str(data), "-e", "json_validity", *more]) == 0
    assert capsys.readouterr().err == said


def test_a_column_or_a_variable_is_named_as_the_group(tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    rows = ({"output": str(n), "page": n // 2, "variables": {"of": n // 3}} for n in range(6))
    data.write_text("\n".join(map(json.dumps, rows)))
    for column, groups in (("page", 3), ("variables.of", 2)):
        assert main(["run", str(data), "-e", "json_validity", "--json", "--group", column]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert summary["evaluators"]["json_validity"]["groups"]["n"] == groups
    assert (
        main(["run", str(data), "-e", "json_validity", "--group", "x", "--column", "group=y"]) == 2
    )
    assert "'group' is given twice" in capsys.readouterr().err


def test_a_pipe_is_data_and_gets_no_progress_bar(data):
    text = Path(data).read_text()
    done = installed("run", "-", *MATCH, "--json", input=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["evaluators"]["json_match"]["mean"] == 0.5
    done = installed(
        "run",
        "-",
        "-e",
        "exact_match",
        "--format",
        "csv",
        "--json",
        input="output,reference\n1,1\n",
    )
    assert json.loads(done.stdout)["evaluators"]["exact_match"]["mean"] == 1


def test_a_reader_that_leaves_early_is_no_error(data):
    command = [sys.executable, "-m", "llmeval_integrations", "list", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_progress_bar(data):
    main_end, terminal = os.openpty()
    command = [sys.executable, "-m", "llmeval_integrations", "run", data, *MATCH, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True, timeout=60)
    os.close(terminal)
    assert "4 samples" in os.read(main_end, 100_000).decode()
    os.close(main_end)
    assert json.loads(done.stdout)["samples"] == 4


def test_it_starts_fast(data, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))  # by the first run

    def cpu_seconds():
        before = os.times()
        assert installed("run", data, *MATCH).returncode == 0
        after = os.times()
        return (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )

    if all(cpu_seconds() >= 0.4 * pace() for _ in range(10)):
        raise TooSlowError


def figures(capsys, name):
    return json.loads(capsys.readouterr().out)["evaluators"][name]


def test_a_threshold_without_a_rated_row_is_missed(tmp_path, capsys):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert main(["run", str(empty), "-e", "json_validity", "--fail-under", "json_validity=0"]) == 2
    printed = capsys.readouterr().err
    assert "the data has no rows" in printed
    assert "no row passed or failed" in printed
    assert main(["run", str(empty), "-e", "json_validity"]) == 2
    assert "no row has a result, so nothing was evaluated" in capsys.readouterr().err


WRONG = [
    (["rum"], "there is no command 'rum'; did you mean 'run'?"),
    (["-x"], "unrecognized arguments: -x"),
    (["run", "DATA", "-e", "json_match", "--fail-under", "json_match=90"], "json_match=90 is not a rate from 0 to 1; did you mean 90%?"),
    (["walk"], "there is no command 'walk'; there are run, "),
    (["run"], "the following arguments are required: data"),
    (["run", "DATA"], "no evaluator is given"),
    (["run", "DATA", "-e", "json_mtch"], "no evaluator is called 'json_mtch'; did you mean 'json_match'?"),
    (["run", "DATA", "-e", "json_match:strict=1"], "json_match has no option 'strict'"),
    (["run", "DATA", "-e", "length_penalty:min_length=-1"], "min_length=-1 is not a whole number, at least 0"),
    (["run", "DATA", "-e", "json_match:strict_order"], "is not OPTION=VALUE"),
    (["run", "DATA", "-e", "json_schema:schema=@none.json"], "cannot read none.json"),
    (["run", "DATA", "-e", 'json_schema:schema={"type": 5}'], "the schema"),
    (["run", "none.jsonl", "-e", "json_match"], "cannot read none.jsonl: No such file or directory"),
    (["run", ".", "-e", "json_match"], "cannot read .: Is a directory"),
    (["run", "none.yaml"], "none.yaml: cannot be read: No such file or directory"),
    (["run", "DATA", "-e", "json_match", "--format", "xml"], "invalid choice: 'xml'"),
    (["run", "DATA", "-e", "json_match", "--column", "outputs=x"], "no field is called 'outputs'; did you mean 'output'?"),
    (["run", "DATA", "-e", "json_match", "--column", "output"], "is not [EVALUATOR.]FIELD=COLUMN"),
    (["run", "DATA", "-e", "json_match", "--column", "output=a", "--column", "output=b"], "'output' is given twice"),
    (["run", "DATA", "-e", "json_match", "--fail-under", "json_mtch=1"], "no evaluator of this run is called 'json_mtch'"),
    (["run", "DATA", "-e", "json_match", "--fail-under", "json_match=90"], "json_match=90 is not a rate from 0 to 1"),
    (["run", "DATA", "-e", "json_match", "--fail-under", "json_match=nan"], "json_match=nan is not a rate"),
    (["run", "DATA", "-e", "json_match", "--fail-under", "json_match"], "is not NAME=RATE"),
    (["run", "DATA", "-e", "json_match", "--out", "outputs.jsonl"], "is not a directory"),
    (["run", "DATA", "-e", "json_match", "--ou", "x"], "llmeval run: error: unrecognized arguments: --ou x; did you mean --out; see llmeval run --help"),
    (["list", "json_validity", "json_match"], "llmeval list: error: unrecognized arguments: json_match; see llmeval list --help"),
    (["lst"], "see llmeval --help"),
    (["run", "DATA", "-e", "json_match", "--engine", "ray", "--workers", "2"], "workers=2 are processes of this machine, not an engine's"),
    (["run", "DATA", "-e", "json_match", "--frozen"], "--frozen is for judges, and json_match asks none; leave it out"),
    (["run", "DATA", "-e", "json_match", "--frozen", "--dry-run"], "--frozen is for judges"),
    (["run", "DATA", "-e", "json_match", "-e", "x=json_validity", "--concurrency", "4"], "--concurrency is for judges, and json_match, x ask none"),
    (["run", "DATA", "-e", "json_match", "--max-cost", "1"], "--max-cost is for judges"),
    (["run", "DATA", "-e", "json_match", "--max-tokens", "0"], "--max-tokens is for judges"),
    (["run", "DATA", "-e", "json_match", "--cache", "c.sqlite"], "--cache is for judges"),
    (["run", "DATA", "-e", "json_match", "--no-cache"], "--no-cache is for judges"),
    (["run", "DATA", "-e", "json_match", "--limt", "5"], "unrecognized arguments: --limt 5; did you mean --limit;"),
    (["run", "DATA", "-e", "json_match", "--concurrency", "0"], "--concurrency is for judges"),
    (["run", "DATA", "-e", "json_match", "--workers", "0"], "workers=0 is not a whole number above 0"),
    (["run", "DATA", "-e", "json_match", "--retry-errors"], "retry_errors is for a run that is resumed"),
    (["run", "DATA", "-e", "json_match", "--out", "run", "--resume", "--overwrite"], "leave one out"),
    (["list", "json_mtch"], "did you mean 'json_match'?"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_a_wrong_call_is_one_clear_line_and_exit_code_2(data, tmp_path, capsys, arguments, message):
    arguments = [data if argument == "DATA" else argument for argument in arguments]
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    assert code == 2
    assert message in printed.err
    assert printed.err.startswith("llmeval")
    assert (printed.err.count("\n"), printed.out) == (1, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outputs.jsonl"]


def test_what_the_command_line_says_counts_before_the_file(data, tmp_path, capsys):
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
    assert figures(capsys, "json_match") == from_file
    assert (tmp_path / "other").exists()
    assert (
        main([*call, "--out", "third", "-e", "json_validity", "--fail-under", "json_validity=0"])
        == 2
    )
    assert "no evaluator of this run is called 'json_match'" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["yaml", "line"])
def test_options_name_functions_of_the_folder(data, tmp_path, way):
    (tmp_path / "nearness.py").write_text("def near(a, b):\n    return abs(a - b) <= 1\n")
    rules = '{"/x": {"compare": "nearness:near"}}'
    columns = "columns: {output: response, reference: gold}"
    (tmp_path / "eval.yaml").write_text(
        f"data: {data}\nevaluators: [{{evaluator: json_fields, options: {{fields: {rules}}}}}]\n{columns}\n"
    )
    line = ["run", data, "-e", f"json_fields:fields={rules}", *MATCH[2:]]
    done = installed(*(line if way == "line" else ["run", "eval.yaml"]), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["evaluators"]["json_fields"]["pass_rate"] == 0.75


def test_quiet_prints_nothing_and_json_the_summary_alone(data, capsys):
    assert main(["run", data, *MATCH, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["run", data, *MATCH, "--quiet", "--json", "--out", "run"]) == 0
    printed = capsys.readouterr()
    assert printed.out == Path("run/summary.json").read_text()
    assert printed.err == ""


def test_a_run_of_nothing_but_errors_is_a_wrong_call_and_says_so(data, capsys):
    assert main(["run", data, "-e", "json_match", "--column", "output=response", "--quiet"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("llmeval run: warning: json_match: EVERY row is an error, such as ")
    assert "nothing in column 'reference' (json_match needs it)" in line
    assert line.endswith("; where columns have names of their own, say --column FIELD=NAME")


def test_some_error_rows_do_not_fail_the_run_and_are_said_aloud(tmp_path, capsys):
    path = tmp_path / "some.jsonl"
    path.write_text('{"output": "{}"}\nnot a row\n{"answer": "{}"}\n')
    assert (
        main(["run", str(path), "-e", "json_validity", "-q", "--fail-under", "json_validity=1"])
        == 0
    )
    [line] = capsys.readouterr().err.splitlines()
    assert "json_validity: 2 of 3 rows are errors and count in no rate, such as not JSON" in line
    assert "--column" not in line


def test_hostile_text_in_a_message_stays_on_its_line(data, capsys):
    assert main(["run", data, "-e", "x\x1b[2J\ny=json_mtch"]) == 2
    assert main(["run", "none\x1b[31m\n.jsonl", "-e", "json_match"]) == 2
    printed = capsys.readouterr().err
    assert "\x1b" not in printed
    assert printed.count("\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_an_interrupt_ends_without_a_traceback_and_leaves_the_rows(tmp_path):
    command = [
        sys.executable,
        "-m",
        "llmeval_integrations",
        "run",
        "-",
        "-e",
        "json_validity",
        "--out",
        "run",
    ]
    results = tmp_path / "run" / "results.jsonl"
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write('{"output": "1"}\n' * 20)
        process.stdin.flush()
        until = time.monotonic() + 60
        while not (results.exists() and results.stat().st_size) and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read().splitlines() == [
            "llmeval run: what is done is in run; go on with the same call and --resume",
            "llmeval run: interrupted",
        ]
    assert len(results.read_text().splitlines()) >= 8


def test_a_terminal_that_cannot_show_a_character_does_not_end_the_run(data, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"output": "é ✓ \\ud800", "reference": "x"}', "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = installed("run", "odd.jsonl", "-e", "exact_match", env=environment, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\xe9" in done.stdout


def test_help_stands_in_groups_and_fits_a_screen(capsys):
    for arguments, lines in ((["--help"], 40), (["run", "--help"], 56), (["list", "--help"], 40)):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        printed = capsys.readouterr().out
        assert stop.value.code == 0
        assert len(printed.splitlines()) <= lines
        if arguments[0] == "run":
            heads = [line for line in printed.splitlines() if re.fullmatch(r"\w.*:", line)]
            assert heads[1:] == ["options:", "what is evaluated:", "where it is kept:", "when it fails:", "judges:", "how:"]  # fmt: skip
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("usage: llmeval ")
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"llmeval {__version__}\n"
