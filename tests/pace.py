"""How slow the machine is just now, for limits in seconds that say something of our code alone."""

from time import process_time

_USUAL = 0.012
"""Seconds of the loop on the machine on which the limits were set."""


def pace():
    """Give how many times as long as there a loop takes here, 1 at least."""
    return max(min(_loop() for _ in range(5)) / _USUAL, 1.0)


def _loop():
    start = process_time()
    total = 0
    for number in range(300_000):
        total += number
    return process_time() - start
