"""A run that is killed, interrupted or refused ends, once it is resumed, with the same files."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from remote_model import Remote, Repeats
from slow_evaluators import Leaves, write_odd_data

from llmeval_integrations import Evaluator, InputError, JsonMatch, JsonValidity, Result, evaluate
from llmeval_integrations.runs import Interrupted, read_run
from llmeval_integrations.runs.load import find_manifest, read_samples, read_texts, sample_of
from llmeval_integrations.runs.workers import Workers

EVALUATORS = ["json_validity", "json_match", "json_fields"]
ROWS = [
    {"id": f"row {number}", "output": json.dumps([number % 3, 1]), "reference": [1, number % 3]}
    for number in range(1_000)
]
TESTS = Path(__file__).parents[1]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def path(tmp_path):
    return write_lines(tmp_path / "data.jsonl", ROWS)


def files(folder):
    names = ("results.jsonl", "samples.jsonl", "summary.json")
    return {name: (folder / name).read_bytes() for name in names}


@dataclass(frozen=True)
class Moody(Evaluator):
    """Fails the same rows always, and raises about others as long as it is told to."""

    bad = [True]

    def check(self, sample):
        if self.bad[0] and sample.id.endswith("3"):
            raise ValueError("not now")
        return Result(1.0, not sample.id.endswith("7"))


# --- where a kill may come ------------------------------------------------------------------------


RUN = """
from llmeval_integrations import JsonMatch, JsonValidity, Result, evaluate
from remote_model import Remote, Repeats
from slow_evaluators import Slow

class Asks(Repeats):
    async def judge(self, sample, ask):
        return Result(1.0, True, (await ask(str(sample.id))).text)

class Paid(Remote):
    async def complete(self, request):
        with open({paid!r}, "a") as file:
            file.write("call" + chr(10))
        return await super().complete(request)

def on_ray():
    from llmeval_integrations.frameworks.ray import RayEngine
    return RayEngine

if __name__ == "__main__":
    evaluators = [JsonValidity(), JsonMatch(), {third}]
    evaluate("data.jsonl", evaluators, out={out!r}, resume=True, **dict({options}))
"""


def without_accounts(folder):
    """Give a run's rows and samples but for what judges took, which a kept reply changes."""
    rows = [*read_run(folder).rows]
    for row in rows:
        row.metadata.pop("judge", None)
    return rows, files(folder)["samples.jsonl"]


ON_RAY = [pytest.mark.nightly, pytest.mark.skipif(not find_spec("ray"), reason="needs Ray")]
ASKS = "Asks(Paid(seconds=0.01))"


@pytest.mark.once
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize(
    ("third", "options", "content"),
    [
        ("Slow(0.0005)", "", files),
        (ASKS, "", without_accounts),
        ("Slow(0.0005)", "workers=2", files),
        pytest.param("Slow(0.0005)", "engine=on_ray()", files, marks=ON_RAY),
        pytest.param(ASKS, "engine=on_ray()", without_accounts, marks=ON_RAY),
    ],
)
def test_a_killed_run_ends_with_the_files_of_one_process(tmp_path, third, options, content):
    write_odd_data(tmp_path / "data.jsonl")
    paid, results = tmp_path / "paid", tmp_path / "killed" / "results.jsonl"

    def start(out, options):
        script = RUN.format(third=third, options=options, out=out, paid=str(paid))
        (tmp_path / "run.py").write_text(script)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
        command = [sys.executable, "run.py"]
        return subprocess.Popen(command, stdout=-3, env=environment, cwd=tmp_path)

    assert start("whole", "").wait(120) == 0
    paid.unlink(missing_ok=True)
    for rows in (0, 400):  # at once, and midway
        process = start("killed", options)
        while process.poll() is None:
            if results.exists() and results.read_bytes().count(b"\n") >= 3 * rows:
                process.kill()
            time.sleep(0.002)
        assert process.returncode == -signal.SIGKILL
        assert not (tmp_path / "killed" / "summary.json").exists()
    assert start("killed", options).wait(120) == 0
    assert content(tmp_path / "killed") == content(tmp_path / "whole")
    if paid.exists():
        assert 1_200 <= paid.read_text().count("call") <= 1_201 + 4 * 32  # replies under way


