"""A Ray cluster of two machines: the rows of one machine, also where one of the two is lost."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.data")

import pyarrow as pa
import ray
from ray.cluster_utils import Cluster
from slow_evaluators import Leaves, Slow, write_odd_data

from llmeval_integrations import InputError, JsonValidity, evaluate, evaluate_batch
from llmeval_integrations.frameworks.ray import RayEngine

pytestmark = pytest.mark.nightly  # a cluster takes its time to start


@dataclass(frozen=True)
class Locked(JsonValidity):
    lock: Any = field(default_factory=threading.Lock)


MACHINE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@pytest.fixture(scope="module")
def cluster():
    """Begin a cluster of one machine with one processor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # for evaluators of the tests
        names = ("initial_delay_ms", "period_ms", "failure_threshold")
        checks = {f"health_check_{name}": n for name, n in zip(names, (0, 500, 2))}
        head = {"_system_config": checks, "include_dashboard": False, **MACHINE}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="warning")
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield cluster
        ray.shutdown()
        cluster.shutdown()


def same_files(*folders):
    names = ("results.jsonl", "samples.jsonl", "summary.json")
    one, other = ([(folder / name).read_bytes() for name in names] for folder in folders)
    return one == other


def test_a_run_that_ray_gives_up_can_be_resumed(cluster, tmp_path, monkeypatch):
    data = write_odd_data(tmp_path / "data.jsonl")
    lines = data.read_text().splitlines()
    lines[1_100] = '{"id": "é", "output": "end"}'
    data.write_text("\n".join(lines))
    monkeypatch.setattr("llmeval_integrations.frameworks.ray._TRIES", 1)
    with pytest.raises(InputError, match=r"Ray gave up \(.*can be resumed"):
        evaluate(data, [Leaves()], out=tmp_path / "out", engine=RayEngine)
    monkeypatch.setenv("SPARED", "all")
    run = evaluate(data, [Leaves()], out=tmp_path / "out", resume=True)
    ids = [row.id for row in run.rows]
    assert len(ids) == len(set(ids)) == 1_201
    with pytest.raises(InputError, match="the evaluators cannot be sent to Ray: cannot pickle"):
        evaluate(data, [Locked()], engine=RayEngine)


def test_a_command_and_a_dataset_have_the_rows_of_one_machine(cluster, tmp_path):
    data = write_odd_data(tmp_path / "data.jsonl")
    evaluate(data, [JsonValidity()], out=tmp_path / "here")
    command = [sys.executable, "-m", "llmeval_integrations", "run", str(data), "--quiet"]
    command += ["-e", "json_validity", "--out", str(tmp_path / "there"), "--engine", "ray"]
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    subprocess.run(command, env=environment, check=True)
    assert same_files(tmp_path / "here", tmp_path / "there")

    rows = [{"id": f"n{n}", "output": "x" * (n % 5), "reference": "{}"} for n in range(1_000)]
    evaluators = {"slow": Slow(0.0), "valid": JsonValidity()}
    data = ray.data.from_items(rows, override_num_blocks=20)
    options = {"batch_format": "pyarrow", "batch_size": 50}
    there = data.map_batches(evaluate_batch, fn_args=(evaluators,), **options).take_all()
    here = evaluate_batch(pa.Table.from_pylist(rows), evaluators).to_pylist()
    assert sorted(map(str, there)) == sorted(map(str, here))


def test_a_run_has_the_rows_of_one_machine_though_another_is_lost(cluster, tmp_path):
    data = write_odd_data(tmp_path / "data.jsonl")
    second = cluster.add_node(**MACHINE)
    cluster.wait_for_nodes()

    @ray.remote(label_selector={"ray.io/node-id": second.node_id})
    def begin():
        return JsonValidity()

    def lose(samples, _):
        if samples > 300 and second in cluster.list_all_nodes():
            cluster.remove_node(second, allow_graceful=False)

    ray.get(begin.remote())  # so that it has a process when the run begins
    evaluators, options = [Slow(0.002), JsonValidity(), Leaves()], {"engine": RayEngine}
    run = evaluate(data, evaluators, out=tmp_path / "there", on_progress=lose, **options)
    pids = {row.label for row in run.rows if row.evaluator == "leaves" and row.label}
    assert not all(Path(f"/proc/{pid}").exists() for pid in pids)  # the lost one had a part in it
    here = evaluate(data, evaluators[:2])
    assert [row for row in run.rows if row.evaluator != "leaves"] == here.rows
    figures = run.summary["evaluators"]
    del figures["leaves"]
    assert figures == here.summary["evaluators"]
