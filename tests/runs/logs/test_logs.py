"""Logs that Inspect, promptfoo and lm-evaluation-harness have written, read as runs."""

import json
import sys
from collections import Counter
from pathlib import Path
from shutil import copy
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from llmeval_integrations import InputError, JsonFields
from llmeval_integrations.cli.main import main
from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.runs import compare, read_run
from llmeval_integrations.runs.load import find_manifest, read_samples

DATA = Path(__file__).parent / "data"
BEFORE, AFTER = DATA / "inspect_a.json", DATA / "inspect_b.json"
PROMPTFOO = DATA / "promptfoo.json"
GENERATED = DATA / "samples_capitals_gen_2026-11-27T00-00-58.678580.jsonl"
CHOSEN = DATA / "samples_capitals_mc_2026-11-27T00-00-58.678580.jsonl"


def rows(path, evaluator):
    return {row.id: row for row in read_run(path).rows if row.evaluator == evaluator}


def said(path, evaluator):
    """Return score, verdict and label by id; of an error its text, of what is unscored a mark."""
    return {
        own: row.error or (row.score, row.passed, row.label, *["unscored"] * row.unscored)
        for own, row in rows(path, evaluator).items()
    }


def test_values_of_inspect_are_read_as_inspect_reads_them():
    assert said(BEFORE, "grade") == {
        "fr": (1, True, "correct"),
        "fr (epoch 2)": (0, False, "incorrect"),
        "it": (0.5, False, "partial"),
        "it (epoch 2)": (0, False, "no_answer"),
        "de": (None, None, "no_verdict", "unscored"),
        "de (epoch 2)": (0, False, "incorrect"),
        **dict.fromkeys(("at", "at (epoch 2)"), "SampleError: ValueError('the tool is gone')"),
    }
    assert said(BEFORE, "style/brief")["it"] == (0, False, None)


def test_numbers_are_verdicts_only_where_inspect_counts_them_as_such(tmp_path):
    assert {passed for _, passed, _ in list(said(AFTER, "style/words").values())[1:4]} == {None}
    document = json.loads(AFTER.read_text())
    document["eval"]["scorers"][2]["metrics"] = [{"name": "inspect_ai/accuracy"}]
    (tmp_path / "log.json").write_text(json.dumps(document))
    assert {passed for _, passed, _ in list(said(tmp_path / "log.json", "style/words").values())[1:4]} == {True}  # fmt: skip


def test_epochs_are_a_group_and_what_a_model_was_given_is_kept():
    found = {row.id: row.group for row in read_run(BEFORE).rows}
    assert Counter(found.values()) == {"fr": 2, "it": 2, "de": 2, "at": 2}
    samples = {each["id"]: each for each in read_samples(BEFORE)}
    it, de = samples["it"], samples["de (epoch 2)"]
    assert (it["input"], it["output"], it["reference"]) == ("Capital of Italy?", "Rome, maybe", "Rome")  # fmt: skip
    assert de["reference"] == ["Berlin", "Bonn"]


def test_an_archive_is_what_its_json_is(tmp_path):
    """Inspect compresses with zstd, which Python reads from 3.14 on or with what Inspect brings."""
    archive = DATA / "inspect_a.eval"
    try:
        import zipfile_zstd  # noqa: F401

        can_read = True
    except ModuleNotFoundError:
        can_read = sys.version_info >= (3, 14)
    if can_read:
        assert [*read_run(archive).rows] == [*read_run(BEFORE).rows]
    else:
        with pytest.raises(MissingDependencyError, match="inspect log convert --to json"):
            read_run(archive)
    older = tmp_path / "older.eval"
    document = json.loads(BEFORE.read_text())
    with ZipFile(older, "w", ZIP_DEFLATED) as file:
        for sample in document.pop("samples"):
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            file.writestr(name, json.dumps(sample))
        file.writestr("header.json", json.dumps(document))
    assert [*read_run(older).rows] == [*read_run(BEFORE).rows]


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


DOWN = "500 the server is down"