@pytest.mark.parametrize("cut", [0, 100, 200_001])
def test_a_run_is_read_without_its_summary_and_done_wherever_its_rows_end(path, tmp_path, cut):
    run = evaluate(path, EVALUATORS, out=tmp_path)
    whole = files(tmp_path)
    (tmp_path / "summary.json").unlink()
    again = read_run(tmp_path)
    assert again.summary.pop("incomplete") == "it was killed or is under way"
    assert (again.summary, again.findings) == (run.summary, run.findings)  # with those of fields
    (tmp_path / "results.jsonl").write_bytes(whole["results.jsonl"][:cut])
    moved = path.rename(tmp_path / "moved.jsonl")
    assert evaluate(moved, EVALUATORS, out=tmp_path, resume=True).summary == run.summary
    assert files(tmp_path) == whole


CHANGES = {"open", "os.remove", "os.rename"}
KILLED = 9


def killed_everywhere(begun, folder, call):
    """Have the call killed before each of its changes to a copy of a run."""
    for change in count(1):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(begun, folder)
        child = os.fork()
        if child == 0:
            numbers = count(1)

            def hook(event, arguments, change=change, numbers=numbers):
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
        if code == 0:
            assert change > 6
            return
        yield change


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process to be forked")


@pytest.mark.once
@forks
def test_the_rows_of_a_run_that_is_overwritten_are_never_taken_over(tmp_path):
    rows, run, old, new = ROWS[:20], tmp_path / "run", tmp_path / "old", tmp_path / "new"
    loose = JsonMatch(strict_order=False)
    evaluate(rows, "json_match", out=old)
    evaluate(rows, loose, out=new)
    for _ in killed_everywhere(old, run, lambda: evaluate(rows, loose, out=run, overwrite=True)):
        strict = find_manifest(run)["evaluators"]["json_match"]["options"]["strict_order"]
        if strict and (run / "results.jsonl").exists():
            with pytest.raises(InputError, match="strict_order is False, and was True"):
                evaluate(rows, loose, out=run, resume=True)
        else:
            evaluate(rows, loose, out=run, resume=True)
            assert files(run) == files(new)


@pytest.mark.once
@forks
def test_rows_that_are_done_again_take_their_place(path, tmp_path):
    write_lines(path, ROWS[:20])
    evaluators, run = [JsonValidity(), Moody()], tmp_path / "run"
    found = {}
    for bad in (True, False):
        Moody.bad[0] = bad
        evaluate(path, evaluators, out=tmp_path / str(bad))
        found[bad] = files(tmp_path / str(bad))
    good = {**found[False], "samples.jsonl": found[True]["samples.jsonl"]}
    ends, again = [], {"out": run, "resume": True, "retry_errors": True}
    redo = killed_everywhere(tmp_path / "True", run, lambda: evaluate(path, evaluators, **again))
    for _ in redo:
        evaluate(path, evaluators, out=run, resume=True)
        ends.append(files(run))
        assert ends[-1] in (found[True], good)
        evaluate(path, evaluators, **again)
        assert files(run) == good
        assert not list(run.glob("*.new"))
    assert [ends[0], ends[-1]] == [found[True], good]


# --- interrupts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("out", [None, "run"])
def test_an_interrupt_carries_the_run_that_was_done(tmp_path, out):
    def broken_off():
        for number in range(1_000):
            yield {"output": "1", "reference": str(number % 2)}
        raise KeyboardInterrupt

    out = out and tmp_path / out
    with pytest.raises(Interrupted, match="interrupted after") as caught:
        evaluate(broken_off(), EVALUATORS, out=out)
    run = caught.value.run
    assert len(list(run.rows)) == run.summary["samples"] * len(EVALUATORS)
    assert run.incomplete == "it was interrupted"
    assert run.summary["evaluators"]["json_match"]["pass_rate"] == 0.5
    if out:
        assert read_run(out).summary == run.summary


