"""What a report says of a run and of a comparison: sections of cells with rounded figures."""

import json
from dataclasses import dataclass

import pytest

from llmeval_integrations import (
    Evaluator,
    ExactMatch,
    JsonFields,
    JsonGrounded,
    JsonSchema,
    JsonValidity,
    Result,
    ToolCalls,
    compare,
    evaluate,
)
from llmeval_integrations.reports.comparison_view import comparison_view, views_of_comparisons
from llmeval_integrations.reports.run_view import view_of_run
from llmeval_integrations.runs.stored import read_run


def section(view, name):
    """Give a section's rows, each a mapping from the heads to the texts."""
    [found] = [each for each in view.sections if each.name == name]
    heads = [column.head for column in found.columns]
    return [dict(zip(heads, (cell.text for cell in row), strict=True)) for row in found.rows]


def names(view):
    return [each.name for each in view.sections]


INVOICE = {"total": 9, "item": {"number": "A7"}}
EXTRACTED = [
    {"id": "a", "output": {"total": "9", "item": {"number": "B7"}, "note": "-"}, "reference": INVOICE},
    {"id": "b", "output": {"total": 9, "item": {"number": "B7"}}, "reference": INVOICE},
    {"id": "c", "output": {"item": {"number": "A7"}}, "reference": INVOICE},
    {"id": "d", "output": "{", "reference": INVOICE},
]  # fmt: skip


def test_an_unreadable_output_is_one_cause_however_many_evaluators_report_it():
    evaluators = [JsonValidity(), JsonSchema({"type": "object"}), JsonFields()]
    view = view_of_run(evaluate(EXTRACTED, evaluators))
    causes = section(view, "causes")
    [truncated] = [each for each in causes if each["cause"].startswith("truncated: ")]
    assert (truncated["samples"], truncated["found by"]) == ("1", "all 3")
    assert sum(int(each["samples"]) for each in causes) == 4
    assert view.verdict.text == (
        "0.0 % of 4 samples pass json_fields, the lowest rate. 1 output is not JSON."
    )


def test_rates_are_percents_with_one_decimal_and_their_colour_says_how_good_they_are():
    rows = [{"output": "{}"}] * 12 + [{"output": "{"}]
    view = view_of_run(evaluate(rows, {"most": JsonValidity(), "none": ExactMatch()}))
    [most, none] = section(view, "evaluators")
    assert (most["passed"], most["95 % interval"], most["mean score"]) == ("92.3 %", "66.7 to 98.6 %", "0.923")  # fmt: skip
    assert (none["passed"], none["errors"]) == ("–", "13")
    assert [row[1].tone for row in view.sections[0].rows] == ["good", "quiet"]
    assert view.verdict.text.endswith("13 errors count in no rate.")
    empty = view_of_run(evaluate([], [JsonValidity()]))
    assert empty.verdict.text == "No evaluator gave a verdict."


def test_fields_are_ranked_by_the_samples_in_which_they_are_wrong():
    """An array that is wrong in many places of one sample comes behind a value of two."""
    right = {"v": 1, "list": [*range(50)]}
    rows = [{"output": {**right, "v": n}, "reference": right} for n in range(3)]
    rows += [{"output": {"v": 1, "list": []}, "reference": right}, {"output": "{", "reference": right}]  # fmt: skip
    fields = section(view_of_run(evaluate(rows, [JsonFields()])), "fields")
    assert [(each["field"], each["wrong"], each["of"]) for each in fields] == [
        ("/v", "2", "4"),
        ("/list/*", "1", "4"),
    ]
    assert fields[1]["missing"] == "50"  # and not those of the output that is not JSON
    assert "extra" not in fields[0]  # a column that no field has


def test_wrong_values_were_invented_or_misread(tmp_path):
    letter = "Harbour Ltd, 5 January 2024: 1,250.50 EUR in 30 days"
    right = {"vendor": "Harbour Ltd", "total": 1250.5, "paid": True}
    rows = [
        {"input": letter, "reference": right, "output": {**right, **wrong}}
        for wrong in ({}, {"total": 30}, {"vendor": "Acme", "total": 30}, {"paid": False})
    ]
    run = evaluate(rows, [JsonFields(), JsonGrounded()], out=tmp_path / "run")
    view = view_of_run(run)
    fields = {
        each["field"]: (each["invented"], each["misread"]) for each in section(view, "fields")
    }
    assert fields == {"/total": ("0", "2"), "/vendor": ("1", "0"), "/paid": ("0", "0")}
    said = "Of 3 wrong values 1 are not in the source (invented), 2 are (misread)."
    assert said in view.verdict.text
    summary = json.loads((run.out / "summary.json").read_bytes())["evaluators"]["json_fields"]
    assert (summary["invented"], summary["misread"]) == (1, 2)
    assert (summary["fields"]["/total"]["invented"], summary["fields"]["/total"]["misread"]) == (
        0,
        2,
    )
    first = section(view, "grounding")[0]
    assert (first["field"], first["not in the source"], first["of"]) == ("/vendor", "1", "4")
    lines = (run.out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run.out / "results.jsonl").write_bytes(b"".join(lines[:3]))  # a kill in the middle of a sample
    (run.out / "summary.json").unlink()
    assert "is incomplete" in view_of_run(read_run(run.out)).warnings[0]


