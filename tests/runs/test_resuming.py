"""A run that was interrupted, killed or refused, and what becomes of it."""

import errno
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from llmeval_integrations import (
    Evaluator,
    InputError,
    JsonFields,
    JsonMatch,
    JsonValidity,
    LengthPenalty,
    Result,
    evaluate,
)
from llmeval_integrations.runs.stored import read_manifest, read_run, read_samples

EVALUATORS = [JsonValidity(), JsonMatch(), JsonFields()]


def data(count=1_000):
    choose = random.Random(1)
    for number in range(count):
        output = choose.choice(['{"a": 1}', '{"a": 2}', '{"a": ', '{"a": 1, "b": 2}'])
        yield {"id": f"row {number}", "output": output, "reference": {"a": 1}}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "data.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in data()))
    return file


def files(folder):
    return {
        name: (folder / name).read_bytes()
        for name in ("results.jsonl", "samples.jsonl", "summary.json")
    }


@pytest.mark.parametrize("cut", [0, 1, 100, 5_000, 50_000, 200_001])
def test_wherever_the_rows_end_the_rest_is_done_and_nothing_twice(path, tmp_path, cut):
    evaluate(path, EVALUATORS, out=tmp_path / "whole")
    evaluate(path, EVALUATORS, out=tmp_path / "cut")
    whole = files(tmp_path / "whole")
    for name in ("results.jsonl", "samples.jsonl"):
        size = min(cut * (1 if name == "results.jsonl" else 2), len(whole[name]))
        (tmp_path / "cut" / name).write_bytes(whole[name][:size])
    (tmp_path / "cut" / "summary.json").unlink()
    run = evaluate(path, EVALUATORS, out=tmp_path / "cut", resume=True)
    assert len(run.rows) == 3_000
    if cut <= 5_000:  # else the samples of done rows were cut off too, which no kill does
        assert files(tmp_path / "cut") == whole
    assert (tmp_path / "cut" / "summary.json").read_bytes() == whole["summary.json"]
    assert (tmp_path / "cut" / "results.jsonl").read_bytes() == whole["results.jsonl"]


KILLED = """
import sys, time
sys.path[:0] = {paths!r}
from test_resuming import EVALUATORS, evaluate
from llmeval_integrations import Evaluator, Result

class Slow(Evaluator):
    name = "slow"
    def check(self, sample):
        time.sleep(0.0005)
        return Result(1.0, True)

evaluate({data!r}, [*EVALUATORS, Slow()], out={out!r}, resume=True)
"""


@pytest.mark.nightly
@pytest.mark.once
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_process_that_is_killed_again_and_again_ends_with_the_same_files(path, tmp_path):
    paths = [str(Path(__file__).parent), *(each for each in sys.path if "tests" in each)]
    command = [sys.executable, "-c"]
    code = KILLED.format(paths=paths, data=str(path), out=str(tmp_path / "killed"))
    whole = code.replace(repr(str(tmp_path / "killed")), repr(str(tmp_path / "whole")))
    subprocess.run([*command, whole], check=True)
    choose = random.Random(2)
    kills = 0
    for _ in range(30):
        process = subprocess.Popen([*command, code])
        try:
            assert process.wait(timeout=0.2 + choose.random() * 0.5) == 0
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    else:
        subprocess.run([*command, code], check=True)
    assert kills
    assert files(tmp_path / "killed") == files(tmp_path / "whole")


def test_what_differs_is_named(path, tmp_path):
    evaluate(path, EVALUATORS, out=tmp_path / "run")
    again = {"out": tmp_path / "run", "resume": True}
    with pytest.raises(
        InputError,
        match=r"holds another run: evaluators.json_match.options.strict_order is False, and was True",
    ):
        evaluate(path, [JsonValidity(), JsonMatch(strict_order=False), JsonFields()], **again)
    with pytest.raises(InputError, match=r"evaluators.json_fields"):
        evaluate(path, EVALUATORS[:2], **again)
    with pytest.raises(InputError, match=r"columns.output is 'reference', and was absent"):
        evaluate(path, EVALUATORS, columns={"output": "reference"}, **again)
    path.write_text(path.read_text() + '{"output": "1"}\n')
    with pytest.raises(InputError, match=r"data.bytes is .*, and was "):
        evaluate(path, EVALUATORS, **again)
    with pytest.raises(InputError, match=r"data.kind is 'list', and was 'file'"):
        evaluate(list(data()), EVALUATORS, **again)
    assert len((tmp_path / "run" / "results.jsonl").read_bytes().splitlines()) == 3_000


