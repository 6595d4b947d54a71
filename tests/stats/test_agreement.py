"""Agreement with people: its figures, what is left out of them, and what cannot be read."""

from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_forms import row_of

from llmeval_integrations import JsonValidity, Result
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.judges.vocabulary import Judgement
from llmeval_integrations.runs import evaluate, read_run
from llmeval_integrations.stats.agreement import Rating, kappa, krippendorff_alpha, pair_agreement
from llmeval_integrations.stats.intervals import width, wilson
from llmeval_integrations.stats.judge_agreement import agreement

# --- kappa and alpha, compared with other packages and published figures -------------------------

pairs = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=60)


@given(pairs)
def test_kappa_is_that_of_statsmodels(rows):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    table = [[rows.count((first, second)) for second in range(1, 5)] for first in range(1, 5)]
    for numbers, weights in ((False, None), (True, "quadratic")):
        found = kappa([Rating(*row) for row in rows], numbers=numbers)
        if found is None:
            assert len({each for row in rows for each in row}) == 1
            continue
        other = inter_rater.cohens_kappa(table, wt=weights)
        assert found.value == pytest.approx(other.kappa, abs=1e-9)
        low, high = found.interval
        assert -1 <= low <= found.value + 1e-9
        assert found.value - 1e-9 <= high <= 1


@pytest.mark.parametrize(
    "chances",
    [
        [[0.45, 0.05], [0.05, 0.45]],
        [[0.665, 0.035], [0.12, 0.18]],
        [[0.882, 0.018], [0.01, 0.09]],
        [[0.693, 0.007], [0.006, 0.294]],  # hardly ever wrong
    ],
)
@pytest.mark.nightly
def test_the_interval_of_kappa_covers_it(chances):
    numpy = pytest.importorskip("numpy")
    choose = numpy.random.default_rng(3)
    flat = [each for row in chances for each in row]
    agreed = flat[0] + flat[3]
    passes, judged = flat[0] + flat[1], flat[0] + flat[2]
    chance = passes * judged + (1 - passes) * (1 - judged)
    truth = (agreed - chance) / (1 - chance)
    for n, least in ((60, 0.92), (200, 0.935)):
        right = draws = 0
        for _ in range(2000):
            counts = zip(product((0, 1), repeat=2), choose.multinomial(n, flat), strict=True)
            found = kappa([Rating(*both) for both, count in counts for _ in range(count)])
            if found is not None:
                draws += 1
                right += found.interval[0] <= truth <= found.interval[1]
        assert right / draws >= least


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


# --- a judge beside people ------------------------------------------------------------------------

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
        ([row_of(1, 1.0, True), row_of(2, 0.0, False)], [Result(1.0, True), Result(0.0, False)]),
    ],
)
def test_verdicts_are_read_from_whatever_holds_them(judged, human):
    found = agreement(judged, human)
    assert found.confusion == {(True, True): 1, (False, False): 1}
    assert found.positive is True


@pytest.mark.parametrize(
    "nothing",
    [None, float("nan"), Result.unscored("cut"), row_of(1, error="ClientError: timeout")],
)
def test_an_unscored_row_is_counted_apart_and_never_a_fail(nothing):
    whole, part = agreement([*JUDGED, nothing], [*HUMAN, True]), agreement(JUDGED, HUMAN)
    assert whole.unscored == 1
    assert (whole.n, whole.shares, whole.corrected) == (part.n, part.shares, part.corrected)


def test_any_labels_have_accuracy_and_kappa_and_rates_if_one_is_named():
    judged = [Result(1.0, None, label) for label in ("good", "poor", "odd", "good")]
    people = ["good", "poor", "poor", "poor"]
    found = agreement(judged, people)
    assert (found.accuracy, found.confusion["poor", "odd"]) == (0.5, 1)
    assert found.kappa.value == pytest.approx((0.5 - 5 / 16) / (1 - 5 / 16))
    assert (found.sensitivity, found.specificity, found.corrected.rate) == (None, None, None)
    assert found.corrected.reason == "positive= does not say which label passes"
    assert found.corrected_pass_rate(judged).reason == found.corrected.reason
    assert str(found).startswith("person \\ judge    good     odd    poor\n")
    named = agreement(judged, people, positive="good")
    assert (named.accuracy, named.sensitivity, named.specificity) == (0.5, 1.0, 2 / 3)
    assert named.corrected.rate == 0.25
    assert named.corrected_pass_rate(["good", "odd", "new"]).rate == 0