def test_numbers_that_many_sources_have_are_found_by_chance(tmp_path):
    rows = [
        {"input": f"In 30 days {1000 + n} EUR", "output": {"due": 30, "total": 1000 + n}}
        for n in range(12)
    ]
    run = evaluate(rows, [JsonGrounded()], out=tmp_path / "run")
    shares = {each["field"]: each["by chance"] for each in section(view_of_run(run), "grounding")}
    assert shares == {"/due": "100.0 %", "/total": "–"}


@pytest.mark.parametrize(("samples", "said", "waiting"), [(3, "not shown: 3 of 299 needed", 6), (400, "0.9: 400 values (50.0%) are accepted", 400)])  # fmt: skip
def test_values_below_the_threshold_wait_for_a_review_the_least_sure_first(samples, said, waiting):
    rows = [
        {
            "id": f"s{n}",
            "output": {"a": 1, "b": n, "_sure": {"/a": 0.9, "/b": 0.1 if n == 2 else 0.4}},
            "reference": {"a": 1, "b": 1},
        }
        for n in range(samples)
    ]
    fields = JsonFields(confidence="/_sure", fields={"/_sure": {"ignore": True}})
    view = view_of_run(evaluate(rows, [fields]))
    [queue] = [each for each in view.sections if each.name == "review"]
    assert section(view, "review")[0] == {"sample": "s2", "field": "/b", "confidence": "0.100"}
    assert queue.rows[0][0].filter == {"evaluator": "json_fields", "sample": "s2"}
    assert len(queue.rows) + queue.left_out == waiting
    assert said in queue.note


def test_fields_name_the_values_that_are_wrong_most_often_and_leaves_have_figures():
    view = view_of_run(evaluate(EXTRACTED * 2, [JsonFields()]))
    [fields] = [each for each in view.sections if each.name == "fields"]
    wrong = {row[0].text: (row[-1].text, *row[-1].others) for row in fields.rows}
    assert wrong["/item/number"] == ('"B7" for "A7" (4 times)',)
    assert {row[0].text: row[0].filter["sample"] for row in fields.rows}["/note"] == "a"
    [leaves] = section(view, "leaves")
    assert leaves == {"evaluator": "json_fields", "precision": "33.3 %", "recall": "25.0 %", "F1": "28.6 %", "macro F1": "29.2 %"}  # fmt: skip


def test_tools_have_their_figures_those_with_most_wrong_calls_first():
    rows = [
        {"output": [{"name": "right"}, {"name": "wrong"}], "reference": [{"name": "right"}]},
        {"output": [{"name": "right"}], "reference": [{"name": "right"}, {"name": "wrong"}]},
    ]
    [first, second] = section(view_of_run(evaluate(rows, [ToolCalls()])), "tools")
    assert (first["tool"], first["called"], first["expected"], first["right"]) == ("wrong", "1", "1", "0")  # fmt: skip
    assert (second["tool"], second["F1"]) == ("right", "100.0 %")


@pytest.mark.parametrize(("cost", "shown"), [(None, "not known"), (0.5, "$0.5000")])
def test_a_cost_that_is_not_known_is_told_with_why(cost, shown):
    taken = dict.fromkeys(("calls", "cached", "failed", "not_asked", "input_tokens", "output_tokens"), 0)  # fmt: skip
    run = evaluate(EXTRACTED[:1], [JsonValidity()])
    run.summary["evaluators"]["json_validity"]["judge"] = {**taken, "cost": cost}
    [judges] = [each for each in view_of_run(run).sections if each.name == "judges"]
    assert judges.rows[0][-1].text == shown
    assert ("genai-prices" in judges.note) is (cost is None)


def test_a_run_that_lacks_samples_says_so(tmp_path):
    run = evaluate(EXTRACTED, [JsonValidity()], out=tmp_path / "cut")
    assert view_of_run(run).warnings == []
    (run.out / "summary.json").unlink()
    [warning] = view_of_run(read_run(run.out)).warnings
    assert warning.startswith("cut: the run is incomplete: there is no summary.json")


