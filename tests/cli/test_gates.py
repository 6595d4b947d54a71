"""What makes `llmeval run` fail, and which rows it takes."""

import json

import pytest

from llmeval_integrations.cli.main import main


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


@pytest.mark.parametrize("given", ["-1", "x", "1.5", "101%", "nan", "nan%", "inf", "%", "1e-1"])
def test_what_is_no_number_of_errors_stops_at_once(path, capsys, given):
    assert main(["run", path, "-e", "json_match", f"--max-errors={given}"]) == 2
    assert f"--max-errors {given!r} is not a whole number such as 10" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gate", "missed"),
    [
        ("fields=75%", None),
        ("fields=75.1%", "fields: the pass rate 0.75 is under 0.751"),
        ("fields.mean=0.875", None),
        ("fields.mean=0.9", "fields.mean: the mean 0.875 is under 0.9"),
        ("fields.micro=0.8", None),
        ("fields.macro=0.9", "fields.macro: the macro F1 0.875 is under 0.9"),
        ("fields/total=1", None),
        ("fields/items/*/sku=75%", None),
        ("fields/items/*/sku=0.8", "fields/items/*/sku: the F1 0.75 is under 0.8"),
        ("fields/totl=0.1", "no sample has this field; did you mean '/total'? there are /"),
        ("a/b/total=1", None),
        ("a/b.mean=99%", "a/b.mean: the mean 0.875 is under 0.99"),
        ("penalty.mean=-5", None),
        ("penalty.mean=-0.5", "penalty.mean: the mean -"),
    ],
)
def test_a_mean_and_a_single_field_can_be_gates_too(tmp_path, capsys, gate, missed):
    reference = {"total": 1, "items": [{"sku": "A"}]}
    outputs = [reference] * 3 + [{"total": 1, "items": [{"sku": "B"}]}]
    file = tmp_path / "data.jsonl"
    rows = ({"output": json.dumps(output), "reference": reference} for output in outputs)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call = ["run", str(file), "-q", "-e", "fields=json_fields", "-e", "a/b=json_fields"]
    call += ["-e", "penalty=length_penalty:max_length=1,min_length=0,penalty_rate=0.1"]
    assert main([*call, "--fail-under", gate]) == (0 if missed is None else 1)
    assert (missed or "") in capsys.readouterr().err


def test_a_mean_that_misses_by_the_rounding_of_floats_is_reached(tmp_path, capsys):
    file = tmp_path / "data.jsonl"
    file.write_text(f'{{"output": "{"x" * 1035}"}}\n' * 3)  # -0.35 each, and a mean below that
    call = ["run", str(file), "-q", "-e", "length_penalty:max_length=1000", "--fail-under"]
    assert main([*call, "length_penalty.mean=-0.35"]) == 0
    assert main([*call, "length_penalty.mean=-0.3499"]) == 1
    assert "the mean -0.35 is under -0.3499" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (
            "json_match/total=1",
            "fail under 'json_match/total': json_match has no figures of fields",
        ),
        (
            "json_match.f1=1",
            "'f1' is no figure; write NAME=RATE (of rows that pass), NAME.mean=SCORE, NAME.micro=F1",
        ),
        ("json_match.mean=nan", "json_match.mean=nan is not a rate"),
        ("json_match=101%", "json_match=1.01 is not a rate from 0 to 1"),
        ("json_match=x%", "'json_match=x%' is not NAME=RATE"),
        ("json_match=%", "'json_match=%' is not NAME=RATE"),
        ("json_match=1/0%", "'json_match=1/0%' is not NAME=RATE"),
    ],
)
def test_a_gate_of_what_there_is_not_stops_at_once(path, capsys, gate, message):
    assert main(["run", path, "-e", "json_match", "--fail-under", gate]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--dry-run"], ["--overwrite"]])
def test_a_run_does_not_replace_the_cache_of_all_runs(path, tmp_path, capsys, monkeypatch, options):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = tmp_path / "llmeval" / "replies.sqlite"
    cache.parent.mkdir()
    cache.write_text("precious")
    assert main(["run", path, "-e", "json_match", "--out", str(cache.parent), *options]) == 2
    assert f"{cache} is the cache, and a run in {cache.parent} would" in capsys.readouterr().err
    assert cache.read_text() == "precious"


def test_a_part_of_the_data(path, tmp_path, capsys):
    call = ["run", path, "-e", "json_validity", "--json"]
    assert main([*call, "--limit", "7"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 7
    assert main([*call, "--sample", "5", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 5
    assert main([*call, "--limit", "0"]) == 2
    assert "limit=0 is not a whole number above 0" in capsys.readouterr().err


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


def test_a_dry_run_may_be_of_a_run_that_is_there_already(path, tmp_path, capsys):
    out = tmp_path / "run"
    call = ["run", path, "-e", "json_validity", "--out", str(out)]
    assert main([*call, "-q"]) == 0
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    assert main([*call, "--dry-run"]) == 0
    assert "100 samples; nothing is asked" in capsys.readouterr().out
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert main(["run", str(out / "results.jsonl"), *call[2:], "--dry-run"]) == 2
    assert "is the data, and a run in" in capsys.readouterr().err
