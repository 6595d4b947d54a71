"""A judge beside people: agreement, its figures, and rates that a person would pass."""

from itertools import starmap

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_forms import row_of

from llmeval_integrations import Result
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.judges.vocabulary import Judgement
from llmeval_integrations.runs import evaluate
from llmeval_integrations.stats import judged_rate
from llmeval_integrations.stats.agreement import Rating, kappa, krippendorff_alpha, pair_agreement
from llmeval_integrations.stats.intervals import Share, width, wilson
from llmeval_integrations.stats.judge_agreement import agreement

pandas = pytest.importorskip("pandas")
RATINGS = st.integers(1, 4)


@given(st.lists(st.tuples(RATINGS, RATINGS), min_size=2, max_size=60))
def test_kappa_is_that_of_statsmodels(rows):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    table = [[rows.count((first, second)) for second in range(1, 5)] for first in range(1, 5)]
    ratings = [Rating(*row) for row in rows]
    assert (kappa(ratings) is None) == (len({each for row in rows for each in row}) == 1)
    for weights in (None, "quadratic") if kappa(ratings) else ():
        found = kappa(ratings, numbers=weights is not None)
        other = inter_rater.cohens_kappa(table, wt=weights)
        assert found.value == pytest.approx(other.kappa, abs=1e-9)
        low, high = found.interval
        assert -1 <= low <= found.value + 1e-9
        assert found.value - 1e-9 <= high <= 1


# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), example C: 4 observers, 12 units.
UNITS = [
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
]  # fmt: skip


def test_alpha_is_as_published_and_pairs_of_equal_ratings_are_counted():
    assert krippendorff_alpha(UNITS) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(UNITS, numbers=True) == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha([[1], [2]]) is None
    assert pair_agreement([["a", "a", "b"], ["a"], ["b", "b"]]) == (2, 4)


TP, FN, FP, TN = 50, 4, 6, 40
JUDGED = [True] * TP + [False] * FN + [True] * FP + [False] * TN
HUMAN = [True] * (TP + FN) + [False] * (FP + TN)


def test_the_table_reads_well():
    judged, human = [*JUDGED, None, None, True], [*HUMAN, True, False, None]
    assert str(agreement(judged, human)).splitlines() == [
        "person \\ judge    fail    pass",
        "fail                40       6",
        "pass                 4      50",
        "",
        "accuracy         0.900  0.826 to 0.945  90 of 100",
        "kappa            0.798  0.646 to 0.889",
        "sensitivity      0.926  0.824 to 0.971  50 of 54",
        "specificity      0.870  0.743 to 0.939  40 of 46",
        "judge passes     0.564  0.467 to 0.657  57 of 101",
        "person passes    0.540  0.443 to 0.634  54 of 100",
        "corrected        0.540  0.443 to 0.634  labels",
        "",
        "100 rows compared, 2 unscored, 1 without a label; intervals of 95 %",
    ]


@pytest.mark.parametrize(
    ("judged", "human"),
    [
        ([Result(1.0, True), Result(0.0, False)], [True, False]),
        ([Result(0.85, True, "Pass"), Result(0.1, False, "Fail")], ["pass", "Fail"]),
        ([Judgement("", "Pass", "High"), Judgement("", "Fail", "Low")], [1, 0]),
        ([{"verdict": "Pass", "confidence": "Low"}, {"verdict": "Fail"}], [True, False]),
        (["PASS", "fail"], ["1", "0"]),
        ([1.0, 0.0], ["True", "FALSE"]),
        ((verdict for verdict in (True, False)), (True, False)),
        ({"a": True, "b": False}, {"b": False, "a": True}),
        (pandas.Series([True, False]), pandas.Series(["pass", "fail"])),
        ([row_of(1, 1.0, True), row_of(2, 0.0, False)], [Result(1.0, True), Result(0.0, False)]),
    ],
)
def test_verdicts_are_read_from_whatever_holds_them(judged, human):
    found = agreement(judged, human)
    assert found.confusion == {(True, True): 1, (False, False): 1}
    assert found.positive is True


def test_any_labels_have_accuracy_and_kappa_and_rates_if_one_is_named():
    judged = [Result(1.0, None, label) for label in ("good", "poor", "odd", "good")]
    people = ["good", "poor", "poor", "poor"]
    found = agreement(judged, people)
    assert (found.accuracy, found.mean_error, found.confusion["poor", "odd"]) == (0.5, None, 1)
    assert found.kappa.value == pytest.approx((0.5 - 5 / 16) / (1 - 5 / 16))
    assert (found.sensitivity, found.specificity, found.corrected.rate) == (None, None, None)
    assert found.corrected.reason == "positive= does not say which label passes"
    assert found.corrected_pass_rate(judged).reason == found.corrected.reason
    assert str(found).startswith("person \\ judge    good     odd    poor\n")
    named = agreement(judged, people, positive="good")
    assert (named.accuracy, named.sensitivity, named.specificity) == (0.5, 1.0, 2 / 3)
    assert named.corrected.rate == 0.25
    assert named.corrected_pass_rate(["good", "odd", "new"]).rate == 0