verdicts = st.lists(st.tuples(st.sampled_from([True, False, None]), st.booleans() | st.none()))


@given(verdicts, st.randoms(use_true_random=False))
def test_rows_are_never_lost_and_their_order_does_not_matter(rows, choose):
    judged, human = [one for one, _ in rows], [other for _, other in rows]
    found = agreement(judged, human)
    assert found.n + found.unscored + found.unlabelled == len(rows)
    ids = list(range(len(rows)))
    choose.shuffle(ids)
    by_id = agreement({i: judged[i] for i in ids}, dict(enumerate(human)))
    assert str(by_id) == str(found)


@pytest.mark.parametrize(
    ("judged", "human", "message"),
    [
        ([True], [True, False], "judged lacks 1 of the rows, such as 1; give None"),
        ({"a": True, "b": True, "c": True}, {"a": True}, "human lacks 2 of the ids.*'b', 'c'"),
        ([True], {"a": True}, "judged must be a mapping from ids, as the other is, or rows of"),
        ([row_of("a"), row_of("a")], {"a": True}, "ids of their own"),
        (
            [row_of("a"), row_of("a", name="other")],
            {"a": True},
            r"judged holds rows of judge, other; give those of one: .* == 'judge'\]",
        ),
        ("runs/a", {"b": True}, "judged='runs/a' is not a run, or a sequence of verdicts"),
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


def test_numpy_and_pandas_columns_are_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"judge": [True, False, True], "person": [True, None, False]})
    frame["nullable"] = frame["person"].astype("boolean")
    for column in ("person", "nullable"):
        found = agreement(frame["judge"], frame[column])
        assert found.confusion == {(True, True): 1, (False, True): 1}, column
        assert found.unlabelled == 1


@pytest.mark.parametrize(
    "form", [lambda run: run, lambda run: run.rows, lambda run: iter(run.rows)]
)
@pytest.mark.parametrize("stored", [False, True])
def test_a_run_is_joined_with_labels_by_its_ids(tmp_path, form, stored):
    samples = [{"id": name, "output": text} for name, text in zip("abc", ("1", "{", "2"))]
    run = evaluate(samples, [JsonValidity()], out=tmp_path / "run" if stored else None)
    run = read_run(tmp_path / "run") if stored else run
    found = agreement(form(run), {"c": "pass", "a": None, "b": "pass"})
    assert (found.n, found.unlabelled, found.accuracy) == (2, 1, 0.5)
    assert agreement({"c": "pass", "a": None, "b": "pass"}, form(run)).accuracy == 0.5
    assert agreement(form(run), ["pass", "fail", "pass"]).accuracy == 1
    assert found.corrected_pass_rate(form(run)).judged == (2, 3)


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
    assert agreement(["a"], ["a"]).mean_error is None


def test_rows_of_a_group_count_for_less_as_in_a_run():
    rows = [row_of(i, 1.0, i % 4 > 0, group=i // 10) for i in range(100)]
    truth = [i // 10 % 2 == 0 for i in range(100)]
    grouped = agreement(rows, truth)
    single, one_group = (
        agreement([msgspec.structs.replace(row, group=group) for row in rows], truth)
        for group in (None, 1)
    )
    for get in (
        lambda found: found.shares["person passes"],
        lambda found: found.shares["accuracy"],
        lambda found: found.kappa,
        lambda found: found.corrected,
    ):
        assert width(get(grouped).interval) > width(get(single).interval)
        assert get(one_group).interval is None
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
    found = agreement(judged, [True] * 50 + [False] * 50).corrected_pass_rate(run)
    assert found.rate == pytest.approx((0.62 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.judged == (620, 1000)
    assert found.interval == pytest.approx((0.494592, 0.716631), abs=1e-6)
    assert str(found) == (
        "0.600, 95 % interval 0.495 to 0.717 (the judge passed 620 of 1,000; rogan-gladen)"
    )