def test_a_file_that_was_moved_is_the_same_data(path, tmp_path):
    evaluate(path, EVALUATORS, out=tmp_path / "run")
    before = files(tmp_path / "run")
    path.rename(tmp_path / "moved.jsonl")
    evaluate(tmp_path / "moved.jsonl", EVALUATORS, out=tmp_path / "run", resume=True)
    assert files(tmp_path / "run") == before


def test_data_of_another_length_is_noticed(tmp_path):
    evaluate(list(data(10)), [JsonValidity()], out=tmp_path / "run")
    with pytest.raises(InputError, match=r"data.samples is 9, and was 10"):
        evaluate(list(data(9)), [JsonValidity()], out=tmp_path / "run", resume=True)


def breaks_off_after(count, error):
    yield from data(count)
    raise error


def test_the_summary_is_never_of_fewer_rows_than_there_are(tmp_path):
    again = {"out": tmp_path / "run", "resume": True}
    results = tmp_path / "run" / "results.jsonl"
    with pytest.raises(KeyboardInterrupt):
        evaluate(breaks_off_after(400, KeyboardInterrupt()), [JsonValidity()], **again)
    first = read_run(tmp_path / "run").summary
    assert first["interrupted"]
    with pytest.raises(InputError, match="of other data"):
        evaluate((row for row in [{"output": "1"}]), [JsonValidity()], **again)
    assert read_run(tmp_path / "run").summary == first
    with pytest.raises(RuntimeError, match="broken"):
        evaluate(breaks_off_after(900, RuntimeError("broken")), [JsonValidity()], **again)
    second = read_run(tmp_path / "run").summary
    assert second["samples"] == len(results.read_bytes().splitlines()) > first["samples"]
    assert "interrupted" not in second


def test_a_run_that_is_not_there_is_begun_and_one_in_memory_cannot_be_resumed(path, tmp_path):
    assert evaluate(path, EVALUATORS, out=tmp_path / "new", resume=True).summary["samples"] == 1_000
    with pytest.raises(InputError, match=r"out="):
        evaluate(path, EVALUATORS, resume=True)


def test_two_processes_in_one_directory_the_second_is_told(path, tmp_path):
    waiting = (
        "import sys, time; from llmeval_integrations import evaluate, JsonValidity\n"
        "def rows():\n    yield from [{'output': '1'}] * 8\n    print('begun', flush=True)\n    time.sleep(60)\n"
        f"evaluate(rows(), [JsonValidity()], out={str(tmp_path / 'run')!r})"
    )
    with subprocess.Popen(
        [sys.executable, "-c", waiting], stdout=subprocess.PIPE, text=True
    ) as first:
        # That the file of the lock is there does not say that it is locked.
        assert first.stdout.readline() == "begun\n"
        for options in ({"resume": True}, {"overwrite": True}):
            with pytest.raises(InputError, match=r"another process is at work in"):
                evaluate([{"output": "1"}], [JsonValidity()], out=tmp_path / "run", **options)
        first.kill()
    assert evaluate([{"output": "1"}], [JsonValidity()], out=tmp_path / "run", overwrite=True).rows


def test_a_file_system_without_locks_is_named_as_such(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)  # for none is at hand
    with pytest.raises(InputError, match=f"cannot write to .*: {os.strerror(errno.ENOLCK)}"):
        evaluate([{"output": "{}"}], [JsonValidity()], out=tmp_path / "run")


FULL = """
import resource
from llmeval_integrations import InputError, JsonValidity, evaluate

resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    evaluate({data!r}, [JsonValidity()], out={out!r}, resume=True)
except InputError as error:
    print(error)
"""


