"""What makes `llmeval run` fail, and which rows it takes."""

import json

import pytest

from llmeval_integrations.cli import main


@pytest.fixture
def path(tmp_path):
    rows = [{"output": "{}", "reference": "{}"}] * 97 + [{"output": "{}"}] * 3
    file = tmp_path / "data.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


@pytest.mark.parametrize(
    ("given", "code"),
    [("3", 0), ("2", 1), ("3%", 0), ("2.9%", 1), ("0", 1), ("100%", 0)],
)
def test_more_errors_than_allowed_are_exit_code_1(path, capsys, given, code):
    assert main(["run", path, "-e", "json_match", "-q", "--max-errors", given]) == code
    told = capsys.readouterr().err
    assert (f"json_match: 3 of 100 rows are errors, more than {given}" in told) is bool(code)


@pytest.mark.parametrize("given", ["-1", "x", "1.5", "101%", "nan", "nan%", "inf", "%"])
def test_what_is_no_number_of_errors_stops_at_once(path, capsys, given):
    assert main(["run", path, "-e", "json_match", f"--max-errors={given}"]) == 2
    assert f"max errors {given!r} is not a whole number such as 10" in capsys.readouterr().err


def test_a_part_of_the_data(path, tmp_path, capsys):
    call = ["run", path, "-e", "json_validity", "--json"]
    assert main([*call, "--limit", "7"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 7
    assert main([*call, "--sample", "5", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 5
    assert main([*call, "--limit", "0"]) == 2
    assert "limit=0 is not a whole number above 0" in capsys.readouterr().err


def test_the_same_in_a_file(path, tmp_path, capsys):
    (tmp_path / "eval.yaml").write_text(
        "data: data.jsonl\nevaluators: [json_match]\nmax_errors: 1%\nlimit: 99\n"
    )
    assert main(["run", str(tmp_path / "eval.yaml"), "-q"]) == 1
    assert "2 of 99 rows are errors, more than 1%" in capsys.readouterr().err


def test_a_run_is_gone_on_with(path, tmp_path, capsys):
    call = ["run", path, "-e", "json_validity", "-q", "--out", str(tmp_path / "run")]
    assert main(call) == 0
    assert main(call) == 2
    assert "go on with it (resume)" in capsys.readouterr().err
    assert main([*call, "--resume"]) == 0
    assert main(["run", path, "-e", "json_validity", "--resume"]) == 2
    assert "say which with --out DIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "given"), [("overwrite", "--resume"), ("resume", "--overwrite")]
)
def test_the_command_line_says_whether_a_run_is_gone_on_with_or_replaced(
    path, tmp_path, capsys, written, given
):
    file = tmp_path / "eval.yaml"
    lines = f"data: data.jsonl\nevaluators: [json_validity]\nout: run\n{written}: true\n"
    file.write_text(lines)
    assert main(["run", str(file), "-q"]) == 0
    results = tmp_path / "run" / "results.jsonl"
    results.write_bytes(results.read_bytes().replace(b'"score":1', b'"score":0', 1))
    assert main(["run", str(file), "-q", given]) == 0
    assert (b'"score":0' in results.read_bytes()) is (given == "--resume")


def test_a_dry_run_refuses_a_directory_that_the_run_would(path, tmp_path, capsys):
    call = ["run", path, "-e", "json_validity", "--out", str(tmp_path / "run")]
    assert main([*call, "--dry-run"]) == 0
    assert main([*call, "-q"]) == 0
    assert main([*call, "--dry-run"]) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert main([*call, "--dry-run", "--overwrite"]) == 0
