"""A recursive function gets an empty stack where the caller's is full."""

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from llmeval_integrations.core.fresh_stack import has_fresh_stack, on_fresh_stack


def depth_of(levels: int) -> int:
    return 1 + depth_of(levels - 1) if levels else 0


def below(frames: int, function: Callable[[], Any]) -> Any:
    """Call the function with so many more frames on the stack."""
    return below(frames - 1, function) if frames else function()


def test_what_fits_an_empty_stack_runs_below_a_full_one():
    levels = sys.getrecursionlimit() // 2
    frames = sys.getrecursionlimit() * 2 // 3
    with pytest.raises(RecursionError):
        below(frames, lambda: depth_of(levels))
    assert below(frames, lambda: on_fresh_stack(depth_of, levels)) == levels


def test_what_fits_no_stack_raises():
    with pytest.raises(RecursionError):
        on_fresh_stack(depth_of, sys.getrecursionlimit() * 2)


def test_an_error_of_the_function_is_raised():
    with pytest.raises(ZeroDivisionError):
        on_fresh_stack(divmod, 1, 0)


def test_there_is_no_fresher_stack_than_a_fresh_one():
    def again() -> Any:
        return on_fresh_stack(depth_of, 1)

    with pytest.raises(RecursionError, match="needs more stack than an empty one has"):
        on_fresh_stack(again)


def test_a_thread_knows_whether_its_stack_is_fresh():
    assert not has_fresh_stack()
    assert on_fresh_stack(has_fresh_stack)
    found = []
    other = threading.Thread(target=lambda: found.append(has_fresh_stack()))
    other.start()
    other.join()
    assert found == [False]


def test_no_thread_is_left_behind():
    before = threading.active_count()
    for _ in range(20):
        on_fresh_stack(depth_of, 1)
    assert threading.active_count() == before