def test_a_disk_that_is_full_ends_with_a_clear_error_and_a_run_to_resume(path, tmp_path):
    full = FULL.format(data=str(path), out=str(tmp_path / "run"))
    for _ in range(3):  # also where a run is gone on with while the disk is still full
        done = subprocess.run(
            [sys.executable, "-B", "-c", full], capture_output=True, text=True, check=True
        )
        assert f"cannot write to {tmp_path / 'run'}" in done.stdout
        assert "can be resumed" in done.stdout
    run = evaluate(path, [JsonValidity()], out=tmp_path / "run", resume=True)
    assert [row.id for row in run.rows] == [f"row {number}" for number in range(1_000)]
    assert resource.getrlimit(resource.RLIMIT_FSIZE) != (20_000, 20_000)


AS_ANYBODY = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--ambient-caps=-all"]
"""Takes from root what others have not: leave to write anywhere."""

READ_ONLY = """
from llmeval_integrations import InputError, JsonValidity, evaluate

try:
    evaluate({data!r}, [JsonValidity()], out={out!r}, resume=True)
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write anywhere"
)
@pytest.mark.parametrize("begun", [False, True])
def test_a_directory_that_cannot_be_written_to(path, tmp_path, begun):
    out = tmp_path / "run"
    out.mkdir()
    whole = evaluate(path, [JsonValidity()], out=tmp_path / "whole")
    if begun:
        evaluate(path, [JsonValidity()], out=out)
        (out / "summary.json").unlink()
        rows = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
        (out / "results.jsonl").write_bytes(b"".join(rows[:500]))
    for each in (*out.iterdir(), out):
        each.chmod(0o500)
    code = READ_ONLY.format(data=str(path), out=str(out))
    command = [*(AS_ANYBODY if os.geteuid() == 0 else []), sys.executable, "-B", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"cannot write to {out}: Permission denied; what is written")
    for each in (out, *out.iterdir()):
        each.chmod(0o700)
    run = evaluate(path, [JsonValidity()], out=out, resume=True)
    assert (run.summary, [*run.rows]) == (whole.summary, [*whole.rows])


def test_a_run_that_was_written_is_read_again(path, tmp_path):
    run = evaluate(path, EVALUATORS, out=tmp_path / "run")
    again = read_run(tmp_path / "run")
    assert (again.summary, again.findings, list(again.rows)) == (
        run.summary,
        run.findings,
        list(run.rows),
    )
    manifest = read_manifest(tmp_path / "run")
    assert manifest["data"]["path"] == str(path)
    assert manifest["evaluators"]["json_match"]["options"]["strict_order"] is True
    (tmp_path / "run" / "summary.json").unlink()
    under_way = read_run(tmp_path / "run")
    assert under_way.summary["samples"] == 1_000
    assert under_way.summary["evaluators"]["json_match"] == run.summary["evaluators"]["json_match"]
    with pytest.raises(InputError, match=r"holds no run"):
        read_run(tmp_path)


def test_the_samples_that_did_not_pass_are_kept(path, tmp_path):
    run = evaluate(path, EVALUATORS, out=tmp_path / "run")
    failing = {row.id for row in run.rows if not row.passed}
    kept = list(read_samples(tmp_path / "run"))
    assert [sample["id"] for sample in kept] == [
        row["id"] for row in data() if row["id"] in failing
    ]
    assert kept[0].keys() == {"row", "id", "output", "reference"}


def test_options_of_any_kind_are_told_in_the_manifest(tmp_path):
    evaluators = [
        JsonMatch(),
        LengthPenalty(1, 2),
        JsonFields(fields={"/a": {"compare": str.__eq__}}),
    ]
    evaluate([{"output": "1", "reference": 1}], evaluators, out=tmp_path / "run")
    told = read_manifest(tmp_path / "run")["evaluators"]
    assert told["length_penalty"]["options"]["max_length"] == 2
    assert told["json_fields"]["options"]["fields"]["/a"]["compare"]
    evaluate([{"output": "1", "reference": 1}], evaluators, out=tmp_path / "run", resume=True)


@dataclass(frozen=True)
class Moody(Evaluator):
    """Raises, or cannot tell, as long as it is told to."""

    mood = ["bad"]

    def check(self, sample):
        if self.mood == ["bad"] and sample.id.endswith("3"):
            raise ValueError("not now")
        if self.mood == ["bad"] and sample.id.endswith("7"):
            return Result.unscored("cannot tell")
        return Result(1.0, True, None, sample.id)


def test_rows_without_a_score_are_done_again_and_the_others_stay(path, tmp_path):
    evaluators = [JsonValidity(), Moody()]
    Moody.mood[0] = "good"
    evaluate(path, evaluators, out=tmp_path / "good")
    Moody.mood[0] = "bad"
    run = evaluate(path, evaluators, out=tmp_path / "run")
    figures = run.summary["evaluators"]["moody"]
    assert (figures["errors"], figures["unscored"]) == (100, 100)
    again = {"out": tmp_path / "run", "resume": True}
    before = files(tmp_path / "run")
    evaluate(path, evaluators, **again, retry_errors=True)
    assert files(tmp_path / "run") == before  # nothing is better yet
    Moody.mood[0] = "good"
    evaluate(path, evaluators, **again)
    assert files(tmp_path / "run") == before
    evaluate(path, evaluators, **again, retry_errors=True)
    assert files(tmp_path / "run") == files(tmp_path / "good")
    with pytest.raises(InputError, match="say resume=True"):
        evaluate(path, evaluators, out=tmp_path / "x", retry_errors=True)


def test_a_run_that_broke_off_is_gone_on_with_and_its_errors_done_again(path, tmp_path):
    evaluators = [JsonValidity(), Moody()]
    Moody.mood[0] = "good"
    evaluate(path, evaluators, out=tmp_path / "good")
    Moody.mood[0] = "bad"
    evaluate(path, evaluators, out=tmp_path / "run")
    results = tmp_path / "run" / "results.jsonl"
    results.write_bytes(results.read_bytes()[:50_001])
    Moody.mood[0] = "good"
    evaluate(path, evaluators, out=tmp_path / "run", resume=True, retry_errors=True)
    assert files(tmp_path / "run") == files(tmp_path / "good")


JUDGED = """
import sys
sys.path[:0] = {paths!r}
from remote_model import Remote, Repeats
from llmeval_integrations import JsonValidity, evaluate