def test_an_interrupt_while_rows_are_counted_waits_for_the_last_of_them(tmp_path):
    class Interrupts(JsonValidity):
        def breakdown(self):
            return SimpleNamespace(add=lambda *_: signal.raise_signal(signal.SIGINT), summary=dict)

    with pytest.raises(Interrupted) as caught:
        evaluate(ROWS, [JsonValidity(), Interrupts(), JsonMatch()], out=tmp_path)
    run = read_run(tmp_path)
    assert run.summary == caught.value.run.summary
    assert {each["n"] for each in run.summary["evaluators"].values()} == {8}
    assert len(list(run.rows)) == 3 * 8


# --- processes ------------------------------------------------------------------------------------


@pytest.mark.once
def test_a_process_that_ends_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "data.jsonl"
    outputs = ["1"] * 900 + ["end"] + ["1"] * 300
    path.write_text("".join(json.dumps({"output": each}) + "\n" for each in outputs))
    ended = pytest.raises(InputError, match=r"a process .* has ended; rows that are written stay")
    with ended:
        evaluate(path, [Leaves()], out=tmp_path / "run", workers=2)
    pools = []

    def pool_of_one(job):
        pools.append(Workers(1, job))
        return pools[0]

    with ended:  # while it waits
        evaluate([{"output": "end"}], Leaves(), engine=pool_of_one)
    with ended:  # before it begins
        pools[0].start([(1, {"output": "1"})])
    monkeypatch.setenv("SPARED", "all")
    run = evaluate(path, [Leaves()], out=tmp_path / "run", workers=2, resume=True)
    assert [row.id for row in run.rows] == [*range(1, 1_202)]


@pytest.mark.once
def test_what_cannot_be_handed_over_stays_here():
    class Local(Evaluator):
        def check(self, sample):
            return Result(float(os.getpid()))

    rows = [{"output": str(n)} for n in range(1_100)]
    assert {row.score for row in evaluate(rows, Local(), workers=2).rows} == {float(os.getpid())}
    rows[600]["input"] = lambda: "no other process can read this"
    one, two = (evaluate(rows, "json_validity", workers=count) for count in (1, 2))
    assert one.rows == two.rows
    script = """if True:  # as in a notebook, no other process can import this
        from llmeval_integrations import Evaluator, Result, evaluate
        class Own(Evaluator):
            def check(self, sample):
                return Result(1.0)
        print(evaluate([{"output": "x"}] * 1_100, Own(), workers=2).summary["samples"])
    """
    own = subprocess.run([sys.executable, "-c", script], stdout=-1, check=True)
    assert own.stdout.split() == [b"1100"]


# --- what ends a run with an error ----------------------------------------------------------------