@pytest.mark.parametrize(
    ("evaluator", "expected"),
    [
        (
            "promptfoo",
            [(1, True, None), (0.15333333333333335, False, None), f"GraderError: {DOWN}"],
        ),
        ("is-json", [(1, True, None), *[(None, None, "no_assertion")] * 2]),
    ],
)
def test_a_column_of_promptfoo_is_a_run(evaluator, expected):
    found = {}
    for own, result in zip((1, "Italy", 3, 4), [*expected, f"ProviderError: {DOWN}"], strict=True):
        found |= {own: result, f"{own} (repeat 2)": result}
    assert said(f"{PROMPTFOO}#2", evaluator) == found


def test_assertions_of_promptfoo_are_evaluators_by_metric_or_type():
    assert [*read_run(PROMPTFOO).summary["evaluators"]] == [
        "promptfoo",
        "contains",
        "is-json",
        "right",
        "javascript",
        "equals",
        "assert-set",
        "contains_2",
        "llm-rubric",
    ]
    italy = rows(f"{PROMPTFOO}#1", "right")["Italy"]
    assert (italy.score, italy.reason) == (0, 'Expected output to contain "Rome"')
    [sample] = [each for each in read_samples(f"{PROMPTFOO}#1") if each["id"] == "Italy"]
    assert sample["input"] == sample["output"] == sample["reference"] == "The capital of Italy is Milan."  # fmt: skip


def test_columns_and_repeats_of_one_test_of_promptfoo_are_a_group():
    groups = Counter(row.group for row in rows(PROMPTFOO, "promptfoo").values())
    assert groups == {1: 4, "Italy": 4, 3: 4, 4: 4}
    with pytest.raises(InputError, match=r"no column is 3; there are 1 \(tiny: The capital of"):
        read_run(f"{PROMPTFOO}#3")


def test_metrics_of_the_harness_are_evaluators_for_each_filter():
    names = ["exact_match,strict", "bleu,strict", "exact_match,first-word", "bleu,first-word"]
    assert [*read_run(GENERATED).summary["evaluators"]] == names
    assert said(GENERATED, names[0]) == {
        0: (0, False, None),
        1: (0, False, None),
        2: (1, True, None),
        3: (1, True, None),
    }
    assert said(GENERATED, names[1])[0] == (None, None, "no_figure")
    first = next(iter(read_samples(GENERATED)))
    assert (first["input"], first["output"], first["reference"]) == ("Question: Capital of France?\nAnswer:", "lol", "Paris")  # fmt: skip


def test_the_likeliest_choice_is_the_output(tmp_path):
    assert [(each["output"], each["reference"]) for each in read_samples(CHOSEN)] == [
        ("Paris", "Paris"),
        ("Rome", "Rome"),
        ("Rome", "Berlin"),
        ("Madrid", "Madrid"),
    ]
    assert read_run(CHOSEN).lower_is_better == {"brier_score"}
    assert find_manifest(CHOSEN)["version"] == "lm_eval 0.4.13"
    assert read_run(copy(CHOSEN, tmp_path)).lower_is_better is None
    one = tmp_path / "one.jsonl"
    one.write_text(CHOSEN.read_text().splitlines()[0].replace('"acc_norm": 1.0', '"acc_norm": NaN'))
    assert said(one, "acc") == {0: (1, True, None)}
    assert said(one, "acc_norm") == {0: (None, None, "not_scored", "unscored")}


def test_a_folder_of_samples_is_one_run_of_the_newest_of_each_task(tmp_path):
    for path in DATA.glob("*capitals*"):
        copy(path, tmp_path)
    old = tmp_path / CHOSEN.name.replace("2026-11-27", "2025-01-01")
    old.write_text(CHOSEN.read_text().replace('"acc": 1.0', '"acc": 0.0'))
    run = read_run(tmp_path)
    assert run.summary["samples"] == 8
    assert said(tmp_path, "acc") == {
        **{f"capitals_gen ({own})": (None, None, "no_metric") for own in range(4)},
        **{f"capitals_mc ({own})": result for own, result in said(CHOSEN, "acc").items()},
    }
    assert compare(tmp_path, DATA).warnings == []
    assert main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").is_file()


def test_a_report_of_a_log_stands_next_to_it_and_each_column_has_its_own(tmp_path):
    log = copy(PROMPTFOO, tmp_path / "results.json")
    assert [main(["report", f"{log}{column}"]) for column in ("", "#1", "#2")] == [0, 0, 0]
    pages = {page.name for page in tmp_path.glob("*.html")}
    assert pages == {"results.report.html", "results.1.report.html", "results.2.report.html"}


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
