"""An interrupt ends a run so that what was done is known, and rows and figures agree."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from llmeval_integrations import JsonMatch, JsonValidity, LengthPenalty
from llmeval_integrations.runs import Interrupted, evaluate
from llmeval_integrations.runs.interrupting import Interrupts

EVALUATORS = [JsonValidity(), JsonMatch(), LengthPenalty()]


def broken_off(count):
    for number in range(count):
        yield {"output": "1", "reference": str(number % 2)}
    raise KeyboardInterrupt


@pytest.mark.parametrize("in_a_directory", [False, True])
def test_it_carries_the_run_that_was_done(tmp_path, in_a_directory):
    out = tmp_path / "run" if in_a_directory else None
    with pytest.raises(KeyboardInterrupt) as caught:
        evaluate(broken_off(1_000), EVALUATORS, out=out)
    assert isinstance(caught.value, Interrupted)
    run = caught.value.run
    rows = list(run.rows)
    assert 800 < run.summary["samples"] <= 1_000
    assert len(rows) == run.summary["samples"] * len(EVALUATORS)
    assert (run.summary["interrupted"], run.incomplete) == (True, "it was interrupted")
    passed = sum(row.passed for row in rows if row.evaluator == "json_match")
    assert passed == run.summary["samples"] / 2
    assert run.summary["evaluators"]["json_match"]["pass_rate"] == 0.5
    assert "the run is incomplete: it was interrupted" in str(run)
    if in_a_directory:
        assert json.loads((out / "summary.json").read_text()) == run.summary


def test_an_interrupt_waits_for_the_end_of_the_block():
    done = []
    interrupts = Interrupts()

    def block():
        with interrupts.watched(), interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_whoever_handles_interrupts_is_told_of_each():
    told = []
    before = signal.signal(signal.SIGINT, lambda number, _: told.append(number))
    try:
        interrupts = Interrupts()
        with interrupts.watched():
            with interrupts:
                for _ in range(3):
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.01)
                assert told == []
            assert told == [signal.SIGINT] * 3
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            assert told == [signal.SIGINT] * 4
    finally:
        signal.signal(signal.SIGINT, before)


def test_elsewhere_than_in_the_main_thread_there_is_nothing_to_wait_for():
    handlers = []
    interrupts = Interrupts()

    def block():
        with interrupts.watched(), interrupts:
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]


def test_it_can_be_handed_to_another_process():
    with pytest.raises(Interrupted) as caught:
        evaluate(broken_off(10), [JsonValidity()])
    copied = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own
    assert copied.run.summary == caught.value.run.summary
    assert str(copied) == f"interrupted after {copied.run.summary['samples']} samples"


@pytest.mark.nightly
@pytest.mark.once
@pytest.mark.skipif(sys.platform == "win32", reason="no signals to one process")
def test_while_a_run_is_taken_up_again_it_loses_nothing(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"output": "1"}\n' * 150_000)
    command = [sys.executable, "-m", "llmeval_integrations", "run", "data.jsonl", "-q"]
    command += ["-e", "json_validity", "--out", "run"]
    subprocess.run(command, cwd=tmp_path, check=True)
    rows = (tmp_path / "run" / "results.jsonl").read_bytes()
    began = time.perf_counter()
    subprocess.run([*command, "--resume"], cwd=tmp_path, check=True)
    whole = time.perf_counter() - began
    for share in (0.8, 0.6, 0.7, 0.9, 0.5, 0.75, 0.85, 0.95):  # neither done nor not yet begun
        run = subprocess.Popen([*command, "--resume"], cwd=tmp_path, stderr=-1)
        time.sleep(share * whole)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
        if run.returncode == 130 and b"go on with the same call and --resume" in errors:
            break
    assert b"go on with the same call and --resume" in errors
    subprocess.run([*command, "--resume"], cwd=tmp_path, check=True)
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == rows


@pytest.mark.once
@pytest.mark.skipif(sys.platform == "win32", reason="no signals to one process")
@pytest.mark.parametrize("more", [[], ["--out", "run"]], ids=["in memory", "in a directory"])
def test_whenever_it_comes_rows_and_figures_agree(tmp_path, more):
    chance = random.Random(5)
    line = json.dumps({"output": '{"a": 1}', "reference": '{"a": 1}'}) + "\n"
    (tmp_path / "data.jsonl").write_text(line * 200_000)
    names = ["json_validity", "json_match", "length_penalty"]
    command = [sys.executable, "-m", "llmeval_integrations", "run", "data.jsonl", "--json", *more]
    command += [f"-e{name}" for name in names] + (["--overwrite"] if more else [])
    interrupted = 0
    for _ in range(12):
        run = subprocess.Popen(command, cwd=tmp_path, stdout=-1, stderr=-1)
        time.sleep(chance.uniform(0.3, 1.5))
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=60)
        if run.returncode != 130 or not output:
            continue  # it was not that far yet, or done
        interrupted += 1
        assert b"Traceback" not in errors
        summary = json.loads(output)
        assert summary["samples"] > 0
        assert {summary["evaluators"][name]["n"] for name in names} == {summary["samples"]}
        if more:
            rows = sum(1 for _ in (tmp_path / "run" / "results.jsonl").open())
            assert rows == summary["samples"] * len(names)
        if interrupted == 3:
            break
    assert interrupted
