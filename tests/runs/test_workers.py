"""Several processes: the same files, byte for byte, and nothing lost where one of them dies."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pace import TooSlowError
from slow_evaluators import Leaves, Slow, write_odd_data

from llmeval_integrations import JsonFields, JsonValidity, evaluate
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.runs import workers

FILES = ("results.jsonl", "samples.jsonl", "summary.json")


@pytest.fixture
def data(tmp_path):
    return write_odd_data(tmp_path / "data.jsonl")


def pids(run):
    return {row.label for row in run.rows}


@pytest.mark.once
def test_the_files_are_the_same_as_those_of_one_process(data, tmp_path):
    evaluators = [Slow(), JsonValidity(), JsonFields()]
    taken = {}
    for count in (1, 2):
        began = time.perf_counter()
        evaluate(data, evaluators, out=tmp_path / str(count), workers=count)
        taken[count] = time.perf_counter() - began
    for name in FILES:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    if taken[2] >= taken[1]:
        raise TooSlowError(str(taken))


def test_a_run_in_memory_is_shared_out_as_well(data):
    run = evaluate(data, [Leaves()], workers=3)
    assert [row.id for row in run.rows][:2] == ["é0", "é1"]
    assert len(run.rows) == 1_201
    assert len(pids(run) - {None}) == 4  # this one is the first
    assert str(os.getpid()) in pids(run)


def test_a_file_in_the_current_folder_stands_in_for_no_module(data, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit('not the real one')")
    monkeypatch.chdir(tmp_path)
    assert len(pids(evaluate(data, [Leaves()], workers=2)) - {None}) == 3


def test_small_data_stay_in_this_process(tmp_path, monkeypatch):
    path = tmp_path / "small.jsonl"
    path.write_text('{"output": "{}"}\n' * 5_000)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", None)  # which would raise
    assert len(evaluate(path, [JsonValidity()], workers=8).rows) == 5_000


def test_what_cannot_be_handed_over_stays_in_this_process(data):
    class Local(Leaves):
        """Is of no module's."""

    run = evaluate(data, {"local": Local()}, workers=2)
    assert len(run.rows) == 1_201
    assert len(pids(run) - {None}) == 1


def test_a_process_that_ends_loses_nothing(data, tmp_path, monkeypatch):
    lines = data.read_text().splitlines()
    for place in range(800, 1_200, 20):  # some of them in parts of the other process
        lines[place] = f'{{"id": "end {place}", "output": "end"}}'
    data.write_text("\n".join(lines))
    monkeypatch.setenv("SPARED", str(os.getpid()))
    with pytest.raises(InputError, match=r"has ended; .* can be resumed"):
        evaluate(data, [Leaves()], out=tmp_path / "out", workers=2)
    monkeypatch.setenv("SPARED", "all")
    run = evaluate(data, [Leaves()], out=tmp_path / "out", workers=2, resume=True)
    ids = [row.id for row in run.rows]
    assert len(ids) == 1_201
    assert sorted(set(map(str, ids))) == sorted(map(str, ids))


@pytest.mark.once
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_run_that_is_killed_leaves_no_process_and_is_resumed(data, tmp_path):
    call = f"from llmeval_integrations import evaluate; from slow_evaluators import Slow; evaluate({str(data)!r}, [Slow(0.01)], out={str(tmp_path / 'out')!r}, workers=3, resume=True)"  # fmt: skip
    run = subprocess.Popen([sys.executable, "-c", call], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(processes_of(run)) < 4:
        time.sleep(0.05)
    time.sleep(1)
    started = processes_of(run)
    run.kill()
    run.wait()
    assert len(started) == 4  # three that evaluate, and multiprocessing's own
    while any(map(is_alive, started)):
        assert time.monotonic() < deadline + 120
        time.sleep(0.05)
    rows = evaluate(data, [Slow(0.01)], out=tmp_path / "out", workers=2, resume=True).rows
    whole = evaluate(data, [Slow(0.0)], out=tmp_path / "whole").rows
    assert [(row.id, row.score, row.error) for row in rows] == [(row.id, row.score, row.error) for row in whole]  # fmt: skip


def processes_of(run):
    # a process that a thread has started is a child of that thread
    tasks = Path(f"/proc/{run.pid}/task").iterdir()
    try:
        return [pid for task in tasks for pid in (task / "children").read_text().split()]
    except FileNotFoundError:
        return []


def is_alive(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_number_of_processes_is_a_whole_one(data, count):
    with pytest.raises(InvalidOptionError, match="workers="):
        evaluate(data, [JsonValidity()], workers=count)


SHARED_OUT = """
import json, sys
from slow_evaluators import Leaves
from llmeval_integrations import evaluate
from llmeval_integrations.runs import workers

class AtOnce(workers.Workers):
    def ready(self, source):
        self._first = self._first or self._start()
        return self._first.result() is None

run = evaluate(sys.argv[1], [Leaves()], format="jsonl", engine=lambda job, *_: AtOnce(2, job))
print(json.dumps([[row.id, row.label] for row in run.rows]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere /dev/fd leads to no other path")
@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/{}"])
def test_a_file_that_this_process_alone_has_open_is_read_by_the_others(tmp_path, path):
    data = tmp_path / "data.jsonl"
    output = "x" * 100
    data.write_text("".join(f'{{"id": "n{n}", "output": "{output}"}}\n' for n in range(150)))
    with data.open("rb") as file:
        done = called(SHARED_OUT, path.format(file.fileno()), stdin=file, pass_fds=[file.fileno()])
    rows = json.loads(done.stdout)
    assert [each for each, _ in rows] == [f"n{n}" for n in range(150)]
    assert len({pid for _, pid in rows}) > 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere /dev/fd leads to no other path")
def test_a_pipe_with_a_path_is_read_by_one_process(tmp_path):
    command = (
        "from llmeval_integrations.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["run", "/dev/stdin", "-e", "json_validity", "--format", "jsonl", "--workers", "2", "--quiet", "--out", str(tmp_path / "out")]  # fmt: skip
    called(command, *arguments, input=b'{"output": "{}"}\n' * 20)
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 20


def called(code, *arguments, **options):
    """Run code in a process, and wait for it no longer than a minute."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60, env=environment, **options)  # fmt: skip
