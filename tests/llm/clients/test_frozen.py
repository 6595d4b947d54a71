"""A frozen run gives what the cache holds, without a network, a key or a server."""

import json
import os
import subprocess
import sys

import pytest
from server import ModelServer
from vendors import VENDORS, VERDICT

from llmeval_integrations import evaluate, load_evaluator

# Whatever would reach out of the process fails, and is told.
FROZEN = """
import json, sys
told = []
def blocked(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"):
        told.append(event)
        raise OSError("there is no network")
sys.addaudithook(blocked)
from llmeval_integrations import evaluate, load_evaluator
client, cache = json.loads(sys.argv[1]), sys.argv[2]
judge = load_evaluator("pass_fail", model=client, question="Is it right?")
run = evaluate([{"output": "a"}, {"output": "b"}], [judge], cache=cache, frozen=True)
print([row.label for row in run.rows], told, run.summary["judging"]["input_tokens"])
"""


@pytest.mark.parametrize("vendor", VENDORS[:4], ids=lambda vendor: vendor.name)
def test_a_frozen_run_reaches_for_no_network(vendor, tmp_path):
    pytest.importorskip(vendor.package)
    cache = str(tmp_path / "replies.sqlite")
    with ModelServer() as server:
        server.plays(vendor.said(VERDICT))
        client = {"name": vendor.model, "base_url": server.url + vendor.root}
        model = {**client, "api_key": "sk-1"}
        judge = load_evaluator("pass_fail", model=model, question="Is it right?")
        evaluate([{"output": "a"}], [judge], cache=cache)
    bare = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}
    done = subprocess.run(
        [sys.executable, "-c", FROZEN, json.dumps(client), cache],
        capture_output=True, text=True, check=False, env=bare,
    )  # fmt: skip
    assert done.stdout == "['Pass', 'not_cached'] [] 0\n", done.stderr
