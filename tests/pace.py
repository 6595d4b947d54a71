"""Limits in seconds that do not depend on how busy the machine is."""

from contextlib import contextmanager
from time import process_time

_USUAL = 0.012
"""Seconds of the loop in `pace` on the machine on which the limits were set."""


class TooSlowError(AssertionError):
    """What took too long is tried again, three times: the machine may have stood still."""


@contextmanager
def at_most(seconds, clock=process_time):
    """Raise TooSlowError where what is within takes longer than so many seconds at the usual pace.

    The processor's time is counted, so that others at work do not count; time that passes on a
    `clock` of the wall is asked for where what is within waits.
    """
    start = clock()
    yield
    taken = clock() - start
    if taken >= seconds:
        slower = pace(taken, clock)
        if taken >= seconds * slower:
            raise TooSlowError(f"{taken:.2f} s, on a machine {slower:.1f} times slower than usual")


def pace(during=0.05, clock=process_time):
    """Give how many times as long as there a loop takes here, 1 at least, over so many seconds."""
    start, loops = clock(), 0
    while loops == 0 or clock() - start < during:
        loops += 1
        numbers = {}
        for number in range(40_000):
            numbers[str(number)] = [number]
    return max((clock() - start) / loops / _USUAL, 1.0)
