"""Ctrl-C during `llmeval run` with a judge: it ends at once, and what was paid is kept."""

import json
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("openai")

from pace import at_most
from server import ModelServer, chat

VERDICT = json.dumps({"reasoning": "It is.", "verdict": "Pass", "confidence": "High"})
ROWS = 60
ANSWERED = 40


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to one process")
def test_ctrl_c_ends_a_run_at_once_and_the_next_pays_only_for_the_rest(tmp_path):
    rows = "\n".join(json.dumps({"output": f"text {number}"}) for number in range(ROWS))
    (tmp_path / "data.jsonl").write_text(rows)
    with ModelServer() as server:
        client = {"platform": "openai", "name": "m", "base_url": f"{server.url}/v1", "api_key": "k"}
        judge = f"pass_fail:client={json.dumps(client)},question=Is it so?"
        command = [sys.executable, "-m", "llmeval_integrations", "run", "data.jsonl", "-e", judge]
        command += ["--json", "--cache", "replies.sqlite", "--concurrency", "4"]
        options = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

        server.plays(*[chat(VERDICT)] * ANSWERED, chat(VERDICT, delay=60))
        run = subprocess.Popen(command, **options)
        while len(server.requests) < ANSWERED + 4:  # these four get no answer
            time.sleep(0.02)
        with at_most(5, time.perf_counter):
            run.send_signal(signal.SIGINT)
            output, errors = run.communicate(timeout=30)
        assert (run.returncode, b"Traceback" in errors) == (130, False), errors
        summary = json.loads(output)
        # The last answers may have come when their rows were not yet written.
        assert 0 < summary["samples"] <= ANSWERED
        assert summary["interrupted"] is True
        assert summary["evaluators"]["pass_fail"]["scored"] == summary["samples"]
        assert b"no row is kept; with --out DIR" in errors

        server.plays(chat(VERDICT))
        done = subprocess.run(command, **options, timeout=60, check=True)
        assert json.loads(done.stdout)["judging"]["cached"] == ANSWERED
        assert len(server.requests) == ROWS - ANSWERED
