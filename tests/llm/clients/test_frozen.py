"""A frozen run gives what the cache holds, without a network, a key or a server."""

import json
import os
import subprocess
import sys

import pytest
from server import ModelServer
from vendors import SDKS as VENDORS

from llmeval_integrations import evaluate, load_evaluator

VERDICT = json.dumps({"reasoning": "It is.", "verdict": "Pass", "confidence": "High"})

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

CLIENTS = [
    *((each.package, each.model.partition(":"), each.root, each.said) for each in VENDORS),
    ("litellm", ("litellm", ":", "openai/gpt-4o"), "/v1", VENDORS[0].said),
]


@pytest.mark.parametrize(
    ("package", "model", "root", "said"), CLIENTS, ids=[case[0] for case in CLIENTS]
)
def test_a_frozen_run_reaches_for_no_network(package, model, root, said, tmp_path):
    for needed in ("pydantic", package):
        pytest.importorskip(needed)
    cache = str(tmp_path / "replies.sqlite")
    with ModelServer() as server:
        server.plays(said(VERDICT))
        client = {"platform": model[0], "name": model[2], "base_url": server.url + root}
        judge = load_evaluator(
            "pass_fail", model={**client, "api_key": "sk-1"}, question="Is it right?"
        )
        evaluate([{"output": "a"}], [judge], cache=cache)
    bare = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}
    done = subprocess.run(
        [sys.executable, "-c", FROZEN, json.dumps(client), cache],
        capture_output=True, text=True, check=False, env=bare,
    )  # fmt: skip
    assert done.stdout == "['Pass', 'not_cached'] [] 0\n", done.stderr
