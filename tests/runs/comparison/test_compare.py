"""Two runs compared: what is joined, what is left out, what is surely no chance."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from row_forms import row_of as row
from row_forms import run_of

from llmeval_integrations import ExactMatch, JsonMatch, compare, evaluate


def test_runs_of_real_evaluators_are_compared_field_by_field(tmp_path):
    evaluators = ["json_fields", "json_match", "json_validity"]
    a, b = (
        [
            {"id": n, "output": json.dumps({"total": 1 + (n >= right), "paid": True}), "reference": {"total": 1, "paid": True}}
            for n in range(30)
        ]
        for right in (30, 10)
    )  # fmt: skip
    for name, samples in (("a", a), ("b", b)):
        evaluate(samples, evaluators, out=tmp_path / name)
    found = compare(tmp_path / "a", str(tmp_path / "b"))
    told = {(each.evaluator, each.measure, each.field): each for each in found.differences}
    assert {key: each.verdict for key, each in told.items()} == {
        ("json_fields", "pass rate", None): "worse",
        ("json_fields", "score", None): "worse",
        ("json_fields", "matching leaves", "/total"): "worse",
        ("json_fields", "matching leaves", "/paid"): "none shown",
        ("json_match", "pass rate", None): "worse",
        ("json_validity", "pass rate", None): "none shown",
    }
    assert told["json_fields", "score", None].difference == pytest.approx(-1 / 3)
    changed = found.evaluators["json_fields"]
    assert (changed.joined, changed.left_out, changed.better, changed.worse) == (30, 0, 0, 20)
    assert changed.changes[0].reason_a == "Every field matches"
    assert changed.changes[0].reason_b == "/total 2, expected 1"
    assert found.a == str(tmp_path / "a")
    without = compare(tmp_path / "a", tmp_path / "b", by_field=False)
    assert [each.field for each in without.differences] == [None] * 4
    in_memory = compare(*(evaluate(samples, evaluators) for samples in (a, b)))
    assert in_memory.differences == found.differences
    one = compare(tmp_path / "a", tmp_path / "b", evaluators="json_match")
    assert [*one.evaluators] == ["json_match"]


def test_what_has_no_score_in_either_run_is_left_out_and_counted():
    lost = {"unscored": True, "reason": "no answer"}
    a = [row("1", 1, True), row("2", **lost), row("3", 0, False), row("4", 1, True), row("5", 1)]
    b = [row("1", 1, True), row("2", 1, True), row("3", error="E: x"), row("4", 1, True), row("5")]
    twice = (
        [replace(each, evaluator=name) for name in ("x", "y") for each in run] for run in (a, b)
    )
    found = compare(*map(run_of, twice))
    told = found.evaluators["y"]
    assert (told.joined, told.left_out, told.left_out_a, told.left_out_b) == (5, 3, 1, 2)
    assert [(each.n, each.a, each.b) for each in found.differences] == [(2, 1.0, 1.0)] * 2
    lacking = "3 of 5 samples are left out, as they have no score: 1 in A, 2 in B"
    assert found.warnings == [f"x, y: {lacking}"]


def test_ids_are_joined_as_json_has_them():
    a = [row(each, 1) for each in (1, "1", (1, 2), {"x": 1, "y": 2}, True)]
    b = [row(each, 1) for each in (1.0, "1", [1, 2], {"y": 2, "x": 1.0}, True)]
    found = compare(run_of(a), run_of(b))
    assert (found.only_a, found.only_b, found.evaluators["judge"].joined) == ([], [], 5)


@pytest.mark.parametrize("group", [None, "by column"])
def test_rows_of_one_group_or_one_id_are_not_independent(group):
    """Ten questions, tried five times each: nothing passes in A, four of five tries in B."""
    tries = [(f"q{n // 5}", n, float(n % 5 > 0)) for n in range(50)]
    a, b = (
        [
            row(task if group is None else n, x * b, bool(x * b), group=group and task)
            for task, n, x in tries
        ]
        for b in (0, 1)
    )
    [rate, *_] = compare(run_of(a), run_of(b)).differences
    assert (rate.n, rate.groups, rate.a, rate.b, rate.better) == (50, 10, 0.0, 0.8, 40)
    assert rate.p == rate.adjusted == pytest.approx(2 / 2**10)
    assert 0.5 < rate.detectable < rate.difference == 0.8 < rate.interval[1]
    [alone, *_] = compare(run_of(a[1::5]), run_of(b[1::5])).differences
    assert (alone.n, alone.groups, alone.p) == (10, None, rate.p)
    [few, *_] = compare(run_of(a[1:30:5]), run_of(b[1:30:5])).differences
    assert (few.n, few.verdict, few.detectable) == (6, "better", None)  # it would be above 1


def test_the_changes_are_listed_worst_first():
    a = [row("1", 0.9, True), row("2", 0.5, False), row("3", 0.8, True), row("4", 0.7, True)]
    b = [row("1", 0.8, True), row("2", 0.9, True), row("3", 0.1, False), row("4", 0.7, True)]
    for most, ids in ((100, ["3", "1", "2"]), (1, ["3", "2"])):
        told = compare(run_of(a), run_of(b), changes=most).evaluators["judge"]
        assert [each.id for each in told.changes] == ids
        assert (told.worse, told.better) == (2, 1)
        first = told.changes[0]
        assert (first.better, first.score_a, first.score_b) == (False, 0.8, 0.1)
        assert (first.passed_a, first.passed_b) == (True, False)


def test_of_distances_less_is_better_and_of_others_if_the_caller_says_so(tmp_path):
    for name, text in (("a", "hexxx xxrld"), ("b", "hello wxrld")):
        rows = [{"id": n, "output": text, "reference": "hello world"} for n in range(20)]
        evaluate(rows, "string_distance", out=tmp_path / name)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert [(each.measure, each.lower_is_better) for each in found.improvements] == [
        ("score", True)
    ]
    a, b = (run_of([row(n, score) for n in range(20)]) for score in (0.5, 0.4))
    for lower, verdict in (((), "worse"), ("judge", "better")):
        [score] = compare(a, b, lower_is_better=lower).differences
        assert score.verdict == verdict


def test_the_rounding_of_floats_is_no_spread():
    scores = [n / 7 for n in range(1, 10)]
    a, b = (run_of([row(n, each - x) for n, each in enumerate(scores)]) for x in (0.02, 0.05))
    (score,) = compare(a, b).differences
    assert score.difference == pytest.approx(-0.03)
    assert (score.p, score.interval) == (2 / 2**9, None)


FIGURES = st.tuples(st.sampled_from([None, 0.0, 0.25, 0.5, 1.0]), st.booleans())


@settings(max_examples=40)
@given(st.lists(st.tuples(FIGURES, FIGURES), min_size=1, max_size=20), st.randoms())
def test_neither_the_order_of_rows_nor_which_run_is_first_matters(samples, chance):
    a, b = (
        [row(f"s{n}", *said, unscored=said[0] is None) for n, said in enumerate(side)]
        for side in zip(*samples, strict=True)
    )
    found, turned = compare(run_of(a), run_of(b)), compare(run_of(b), run_of(a))
    shuffled = (run_of(chance.sample(rows, len(rows))) for rows in (a, b))
    assert compare(*shuffled).differences == found.differences
    for here, there in zip(found.differences, turned.differences, strict=True):
        assert (here.a, here.b, here.n) == (there.b, there.a, there.n)
        assert here.difference == pytest.approx(-there.difference)
        assert (here.p, here.adjusted) == pytest.approx((there.p, there.adjusted))
        assert (here.better, here.worse) == (there.worse, there.better)
        assert {here.verdict, there.verdict} in ({"none shown"}, {"better", "worse"})
        if here.interval:
            assert here.interval == pytest.approx([-each for each in there.interval[::-1]])


def test_fields_that_cannot_differ_surely_hide_none_that_does():
    """501 fields, 500 of which have four samples: only /always can be shown to differ at all."""
    chance = Random(1).random

    def run(wrong):
        rows = []
        for n in range(100):
            right = {f"/f{n % 25}/{k}": chance() < 0.9 for k in range(20)}
            fields = {path: {"match": x, "mismatch": not x} for path, x in right.items()}
            fields["/always"] = {"mismatch" if n % 9 in wrong else "match": 1}
            rows.append(row(f"s{n}", fields=fields))
        return run_of(rows)

    found = compare(run([]), run([0]))
    assert len(found.differences) == 501
    [field] = found.regressions
    assert field.field == "/always"
    assert field.adjusted == field.p > 0.05 / 501


@pytest.mark.parametrize("fields", [["a"], {"a": 1}, {"a": {"kind": "text"}}])
def test_metadata_of_another_tool_that_is_called_fields_is_not_compared(fields):
    a, b = (run_of([row(n, 1.0, True, fields=fields) for n in range(9)]) for _ in "ab")
    assert [each.field for each in compare(a, b).differences] == [None]


# --- a difference may come from something other than the outputs ------------------------------------

GOOD = [{"id": f"s{n}", "output": "{}", "reference": "{}"} for n in range(4)]


def warnings(tmp_path, a, b, evaluators=(), **options):
    """Give the warnings of a run with JsonMatch and a second run with these options."""
    evaluate(a, [JsonMatch()], out=tmp_path / "a")
    evaluate(b, evaluators or [JsonMatch()], out=tmp_path / "b", **options)
    return compare(tmp_path / "a", tmp_path / "b").warnings


def rows_of(ids):
    return [{"id": each, "output": "{}", "reference": "{}"} for each in ids]


@pytest.mark.parametrize(
    ("a", "b", "options", "told"),
    [
        (GOOD, [{**each, "output": "[]", "input": "another"} for each in GOOD], {}, ""),
        (
            GOOD,
            GOOD,
            {"evaluators": [JsonMatch(strict_order=False), ExactMatch()]},
            (
                "other evaluators or options: json_match.options.strict_order is False, and was "
                "True; in B alone, so not compared: exact_match"
            ),
        ),
        (GOOD, GOOD, {"limit": 2}, "other samples: 2 samples in A alone, so not compared"),
        (
            *[[{"output": "{}", "reference": "{}"}]] * 2,
            {},
            "other samples: ids are the numbers of the rows",
        ),
        (*[rows_of("aab")] * 2, {}, "1 of 3 rows has the id of another, and no group is named"),
        (*[rows_of(["t1.0", "t1.1", "t2.0", "t2.1"])] * 2, {}, "ids such as 't1.0' and 't1.1'"),
        (*[[{**each, "group": 1} for each in rows_of("aab")]] * 2, {}, ""),
    ],
)
def test_what_differs_besides_the_outputs_is_named(tmp_path, a, b, options, told):
    found = warnings(tmp_path, a, b, **options)
    assert [each[: len(told)] for each in found] == ([told] if told else [])


def test_other_options_of_runs_in_memory_are_named():
    loose = evaluate(GOOD, JsonMatch(strict_order=False))
    [told] = compare(evaluate(GOOD, JsonMatch()), loose).warnings
    assert told.endswith("json_match.options.strict_order is False, and was True")
    assert compare(loose, loose).warnings == []


def test_another_version_of_this_package_and_a_killed_run_are_named(tmp_path):
    assert warnings(tmp_path, GOOD, GOOD) == []
    path = tmp_path / "a/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "0.1"}))
    (tmp_path / "b" / "summary.json").unlink()
    incomplete, version = compare(tmp_path / "a", tmp_path / "b").warnings
    assert incomplete == "other samples: B is incomplete: it was killed or is under way"
    assert version.startswith("another version: A was evaluated by 0.1, B by ")


def test_other_references_of_an_evaluator_with_a_column_of_its_own_are_noticed(tmp_path):
    failed = [{**sample, "output": "[]", "gold": "{}"} for sample in GOOD]
    other = [{**sample, "gold": "[1]"} for sample in failed[:3]] + failed[3:]
    evaluators = {"first": JsonMatch(), "own": JsonMatch(), "also": JsonMatch()}
    for name, rows in (("a", failed), ("b", other)):
        evaluate(rows, evaluators, columns={"own.reference": "gold"}, out=tmp_path / name)
    [told] = compare(tmp_path / "a", tmp_path / "b").warnings
    assert told == (
        "other references: own: 3 of 4 samples that both runs keep have another one in B"
    )


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"reference": "gold"}, ["columns.reference"]),
        ({"other.reference": "gold"}, ["columns.other.reference"]),
        ({"output": "gold", "other.input": "gold"}, []),
    ],
)
def test_of_one_file_columns_of_references_are_noticed_and_places_are_ids(tmp_path, columns, told):
    file = tmp_path / "data.csv"
    file.write_text("output,reference,gold\n" + "{},{},[]\n" * 4)
    evaluators = {"first": JsonMatch(), "other": JsonMatch()}
    for name, mapping in (("a", {}), ("b", columns)):
        evaluate(str(file), evaluators, columns=mapping, out=tmp_path / name)
    said = "; ".join(f"{name} is 'gold', and was absent" for name in told)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert found.warnings == ([f"other references: {said}"] if told else [])
    assert found.evaluators["first"].worse == (0 if "other.reference" in columns else 4)