def says(text):
    with open({log!r}, "a") as log:
        log.write(text.rpartition(" ")[2] + "\\n")
    if text.endswith("7"):
        raise ValueError("no reply about " + text)
    return text.upper()

rows = [{{"id": number, "output": f"text {{number}}"}} for number in range(150)]
evaluate(rows, [JsonValidity(), Repeats(Remote(says, seconds=0.01))], out={out!r}, resume=True, concurrency=4)
"""


@pytest.mark.nightly
@pytest.mark.once
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_what_a_judge_has_answered_is_not_asked_again_after_a_kill(tmp_path):
    paths = [str(Path(__file__).parents[1])]
    killed, whole = (
        JUDGED.format(paths=paths, log=str(tmp_path / f"{name}.log"), out=str(tmp_path / name))
        for name in ("killed", "whole")
    )
    subprocess.run([sys.executable, "-c", whole], check=True)
    choose = random.Random(3)
    kills = 0
    for _ in range(20):
        process = subprocess.Popen([sys.executable, "-c", killed])
        try:
            assert process.wait(timeout=0.4 + choose.random() * 0.3) == 0
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    else:
        subprocess.run([sys.executable, "-c", killed], check=True)
    assert kills
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    asked = (tmp_path / "killed.log").read_text().split()
    assert len(asked) <= len((tmp_path / "whole.log").read_text().split()) + 5 * kills
    assert sorted(path.name for path in (tmp_path / "whole").iterdir()) == [
        ".lock", "manifest.json", "results.jsonl", "samples.jsonl", "summary.json",
    ]  # fmt: skip