RIGHT = {"a": 1, "b": "x"}
OLD = [{"id": f"s{n:02}", "output": RIGHT, "reference": RIGHT} for n in range(20)]
NEW = [{**row, "output": {**RIGHT, "a": 2}} for row in OLD[:12]] + OLD[12:]


def compared(old, new, evaluator=None, **options):
    runs = [evaluate(rows, [evaluator or JsonFields()]) for rows in (old, new)]
    return comparison_view(compare(*runs), **options)


def test_a_comparison_says_what_is_worse_by_how_many_points():
    view = compared(OLD, NEW)
    assert view.verdict.text == (
        "B is worse: json_fields pass rate 100.0 % → 40.0 %; json_fields score 1.000 → 0.700; "
        "json_fields /a 100.0 % → 40.0 %."
    )
    assert view.verdict.tone == "bad"
    rate, score = section(view, "differences")
    assert [rate[head] for head in ("A", "B", "B - A", "95 % interval", "verdict", "worse")] == [
        *("100.0 %", "40.0 %", "-60.0 points", "-78.1 to -33.3", "worse", "12")
    ]
    assert score["B - A"] == "-0.300"
    fields = section(view, "compared-fields")
    assert [(each["field"], each["verdict"]) for each in fields] == [("/a", "worse"), ("/b", "none shown")]  # fmt: skip
    assert compared(NEW, OLD).verdict.tone == "good"
    changes = section(compared(OLD, NEW, changes=3), "changes")
    assert [each["sample"] for each in changes] == ["s00", "s01", "s02"]
    assert changes[0]["in A"] == "passed 1: Every field matches"
    assert changes[0]["in B"] == "failed 0.5: /a 2, expected 1"
    assert view.sections[-1].rest(3) == "and 9 more changes: llmeval compare A B --json"
    same = compared(OLD, OLD).verdict.text
    assert same.startswith("No difference is more than chance may make. 20 samples can show")


def test_runs_that_cannot_be_compared_say_why():
    a, b = evaluate(OLD, [JsonFields()]), evaluate(OLD, [JsonValidity()])
    [view] = views_of_comparisons({"a": a, "b": b})
    assert view.verdict.text.startswith("Not compared: the runs have no evaluator in common")


def tries(*passes, group=True):
    """Give three tries of each task, so many of which pass."""
    return [
        {"id": f"t{n}.{k}", "output": "1" if k < count else "x", **({"group": n} if group else {})}
        for n, count in enumerate(passes)
        for k in range(3)
    ]


def test_repeats_and_flaky_groups_are_shown_where_groups_are_named():
    evaluators = {"valid": JsonValidity(), "again": JsonValidity()}
    view = view_of_run(evaluate(tries(3, 3, 1, 2, 0), evaluators))
    repeats = [each for each in section(view, "repeats") if each["evaluator"] == "valid"]
    assert [(each["k"], each["pass@k"], each["pass^k"]) for each in repeats] == [
        ("1", "60.0 %", "60.0 %"),
        ("2", "73.3 %", "46.7 %"),
        ("3", "80.0 %", "40.0 %"),
    ]
    flaky = section(view, "flaky")
    assert [(each["group"], each["passed"], each["of"]) for each in flaky[:2]] == [
        ("2", "1", "3"),
        ("3", "2", "3"),
    ]
    [note] = [each.note for each in view.sections if each.name == "flaky"]
    assert note.endswith("some did not: 2 of 5 in valid; 2 of 5 in again.")
    assert {"repeats", "flaky"}.isdisjoint(names(view_of_run(evaluate(tries(3, 0), evaluators))))


def test_the_sentence_of_power_counts_groups():
    a, b = (evaluate(tries(*passes), [JsonValidity()]) for passes in ([3, 1] * 10, [2, 2] * 10))
    view = comparison_view(compare(a, b))
    assert view.verdict.text.endswith(
        "60 samples in 20 groups can show differences from about 21 points (80 % power)."
    )
    assert section(view, "differences")[0]["samples"] == "60 in 20 groups"
    few = comparison_view(compare(*(evaluate(tries(n), [JsonValidity()]) for n in (3, 1))))
    assert few.verdict.text.endswith(
        "3 samples in 1 group can show no difference of json_validity."
    )


@dataclass(frozen=True)
class Named(Evaluator):
    """What is it? The output is its label, and it passes no verdict."""

    def check(self, sample):
        return Result(1.0, None, str(sample.output), "as it says")


def test_labels_of_evaluators_without_a_verdict_are_counted():
    view = view_of_run(evaluate([{"output": "warm"}] * 3 + [{"output": "cold"}], {"tone": Named()}))
    [warm, _] = section(view, "labels")
    assert warm == {"label": "warm", "evaluator": "tone", "rows": "3", "share": "75.0 %"}
    assert "causes" not in names(view)
