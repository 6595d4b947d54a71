"""A part of the data."""

from collections import Counter

import pytest

from llmeval_integrations import InputError, InvalidOptionError, JsonValidity, evaluate

ROWS = [{"output": str(number)} for number in range(100)]


def ids(**options):
    return [row.id for row in evaluate(ROWS, [JsonValidity()], **options).rows]


def test_the_first_rows():
    assert ids(limit=3) == [1, 2, 3]
    assert len(ids(limit=1_000)) == 100


def test_more_rows_than_any_data_have_are_all_of_them(tmp_path):
    for options in ({"limit": 2**63}, {"sample": 2**63}, {"limit": 2**70, "out": tmp_path}):
        assert len(ids(**options)) == 100
    assert len(ids(limit=2**70, out=tmp_path, resume=True)) == 100


def test_rows_drawn_by_chance_keep_order_and_numbers_and_come_again():
    drawn = ids(sample=10, seed=5)
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == 10
    assert ids(sample=10, seed=5) == drawn != ids(sample=10, seed=6)
    assert set(ids(limit=20, sample=5)) <= set(range(1, 21))
    assert ids(sample=1_000) == ids()


def test_each_row_has_the_same_chance():
    counts = Counter(number for seed in range(400) for number in ids(sample=10, seed=seed))
    assert len(counts) == 100
    assert all(15 < count < 75 for count in counts.values())  # 40 each, give or take 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 0}, "limit=0 is not a whole number above 0"),
        ({"limit": True}, "limit=True"),
        ({"sample": -1}, "sample=-1"),
        ({"sample": 1.5}, "sample=1.5"),
        ({"seed": "x"}, "seed='x' is not a whole number"),
        ({"seed": 3}, "seed=3 says which rows are drawn; say how many"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(InvalidOptionError, match=message):
        ids(**options)


def test_another_part_is_another_run(tmp_path):
    ids(sample=10, out=tmp_path)
    with pytest.raises(InputError, match=r"data.seed is 1, and was 0"):
        ids(sample=10, seed=1, out=tmp_path, resume=True)
    assert len(ids(sample=10, out=tmp_path, resume=True)) == 10
