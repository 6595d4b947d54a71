"""Slow evaluators that another process can import, and rows for them."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass

from llmeval_integrations import Evaluator, Result


@dataclass(frozen=True)
class Slow(Evaluator):
    """Does the output have an even length? Takes its time, prints, and raises where told to."""

    seconds: float = 0.002

    def check(self, sample):
        time.sleep(self.seconds)
        os.write(1, b".")  # an evaluator may print
        if sample.output == "raise":
            raise ValueError("told to")
        if sample.output == "unscored":
            return Result.unscored("told to be")
        even = len(sample.output) % 2 == 0
        return Result(
            len(sample.output), even, None if even else "odd", None if even else "it is odd"
        )


@dataclass(frozen=True)
class Leaves(Evaluator):
    """Says which process it is in, and ends it where the output says so, but one that is SPARED."""

    def check(self, sample):
        time.sleep(0.002)
        if sample.output == "end" and os.environ.get("SPARED") not in ("all", str(os.getpid())):
            os._exit(3)
        return Result(1, True, str(os.getpid()))


def write_odd_data(path):
    """Write 1,200 rows, some of which fail in every way there is, and half have a group."""
    odd = {300: "raise", 700: "unscored", 900: "{", 901: 7}
    lines = []
    for number in range(1_200):
        output = odd.get(number, "x" * (number % 5))
        row = {"id": f"é{number}", "output": output, "reference": f'{{"a": {number % 7}}}'}
        group = {"group": number % 300} if number % 2 else {}
        lines.append(json.dumps({**row, **group}))
        if number % 400 == 0:
            lines.append("")  # an empty line is skipped but counted
    lines.insert(1_000, "no JSON at all")
    path.write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    return path