def test_of_an_iterator_the_samples_are_compared_and_a_damaged_file_is_named(tmp_path):
    evaluate(iter(ROWS), EVALUATORS, out=tmp_path)
    changed = [*ROWS[:7], {**ROWS[7], "output": "1"}, *ROWS[8:]]
    for rows, row in ((ROWS[1:], "row 0"), (ROWS[:9], "row 9"), (changed, "row 7")):
        with pytest.raises(InputError, match=f"its sample '{row}' is another one in the data"):
            evaluate(iter(rows), EVALUATORS, out=tmp_path, resume=True)
    (tmp_path / "results.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="line 1 is not a row"):
        read_run(tmp_path)


def test_a_second_process_in_the_directory_is_told(tmp_path):
    class Second(Evaluator):
        def check(self, sample):
            with pytest.raises(InputError, match="another process is at work in"):
                evaluate(ROWS, EVALUATORS, out=tmp_path, overwrite=True)
            return Result(1.0)

    assert evaluate(ROWS[:1], Second(), out=tmp_path).summary["evaluators"]["second"]["mean"] == 1


@contextmanager
def full_disk(size):
    """Let no file grow beyond this size."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_ends_with_a_clear_error_and_a_run_to_resume(path, tmp_path):
    with full_disk(100_000), pytest.raises(InputError, match=os.strerror(errno.EFBIG)):
        evaluate(path, EVALUATORS, out=tmp_path / "run")
    evaluate(path, EVALUATORS, out=tmp_path / "run", resume=True)
    evaluate(path, EVALUATORS, out=tmp_path / "whole")
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_a_full_disk_loses_no_reply_that_was_paid(tmp_path):
    client, cache = Remote(lambda text: "x" * 3_000, seconds=0), tmp_path / "replies.sqlite"
    rows = [{"output": str(n)} for n in range(40)]
    with full_disk(40_000):
        run = evaluate(rows, Repeats(client), cache=cache, concurrency=1)
    assert 0 < len(client.asked) == sum(row.error is None for row in run.rows) < 40


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed there")
@pytest.mark.parametrize("name", ["results.jsonl", "summary.new"])
def test_a_link_in_the_place_of_a_file_is_not_followed(path, tmp_path, name):
    target = tmp_path / "target"
    target.write_text("precious")
    run = tmp_path / "run"
    evaluate(path, EVALUATORS, out=run)
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(target)
    with pytest.raises(InputError, match=r"cannot write to .*symbolic links"):
        evaluate(path, EVALUATORS, out=run, resume=True)
    assert target.read_text() == "precious"


# --- what is read again ---------------------------------------------------------------------------


def test_the_samples_that_did_not_pass_are_kept_with_what_each_evaluator_saw(path, tmp_path):
    columns = {"json_match.reference": "output"}
    run = evaluate(path, EVALUATORS[1:], out=tmp_path / "run", columns=columns)
    kept = list(read_samples(tmp_path / "run"))
    assert [each["row"] for each in kept] == [n for n in range(1_000) if n % 3 != 1]
    assert kept[0]["reference"] == sample_of(kept[0], "json_match")["reference"]
    assert sample_of(kept[0], "json_fields")["reference"] == [1, 0]
    texts = dict(read_texts(run, "json_fields"))
    assert texts[1] == ROWS[1]  # which passed, and is read from the file
    path.write_text("another")
    assert 1 not in dict(read_texts(run, "json_fields"))


@pytest.mark.parametrize("again", [list, iter])
def test_of_data_in_memory_all_samples_are_kept(tmp_path, again):
    evaluate(again(ROWS), EVALUATORS, out=tmp_path)
    before = files(tmp_path)
    run = evaluate(again(ROWS), EVALUATORS, out=tmp_path, resume=True)
    assert files(tmp_path) == before
    assert [*read_texts(run, "json_match")] == [(n, {"row": n, **ROWS[n]}) for n in range(1_000)]


def test_options_of_any_kind_stand_in_the_manifest(tmp_path):
    model = pytest.importorskip("pydantic").create_model("Model", total=int)

    @dataclass(frozen=True)
    class Odd(Moody):
        options: object = (JsonMatch, max, frozenset("ba"), JsonMatch(), object(), model)

    first, again = object(), object()  # whose addresses differ
    evaluate([{"output": "x", "input": first}], [Odd()], out=tmp_path)
    described = find_manifest(tmp_path)["evaluators"]["odd"]["options"]["options"]
    kind, function, names, inner, thing, schema = described
    assert (function, names, thing) == ("builtins.max", ["a", "b"], "<object object>")
    assert kind == "llmeval_integrations.evaluators.json_match.JsonMatch"
    assert inner["options"]["strict_order"] is True
    assert '"total"' in schema["schema"]
    evaluate([{"output": "x", "input": again}], [Odd()], out=tmp_path, resume=True)

    class Plain(Evaluator):  # no dataclass, so its attributes may be secret
        check = Moody.check

    first, other = Plain(), Plain()
    first.key, other.key = "secret", "another"
    run = evaluate(ROWS[:3], first, out=tmp_path / "plain")
    assert "secret" not in (run.out / "manifest.json").read_text()
    evaluate(ROWS[:3], first, out=run.out, resume=True)
    with pytest.raises(InputError, match=r"plain\.attributes is"):
        evaluate(ROWS[:3], other, out=run.out, resume=True)