NOTHING = [None, float("nan"), pandas.NA, Result.unscored("cut"), row_of(1, error="KeyError: x")]
JUDGEMENTS = st.sampled_from([True, False, *NOTHING])


@given(st.lists(st.tuples(JUDGEMENTS, st.booleans() | st.none())), st.randoms())
def test_no_row_is_lost_or_a_fail_without_a_verdict_and_their_order_does_not_matter(rows, choose):
    judged, human = [one for one, _ in rows], [other for _, other in rows]
    found = agreement(judged, human)
    assert found.n + found.unscored + found.unlabelled == len(rows)
    scored = [place for place, one in enumerate(judged) if isinstance(one, bool)]
    part = agreement([judged[each] for each in scored], [human[each] for each in scored])
    assert (found.n, found.shares, found.corrected) == (part.n, part.shares, part.corrected)
    ids = choose.sample(range(len(rows)), len(rows))
    assert str(agreement({i: judged[i] for i in ids}, dict(enumerate(human)))) == str(found)


@pytest.mark.parametrize(
    ("judged", "human", "message"),
    [
        ([True], [True, False], "judged lacks 1 of the rows, such as 1; give None"),
        ({"a": True, "b": True, "c": True}, {"a": True}, "human lacks 2 of the ids.*'b', 'c'"),
        ([True], {"a": True}, "judged must be a mapping from ids, as the other is, or rows of"),
        ([row_of("a"), row_of("a")], {"a": True}, "ids of their own"),
        ([row_of("a"), row_of("a", name="b")], {"a": True}, r"of judge, b; .* == 'judge'\]"),
        ("runs/a", {"b": True}, "judged='runs/a' is not a run, or a sequence of verdicts"),
        (pandas.DataFrame({"passed": [True]}), [True], r"judged is .*, as judged\['passed'\]"),
        ([True], 1, "human=1 is not a run, or a sequence"),
        ([Result(0.5)], [True], r"judged, row 0: Result.* is not a verdict"),
        ({"x": True}, {"x": "good"}, "judged, row 'x': True is not a label, and other values are"),
        ([object()], [object()], "judged, row 0: <object object.* is not a label"),
    ],
)
def test_what_cannot_be_compared_is_named(judged, human, message):
    with pytest.raises(InputError, match=message):
        agreement(judged, human)
    with pytest.raises(InvalidOptionError, match="positive='god' is none of 'bad', 'good'"):
        agreement(["good", "bad"], ["good", "bad"], positive="god")


@pytest.mark.parametrize("out", [None, "run"])
def test_a_run_is_joined_with_labels_by_its_ids(tmp_path, out):
    samples = [{"id": name, "output": text} for name, text in zip("abc", ("1", "{", "2"))]
    run = evaluate(samples, "json_validity", out=out and tmp_path / out)
    labels = {"c": "pass", "a": None, "b": "pass"}
    for found in starmap(agreement, [(run, labels), (labels, run), (iter(run.rows), labels)]):
        assert (found.n, found.accuracy) == (2, 0.5)
    assert agreement(run, ["pass", "fail", "pass"]).accuracy == 1
    assert found.corrected_pass_rate(run).judged == (2, 3)


def test_several_people_label_a_row_and_most_of_them_decide():
    judged = ["pass", "fail", "pass", "fail"]
    people = [["pass", "pass", "fail"], ["fail", "fail"], ["pass", "fail"], None]
    found = agreement(judged, people)
    assert (found.n, found.tied, found.unlabelled, found.accuracy) == (2, 1, 1, 1.0)
    assert (found.people, found.judge_and_person) == ((2, 5), (5, 7))  # pairs
    assert "people agree     0.400                  2 of 5 pairs" in str(found)


def test_ratings_have_weighted_kappa_and_a_mean_error():
    found = agreement([Result(score) for score in (5.0, 4.0, 2.0, 1.0)], [5, 3, 2, 1])
    assert found.mean_error == 0.25
    assert found.weighted_kappa.value == pytest.approx(1 - 0.25 / 4.75)
    assert found.kappa.value < found.weighted_kappa.value


