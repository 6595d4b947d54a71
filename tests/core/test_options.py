"""Options are checked where an evaluator is built; tests/evaluators has those of each."""

import http
import math
import re
from dataclasses import dataclass
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


def choose(probe: Probe, option: str) -> None:
    check_choice(probe, option, ("a", "b"))


def number(**rules: Any) -> Any:
    return lambda probe, option: check_number(probe, option, **rules)


@pytest.mark.parametrize(
    ("check", "right", "wrong", "expected"),
    [
        (number(**BOUNDED), [0, 10, 0.5], [-1, 10.001, -math.inf], "a finite number, at least 0, at most 10"),
        (number(below=10), [9.999], [10], "a finite number, below 10"),
        (number(), [10**300, -1e308], [math.nan, True, "3", None, 1j, 10**400, Unshowable()], "a finite number"),
        (number(optional=True), [None, 1], ["x"], "a finite number, or None"),
        (number(whole=True), [3], [3.0], "a whole number"),
        (check_flag, [True, False], [0, 1, None, "true", []], "True or False"),
        (choose, ["a", "b"], ["c", "", "A", None, 1, ["a"], {"a"}, b"a"], "one of 'a', 'b'"),
        (check_callable, [None, len, Probe], [1, "len", [], {}], "something that can be called, or None"),
    ],
)  # fmt: skip
def test_an_option_that_makes_no_sense_is_refused_by_name(check, right, wrong, expected):
    for value in right:
        check(Probe(value), "value")
    for value in wrong:
        with pytest.raises(InvalidOptionError, match=f"^probe: value=.* is not {re.escape(expected)}$"):  # fmt: skip
            check(Probe(value), "value")


def test_a_number_of_another_library_becomes_pythons_own():
    class Float(float):
        pass

    for value, plain in ((Float(0.5), 0.5), (http.HTTPStatus.OK, 200)):
        probe = Probe(value)
        check_number(probe, "value")
        assert (probe.value, type(probe.value)) == (plain, type(plain))
