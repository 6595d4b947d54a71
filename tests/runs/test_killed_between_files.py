"""A process that is killed between any two changes to the files of a run's directory."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from itertools import count

import pytest

from llmeval_integrations import Evaluator, InputError, JsonMatch, JsonValidity, Result, evaluate
from llmeval_integrations.runs.stored import read_manifest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process to be forked")

CHANGES = {"open", "os.remove", "os.rename"}
KILLED = 9
ROWS = [
    {"id": f"row {number}", "output": json.dumps([number % 3, 1]), "reference": [1, number % 3]}
    for number in range(20)
]


def is_killed_before(change, folder, call):
    """Run in another process, which ends without notice before the so-manieth change."""
    child = os.fork()
    if child == 0:
        numbers = count(1)

        def hook(event, arguments):
            here = event in CHANGES and str(arguments[0]).startswith(f"{folder}{os.sep}")
            if here and next(numbers) == change:
                os._exit(KILLED)

        sys.addaudithook(hook)
        try:
            call()
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, KILLED}
    return code == KILLED


def killed_everywhere(begun, folder, call):
    """Have the call killed before each of its changes to a copy of a run; gives how often."""
    for change in count(1):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(begun, folder)
        if not is_killed_before(change, folder, call):
            assert change > 8
            return
        yield change


def files(folder):
    names = ("results.jsonl", "samples.jsonl", "summary.json")
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.once
def test_the_rows_of_a_run_that_is_overwritten_are_never_taken_over(tmp_path):
    old, new = [JsonMatch()], [JsonMatch(strict_order=False)]
    evaluate(ROWS, old, out=tmp_path / "old")
    evaluate(ROWS, new, out=tmp_path / "new")
    run = tmp_path / "run"
    assert files(tmp_path / "old") != files(tmp_path / "new")
    for _ in killed_everywhere(
        tmp_path / "old", run, lambda: evaluate(ROWS, new, out=run, overwrite=True)
    ):
        told = read_manifest(run)["evaluators"]["json_match"]["options"]
        if told["strict_order"] and (run / "results.jsonl").exists():
            assert files(run)["results.jsonl"] == files(tmp_path / "old")["results.jsonl"]
            with pytest.raises(InputError, match="strict_order is False, and was True"):
                evaluate(ROWS, new, out=run, resume=True)
        else:
            evaluate(ROWS, new, out=run, resume=True)
            assert files(run) == files(tmp_path / "new")


@dataclass(frozen=True)
class Moody(Evaluator):
    """Fails the same rows always, and raises about others as long as it is told to."""

    bad = [True]

    def check(self, sample):
        if self.bad[0] and sample.id.endswith("3"):
            raise ValueError("not now")
        return Result(1.0, not sample.id.endswith("7"))


@pytest.mark.once
def test_rows_that_are_done_again_take_their_place_with_their_samples(tmp_path):
    evaluators, run = [JsonValidity(), Moody()], tmp_path / "run"
    for name, bad in (("bad", True), ("good", False)):
        Moody.bad[0] = bad
        evaluate(ROWS, evaluators, out=tmp_path / name)
    bad, good = files(tmp_path / "bad"), files(tmp_path / "good")
    ends = []
    for _ in killed_everywhere(
        tmp_path / "bad",
        run,
        lambda: evaluate(ROWS, evaluators, out=run, resume=True, retry_errors=True),
    ):
        evaluate(ROWS, evaluators, out=run, resume=True)
        ends.append(files(run))
        assert ends[-1] in (bad, good)
        assert not list(run.glob("*.new"))
        evaluate(ROWS, evaluators, out=run, resume=True, retry_errors=True)
        assert files(run) == good
    assert ends[0] == bad
    assert ends[-1] == good