def test_rows_of_a_group_count_for_less_as_in_a_run():
    rows = [row_of(i, 1.0, i % 4 > 0, group=i // 10) for i in range(100)]
    truth = [i // 10 % 2 == 0 for i in range(100)]
    others = ([msgspec.structs.replace(row, group=each) for row in rows] for each in (None, 1))
    grouped, single, one_group = (agreement(each, truth) for each in (rows, *others))
    for name in ("kappa", "corrected", "accuracy", "person passes"):
        found = [each.shares.get(name) or getattr(each, name) for each in (grouped, single)]
        assert width(found[0].interval) > width(found[1].interval)
        assert (one_group.shares.get(name) or getattr(one_group, name)).interval is None
    samples = [{"output": "1" if row.passed else "{", "group": row.group} for row in rows]
    figures = evaluate(samples, "json_validity").summary["evaluators"]["json_validity"]
    assert [*grouped.shares["judge passes"].interval] == figures["pass_rate_ci95"]


def test_the_rate_of_a_run_that_is_labelled_in_part_is_prediction_powered():
    found = agreement([*JUDGED, *[True] * 620, *[False] * 380], [*HUMAN, *[None] * 1000]).corrected
    alone = agreement(JUDGED, HUMAN).corrected
    assert (found.method, found.judged) == ("prediction-powered", (676, 1100))
    assert width(found.interval) < width(alone.interval)
    assert (alone.rate, alone.method, alone.interval) == (0.54, "labels", wilson(54, 100))


def test_the_rate_of_another_run_is_rogan_and_gladens():
    run = [Result(1.0, True)] * 620 + [Result(0.0, False)] * 380 + [Result.unscored("cut")] * 9
    judged = [True] * 45 + [False] * 5 + [True] * 10 + [False] * 40
    known = agreement(judged, [True] * 50 + [False] * 50)
    found = known.corrected_pass_rate(run)
    assert found.rate == pytest.approx((0.62 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.judged == (620, 1000)
    assert found.interval == pytest.approx((0.494592, 0.716631), abs=1e-6)
    judged = "the judge passed 620 of 1,000; rogan-gladen"
    assert str(found) == f"0.600, 95 % interval 0.495 to 0.717 ({judged})"
    for size, width_of_groups in ((20, 0.451), (1_000, None)):
        rows = [row_of(n, None, n < 620, group=n // size) for n in range(1_000)]
        interval = known.corrected_pass_rate(rows).interval
        assert (interval and round(width(interval), 3)) == width_of_groups


VERDICTS = st.tuples(st.none() | st.booleans(), st.booleans())


@given(st.lists(VERDICTS, min_size=1, max_size=60), st.integers(1, 7))
def test_an_interval_contains_the_rate_and_groups_never_narrow_it(pairs, groups):
    rows = [Rating(*both) for both in pairs]
    alone = judged_rate.prediction_powered_rate(rows)
    if alone.rate is None:
        assert alone.reason == "no row has a person's label"
        return
    assert alone.interval[0] <= alone.rate <= alone.interval[1]
    in_groups = [row._replace(group=place % groups) for place, row in enumerate(rows)]
    grouped = judged_rate.prediction_powered_rate(in_groups).interval
    assert grouped is None or width(grouped) >= width(alone.interval) - 1e-9


def test_the_number_of_labels_for_an_interval():
    needed = judged_rate.labels_needed
    assert needed(width=0.1, judged=2_000) == 150
    assert needed(width=0.1, judged=2_000, sensitivity=0.5, specificity=0.5) == 247
    assert needed(width=0.02, judged=300) is None
    for wrong in ({"width": 10}, {"rate": 1}, {"sensitivity": 90}, {"specificity": 0}):
        with pytest.raises(InvalidOptionError, match="is not a number between 0 and 1"):
            needed(**wrong)


def rogan_gladen(*shares):
    rows = ([(None, n < part) for n in range(whole)] for part, whole in shares)
    return judged_rate.rogan_gladen_rate(*rows)


@pytest.mark.parametrize(
    ("judged", "sensitivity", "specificity", "reason"),
    [
        (Share(5, 10), Share(0, 3), Share(0, 3), "does no better than chance: sensitivity 0.000"),
        # in floats, 0.7 + 0.3 - 1 and its like come out as 1e-16
        (Share(5, 10), Share(7, 10), Share(3, 10), "no better than chance"),
        (Share(5, 10), Share(1, 1), Share(0, 0), "a scored row of each kind is needed"),
        (Share(5, 10), Share(0, 0), Share(1, 1), "a scored row of each kind is needed"),
        (Share(0, 0), Share(1, 1), Share(1, 1), "a scored row of each kind is needed"),
    ],
)
def test_a_missing_rate_has_a_reason(judged, sensitivity, specificity, reason):
    found = rogan_gladen(judged, sensitivity, specificity)
    assert (found.rate, found.interval) == (None, None)
    assert reason in str(found)


def shares(most):
    return st.tuples(*[st.integers(0, most)] * 2).map(lambda both: Share(*sorted(both)))


@given(shares(1000), shares(60), shares(60))
def test_swapping_pass_and_fail_mirrors_the_rate(judged, sensitivity, specificity):
    found = rogan_gladen(judged, sensitivity, specificity)
    failing = Share(judged.whole - judged.part, judged.whole)
    mirrored = rogan_gladen(failing, specificity, sensitivity)
    assert (found.rate is None) == (mirrored.rate is None)
    if found.rate is not None:
        low, high = mirrored.interval
        assert 0 <= low <= mirrored.rate <= high <= 1
        assert found.rate == pytest.approx(1 - mirrored.rate)
        assert found.interval == pytest.approx((1 - high, 1 - low))
