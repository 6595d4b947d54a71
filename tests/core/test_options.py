"""Options are checked where an evaluator is built."""

import http
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from llmeval_integrations import Evaluator, InvalidOptionError, Result, Sample
from llmeval_integrations.core.options import check_callable, check_choice, check_flag, check_number

BOUNDED: dict[str, Any] = {"minimum": 0, "maximum": 10}


@dataclass(frozen=True)
class Probe(Evaluator):
    """Does the option pass its check?"""

    value: Any

    def check(self, sample: Sample) -> Result:
        return Result(1, sample.output == self.value)


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        (0, BOUNDED),
        (10, BOUNDED),
        (0.5, BOUNDED),
        (-0.0, BOUNDED),
        (9.999, {"below": 10}),
        (3, {"whole": True}),
        (10**300, {}),
        (-1e308, {}),
        (None, {"optional": True}),
    ],
    ids=str,
)
def test_a_number_within_its_bounds_passes(value, rules):
    check_number(Probe(value), "value", **rules)


def test_a_number_of_another_library_becomes_pythons_own():
    class Float(float):
        pass

    for value, number in ((Float(0.5), 0.5), (http.HTTPStatus.OK, 200)):
        probe = Probe(value)
        check_number(probe, "value")
        assert (probe.value, type(probe.value)) == (number, type(number))


@pytest.mark.parametrize(
    ("value", "rules", "expected"),
    [
        (-1, BOUNDED, "a finite number, at least 0, at most 10"),
        (10.001, BOUNDED, "a finite number, at least 0, at most 10"),
        (10, {"below": 10}, "a finite number, below 10"),
        (math.nan, {}, "a finite number"),
        (math.inf, {}, "a finite number"),
        (-math.inf, BOUNDED, "a finite number, at least 0, at most 10"),
        (True, {}, "a finite number"),
        ("3", {}, "a finite number"),
        (None, {}, "a finite number"),
        ("x", {"optional": True}, "a finite number, or None"),
        (1.0, {"whole": True}, "a whole number"),
        (Fraction(1, 2), {}, "a finite number"),
        (Decimal(1), {}, "a finite number"),
        (1j, {}, "a finite number"),
        ([1], {}, "a finite number"),
        (10**400, {}, "a finite number"),
        (-(10**5000), {}, "a finite number"),
        (Unshowable(), {}, "a finite number"),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_any_other_number_is_refused_by_name(value, rules, expected):
    with pytest.raises(InvalidOptionError, match=re.escape(f" is not {expected}")) as raised:
        check_number(Probe(value), "value", **rules)
    assert str(raised.value).startswith("probe: value=")
    assert isinstance(raised.value, ValueError)


def choose(probe: Probe, option: str) -> None:
    check_choice(probe, option, ("a", "b"))


@pytest.mark.parametrize(
    ("check", "right", "wrong", "expected"),
    [
        (check_flag, [True, False], [0, 1, None, "true", [], 1.0], "True or False"),
        (choose, ["a", "b"], ["c", "", "A", None, 1, ["a"], {"a"}, b"a"], "one of 'a', 'b'"),
        (check_callable, [None, len, Probe], [1, "len", [], {}], "something that can be called, or None"),
    ],
)  # fmt: skip
def test_flags_choices_and_functions_are_checked(check, right, wrong, expected):
    for value in right:
        check(Probe(value), "value")
    for value in wrong:
        with pytest.raises(InvalidOptionError, match=f"probe: value=.* is not {expected}"):
            check(Probe(value), "value")


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(InvalidOptionError) as raised:
        check_flag(Probe("x" * 10**6), "value")
    assert len(str(raised.value)) < 400
