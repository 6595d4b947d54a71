"""Logs that Inspect, promptfoo and lm-evaluation-harness have written, read as runs."""

import json
import re
from pathlib import Path
from shutil import copy
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec
import pytest

from llmeval_integrations import InputError, JsonFields
from llmeval_integrations.cli.main import main
from llmeval_integrations.runs import compare, read_run
from llmeval_integrations.runs.load import find_manifest, read_samples

DATA = Path(__file__).parent / "data"
GOLDEN = json.loads((DATA / "golden.json").read_text())
BEFORE, AFTER = DATA / "inspect_a.json", DATA / "inspect_b.json"
PROMPTFOO = DATA / "promptfoo.json"
GENERATED = DATA / "samples_capitals_gen_2026-11-27T00-00-58.678580.jsonl"
CHOSEN = DATA / "samples_capitals_mc_2026-11-27T00-00-58.678580.jsonl"


@pytest.mark.parametrize("name", GOLDEN)
def test_rows_and_samples_are_those_of_the_golden_file(name):
    rows = [msgspec.to_builtins(row) for row in read_run(DATA / name).rows]
    samples = [{**sample} for sample in read_samples(DATA / name)]
    for row in rows:
        row.pop("metadata")
    assert {"rows": rows, "samples": samples} == GOLDEN[name]


def said(path, evaluator):
    """Return score, verdict and label of each row, or its error."""
    rows = (row for row in read_run(path).rows if row.evaluator == evaluator)
    return [row.error or (row.score, row.passed, row.label) for row in rows]


def test_numbers_are_verdicts_only_where_inspect_counts_them_as_such(tmp_path):
    document = json.loads(AFTER.read_text())
    document["eval"]["scorers"][2]["metrics"] = [{"name": "inspect_ai/accuracy"}]
    (tmp_path / "log.json").write_text(json.dumps(document))
    for path, verdict in ((AFTER, None), (tmp_path / "log.json", True)):
        assert {passed for _, passed, _ in said(path, "style/words")[1:4]} == {verdict}


def test_an_archive_is_what_its_json_is(tmp_path):
    """Inspect compresses with zstd, which Python reads from 3.14 on or with what Inspect brings."""
    document, older = json.loads(BEFORE.read_text()), tmp_path / "older.eval"
    with ZipFile(older, "w", ZIP_DEFLATED) as file:
        for sample in document.pop("samples"):
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            file.writestr(name, json.dumps(sample))
        file.writestr("header.json", json.dumps(document))
    for archive in (DATA / "inspect_a.eval", older):
        assert [*read_run(archive).rows] == [*read_run(BEFORE).rows]


def test_a_log_that_is_not_finished_says_so(tmp_path):
    document = json.loads(BEFORE.read_text())
    with ZipFile(tmp_path / "begun.eval", "w") as file:
        file.writestr("samples/fr_epoch_1.json", json.dumps(document["samples"][2]))
        file.writestr("_journal/start.json", json.dumps({"eval": document["eval"]}))
    assert read_run(tmp_path / "begun.eval").incomplete == "Inspect calls its status 'started'"
    assert read_run(BEFORE).incomplete is None


def test_our_evaluators_have_their_fields_in_a_log_of_inspect(tmp_path):
    document, result = json.loads(BEFORE.read_text()), JsonFields()('{"a": 1}', {"a": 2, "b": 3})
    for sample in document["samples"]:
        sample["scores"]["ours"] = {"value": result.score, "metadata": result.metadata}
    (tmp_path / "log.json").write_text(json.dumps(document))
    fields = read_run(tmp_path / "log.json").summary["evaluators"]["ours"]["fields"]
    assert (fields["/a"]["mismatch"], fields["/b"]["missing"]) == (8, 8)


def test_the_direction_of_metrics_is_in_the_results_and_nan_is_no_score(tmp_path):
    assert read_run(CHOSEN).lower_is_better == {"brier_score"}
    assert find_manifest(CHOSEN)["version"] == "lm_eval 0.4.13"
    one = Path(copy(CHOSEN, tmp_path))
    with pytest.raises(InputError, match=r"there is no .*results_2026.*, which lm_eval writes"):
        read_run(one)
    results = json.loads((DATA / "results_2026-11-27T00-00-58.678580.json").read_text())
    results["higher_is_better"]["capitals_mc"]["acc"] = False
    one.with_name("results_2026-11-27T00-00-58.678580.json").write_text(json.dumps(results))
    line = CHOSEN.read_text().splitlines()[0].replace('"acc_norm": 1.0', '"acc_norm": NaN')
    one.write_text(line.replace('"target": "0"', '"target": "1889"'))
    assert said(one, "acc") == [(1, False, None)]
    assert said(one, "acc_norm") == [(None, None, "not_scored")]
    assert next(read_samples(one))["reference"] == "1889"


def test_a_folder_of_samples_is_one_run_of_the_newest_of_each_task(tmp_path):
    for path in [*DATA.glob("*capitals*"), *DATA.glob("results_*")]:
        copy(path, tmp_path)
    old = tmp_path / CHOSEN.name.replace("2026-11-27", "2025-01-01")
    old.write_text(CHOSEN.read_text().replace('"acc": 1.0', '"acc": 0.0'))
    run = read_run(tmp_path)
    assert run.summary["samples"] == 8
    assert said(tmp_path, "acc") == [(None, None, "no_metric")] * 4 + said(CHOSEN, "acc")
    assert compare(tmp_path, DATA).warnings == []
    assert main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").is_file()


def test_a_report_of_a_log_stands_next_to_it_and_each_column_has_its_own(tmp_path):
    log = copy(PROMPTFOO, tmp_path / "results.json")
    assert [main(["report", f"{log}{column}"]) for column in ("", "#1", "#2")] == [0, 0, 0]
    said = str(read_run(log))
    assert "0.0 % of 4 samples pass right" in said
    assert re.search(r"1 +is-json +2 +4", said)
    assert re.search(r"no_assertion  llm-rubric +8  100.0 %", said)  # the others are errors
    pages = {page.name for page in tmp_path.glob("*.html")}
    assert pages == {f"results.json{column}.report.html" for column in ("", "#1", "#2")}


@pytest.mark.parametrize(
    ("a", "b", "evaluator", "groups", "better"),
    [
        (BEFORE, AFTER, "grade", 3, 3),
        (f"{PROMPTFOO}#1", f"{PROMPTFOO}#2", "is-json", 1, 2),
        (CHOSEN, CHOSEN, "acc", None, 0),
    ],
)
def test_runs_of_one_data_set_join_without_a_doubt(a, b, evaluator, groups, better):
    comparison = compare(a, b)
    found = next(each for each in comparison.differences if each.evaluator == evaluator)
    assert (found.groups, found.better, found.worse) == (groups, better, 0)
    assert [each for each in comparison.warnings if "left out" not in each] == []
