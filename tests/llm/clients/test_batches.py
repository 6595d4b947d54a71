"""Judges that ask by the batch interfaces of OpenAI and Anthropic, through the real SDKs."""

import os
import re
import signal
import subprocess
import sys

import pytest
from batch_server import AnthropicBatches, OpenAIBatches
from vendors import VERDICT, anthropic_said, openai_said

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.judges import PassFail
from llmeval_integrations.llm import batches
from llmeval_integrations.llm.client import load_client

VENDORS = {"openai": (OpenAIBatches, openai_said), "anthropic": (AnthropicBatches, anthropic_said)}
SAMPLES = [{"output": f"text {number}"} for number in range(12)]


@pytest.fixture(params=VENDORS)
def play(request, server, monkeypatch):
    """Play a vendor's server: `script = play(answers)`."""
    pytest.importorskip(request.param)
    monkeypatch.setattr(batches, "_FIRST_POLL", 0.05)
    monkeypatch.setattr(batches, "_QUIET", 0.2)
    kind, said = VENDORS[request.param]

    def start(answers=lambda _: VERDICT, **more):
        script = kind(answers, said, **more)
        server.plays(script)
        return script

    return start


@pytest.fixture
def run(server, tmp_path):
    """Judge samples by batches: `run(script)`."""

    def start(script, samples=SAMPLES, price=None, **options):
        address = {"base_url": server.url + script.root, "api_key": "sk-0123456789"}
        client = load_client(script.model, **address, price=price)
        judge = PassFail(client, "Is it right?", retries=0)
        return evaluate(samples, [judge], out=tmp_path / "run", batch=True, **options)

    return start


def labels(run):
    return [row.label for row in run.rows]


def test_all_but_the_first_question_go_out_as_one_batch_at_half_the_price(play, run):
    script = play()
    done = run(script, price=(100.0, 1000.0), max_cost=0.5)  # at the full price it holds 7
    assert labels(done) == ["Pass"] * 12
    assert (len(script.files), len(script.batched), len(script.direct)) == (1, 11, 1)
    each = (11 * 100 + 7 * 1000) / 1e6
    assert done.summary["judging"]["cost"] == pytest.approx(each + 11 * each / 2)
    sent, single = script.batched[0], script.direct[0]
    assert {*sent} == {*single}
    assert "output_config" in sent or "response_format" in sent


def test_what_a_batch_fails_at_is_asked_again_by_itself(play, run):
    failed = []

    def answers(body):
        found = re.search(r"text ([345])\b", str(body))
        if found and found[1] not in failed:
            failed.append(found[1])
            return None
        return VERDICT

    script = play(answers)
    assert labels(run(script)) == ["Pass"] * 12
    assert (len(script.batched), len(script.direct)) == (11, 4)


KILLED = """
import sys
from llmeval_integrations import evaluate
from llmeval_integrations.judges import PassFail
from llmeval_integrations.llm import batches
from llmeval_integrations.llm.client import load_client
batches._QUIET = batches._FIRST_POLL = 0.2
model, url, out = sys.argv[1:]
client = load_client(model, base_url=url, api_key="sk-0123456789")
judge = PassFail(client, "Is it right?", retries=0)
evaluate([{"output": f"text {n}"} for n in range(12)], [judge], out=out, batch=True)
"""


@pytest.mark.parametrize("when", ["SIGINT", "SIGKILL"])
def test_a_run_that_was_left_continues_its_batch(when, play, run, server, tmp_path):
    script = play(polls=10**9)
    command = [sys.executable, "-c", KILLED, script.model, server.url + script.root]
    process = subprocess.Popen([*command, tmp_path / "run"], stderr=subprocess.PIPE, text=True)

    while "under way" not in process.stderr.readline():
        pass
    os.kill(process.pid, getattr(signal, when))
    process.communicate(timeout=30)
    script.polls = 0
    done = run(script, resume=True)
    assert labels(done) == ["Pass"] * 12
    assert (len(script.files), len(script.direct)) == (1, 1)
    assert done.summary["judging"]["calls"] == 12


def test_rows_without_a_score_go_out_again_as_one_batch(play, run):
    script = play(lambda body: "I cannot say.")
    samples = [{"output": f"text {number}"} for number in range(300)]  # three chunks
    assert run(script, samples).summary["evaluators"]["pass_fail"]["unscored"] == 300
    script.answers = lambda _: VERDICT
    script.files.clear()
    assert labels(run(script, samples, resume=True, retry_errors=True)) == ["Pass"] * 300
    assert (len(script.files), len(script.batched)) == (1, 299)


def test_a_budget_bounds_a_batch(play, run):
    script = play()
    assert labels(run(script, max_tokens=5)).count("budget") == 11
    assert (len(script.batched), len(script.direct)) == (0, 1)


def test_what_has_no_batches_is_said_before_anything_is_asked(tmp_path):
    openai = pytest.importorskip("openai")
    given = {"azure_endpoint": "http://localhost", "api_version": "2025-03-01-preview"}
    azure = openai.AzureOpenAI(**given, api_key="sk-1")
    for client, options, message in (
        (load_client("vllm:m"), {"out": tmp_path / "run"}, r"OpenAIClient\('m'\) has no batches"),
        (load_client(azure, name="m"), {"out": tmp_path / "run"}, "and Azure's deployments for"),
        (load_client("openai:m", api_key="sk-1"), {}, "a batch takes up to a day, .* with out="),
    ):
        judge = PassFail(client, "Is it?")
        with pytest.raises(InvalidOptionError, match=message):
            evaluate(SAMPLES, [judge], batch=True, **options)
