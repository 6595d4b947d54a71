"""Directories of runs in which a file is damaged or gone."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass

import pytest
from remote_model import Remote

from llmeval_integrations import (
    Evaluator,
    InputError,
    JsonFields,
    JsonMatch,
    Result,
    evaluate,
)
from llmeval_integrations.cli.main import main
from llmeval_integrations.fields.tally import FieldTally
from llmeval_integrations.judges import JudgedFields
from llmeval_integrations.runs.stored import read_manifest, read_run, read_samples

ROWS = [{"id": number, "output": "[1]", "reference": [2]} for number in range(3)]


def resume(folder):
    evaluate(ROWS, [JsonMatch()], out=folder, resume=True)


def all_samples(folder):
    return list(read_samples(folder))


@pytest.fixture
def run(tmp_path):
    evaluate(ROWS, [JsonMatch()], out=tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "read", "message"),
    [
        ("results.jsonl", "{}\n", read_run, "results.jsonl: line 4 is not a row: Object missing"),
        ("results.jsonl", "garbage\n", read_run, "results.jsonl: line 4 is not a row: Expecting"),
        ("results.jsonl", "[1]\n", read_run, "results.jsonl: line 4 is not a row"),
        (
            "results.jsonl",
            (
                '{"id":1,"evaluator":"json_match","score":1,"passed":7,"label":null,"reason":null,'
                '"metadata":{},"unscored":false,"error":null}\n'
            ),
            read_run,
            "results.jsonl: line 4 is not a row: Expected `bool | null`, got `int`",
        ),
        ("results.jsonl", "\0\0\n", resume, "results.jsonl: line 4 is not a row"),
        ("samples.jsonl", "garbage\n", resume, "samples.jsonl: line 4 is not a sample"),
        ("samples.jsonl", "garbage\n", all_samples, "samples.jsonl: line 4 is damaged: Expecting"),
        (
            "samples.jsonl",
            "[1]\n",
            all_samples,
            "samples.jsonl: line 4 is damaged: it is not a JSON o",
        ),
    ],
)
def test_a_line_that_is_none_is_named(run, name, text, read, message):
    with (run / name).open("a") as file:
        file.write(text)
    with pytest.raises(InputError, match=re.escape(f"{run}/{message}")):
        read(run)


@pytest.mark.parametrize(
    ("name", "text", "read", "message"),
    [
        ("summary.json", "[", read_run, "summary.json is damaged: Expecting value"),
        ("summary.json", "[]", read_run, "summary.json is damaged: it is not a JSON object"),
        ("summary.json", "{}", read_run, "summary.json is damaged: it lacks samples, evaluators"),
        (
            "summary.json",
            '{"samples": 3, "evaluators": {"a": 1}}',
            read_run,
            "summary.json is damaged: it lacks",
        ),
        ("manifest.json", "[", resume, "manifest.json is damaged: Expecting value"),
        ("manifest.json", "{}", resume, "manifest.json is damaged: it does not say the evaluators"),
        (
            "summary.json",
            '{"samples": 3, "evaluators": {"json_match": {"n": 3}}}',
            read_run,
            "summary.json is damaged: it lacks samples, evaluators or their figures",
        ),
        ("manifest.json", "{}", read_manifest, "manifest.json is damaged: it does not say the eva"),
        (
            "manifest.json",
            '{"evaluators": {"json_match": 5}, "data": {}}',
            read_manifest,
            "manifest.json is damaged: it does not say what json_match is",
        ),
    ],
)
def test_a_file_that_is_none_is_named(run, name, text, read, message):
    (run / name).write_text(text)
    with pytest.raises(InputError, match=re.escape(f"{run}/{message}")):
        read(run)


def test_without_its_samples_a_run_is_not_gone_on_with(run):
    (run / "samples.jsonl").unlink()
    with pytest.raises(InputError, match=r"samples.jsonl is missing, and without it"):
        resume(run)
    evaluate(ROWS, [JsonMatch()], out=run, overwrite=True)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_with_fewer_samples_than_did_not_pass_a_run_is_not_gone_on_with(run, left):
    lines = (run / "samples.jsonl").read_text().splitlines(keepends=True)
    (run / "samples.jsonl").write_text("".join(lines[:left]))
    with pytest.raises(InputError, match=f"damaged: it has {left} samples, and 3 did not pass"):
        resume(run)
    evaluate(ROWS, [JsonMatch()], out=run, overwrite=True)


@pytest.mark.parametrize("left", [0, 2])
def test_a_summary_of_other_rows_than_there_are_is_not_believed(run, left):
    lines = (run / "results.jsonl").read_text().splitlines(keepends=True)
    (run / "results.jsonl").write_text("".join(lines[:left]))
    with pytest.raises(
        InputError, match=f"the rows of {left} samples, and the summary is that of 3"
    ):
        read_run(run)
    resume(run)
    assert read_run(run).summary["samples"] == 3


def test_without_its_summary_a_run_is_counted_anew(run):
    summary = read_run(run).summary
    (run / "summary.json").unlink()
    assert read_run(run).summary == summary


def test_the_command_says_it_in_one_line(run, capsys):
    with (run / "results.jsonl").open("a") as file:
        file.write("garbage\n")
    assert main(["report", str(run)]) == 2
    assert "results.jsonl: line 4 is not a row" in capsys.readouterr().err


def test_fields_are_counted_anew_where_there_is_no_summary(tmp_path):
    evaluators = [JsonFields(), JsonFields(), JudgedFields(Remote(), ["/b"]), Fields()]
    rows = [
        {"id": n, "output": {"a": n, "b": "x"}, "reference": {"a": 1, "b": "x"}} for n in range(3)
    ]
    whole = evaluate(rows, evaluators, out=tmp_path / "run").summary["evaluators"]
    (tmp_path / "run" / "summary.json").unlink()
    found = read_run(tmp_path / "run").summary["evaluators"]
    for name in ("json_fields", "json_fields_2", "judged_fields"):
        assert found[name]["fields"] == whole[name]["fields"]
        assert found[name]["fields"]["/a"]["match"] == 1
    assert "fields" not in found["fields"]
    (tmp_path / "run" / "manifest.json").unlink()
    assert read_run(tmp_path / "run").summary["evaluators"]["json_fields"]["n"] == 3


@dataclass(frozen=True)
class Fields(Evaluator):
    """Is of a script, and so of no catalog."""

    def check(self, sample):
        return Result(1.0, True)

    def breakdown(self):
        return FieldTally()


def test_another_evaluator_of_the_same_name_is_not_taken_for_ours(tmp_path):
    evaluate(ROWS, [NotOurs(3)], out=tmp_path)
    (tmp_path / "summary.json").unlink()
    assert read_run(tmp_path).summary["evaluators"]["json_fields"]["n"] == 3


@dataclass(frozen=True)
class NotOurs(Evaluator):
    """Has metadata of its own make."""

    name = "json_fields"

    number: int

    def check(self, sample):
        return Result(1.0, True, metadata={"fields": self.number})


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system follows links")
@pytest.mark.parametrize("options", [{"overwrite": True}, {"resume": True}])
@pytest.mark.parametrize(
    "name", ["results.jsonl", "samples.jsonl", "manifest.new", "summary.new", ".lock"]
)
def test_a_link_in_the_place_of_a_file_is_not_followed(run, tmp_path_factory, name, options):
    victim = tmp_path_factory.mktemp("elsewhere") / "victim"
    victim.write_text("mine")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(victim)
    with suppress(InputError):  # a link that is replaced as a whole does no harm
        evaluate(ROWS, [JsonMatch()], out=run, **options)
    assert victim.read_text() == "mine"
