"""Evaluators, results and helpers that the tests of frameworks share."""

import asyncio
import inspect
import os
import random
import re
import subprocess
import sys
import textwrap

from scripted import Scripted, judgement

from llmeval_integrations import Evaluator, Result, load_evaluator


class Fixed(Evaluator):
    """Says what a test wants, and what it was given."""

    def __init__(self, result, name="fixed"):
        self.result = result
        self.name = name
        self.samples = []

    def check(self, sample):
        self.samples.append(sample)
        return self.result


RESULTS = {
    "yes": Result(True, True),
    "no": Result(False, False, None, "because"),
    "number": Result(0.25, False, "far_off", "because", {"detail": [1, "é"]}),
    "whole": Result(3, True, None, "three"),
    "odd": Result(0, False, "half", "\ud800 is half a pair", {"odd \ud800": ["\ud800"]}),
    "unscored": Result.unscored("cannot tell", label="torn", detail={"a": None}),
}
"""One result of each kind."""


SCHEMA = {"properties": {"total": {"minimum": 0}}, "required": ["total"]}
GOOD, BAD = '{"total": 3}', '{"total": -3}'
TOLD = "The answer was not accepted:\n- /total: -3 is less than the minimum of 0"


def bad_replies(seed, count):
    """Say of each of three replies to `count` questions whether it is bad, and how many are needed."""
    chance = random.Random(seed)
    replies = [[chance.random() < 0.3 for _ in range(3)] for _ in range(count - 1)] + [[True] * 3]
    return replies, [bad.index(False) + 1 if False in bad else 3 for bad in replies]


class Awaited(Evaluator):
    """Is done when two of it are under way, which no call that blocks lives to see."""

    def __init__(self):
        self.waiting, self.met = 0, asyncio.Event()

    def check(self, _):
        raise AssertionError("the call blocks")

    async def acheck(self, _):
        self.waiting += 1
        if self.waiting == 2:
            self.met.set()
        await asyncio.wait_for(self.met.wait(), 5)
        return Result(True, True)


def llama_model(*replies):
    """Make a model of LlamaIndex that gives these replies in turn, and a list of its prompts."""
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

    left = list(replies)
    asked = []

    class Model(CustomLLM):
        @property
        def metadata(self):
            return LLMMetadata()

        def complete(self, prompt, formatted=False, **kwargs):
            asked.append(prompt)
            return CompletionResponse(text=left.pop(0))

        def stream_complete(self, prompt, formatted=False, **kwargs):
            yield self.complete(prompt)

    return Model(), asked


def judge(*replies):
    """Build a judge whose model says this, "Pass" unless told otherwise."""
    return load_evaluator("safety", model=Scripted(*(replies or [judgement()])))


def read_example(module):
    """Give the code of the example in a module's docstring."""
    lines = re.findall(r"^    .*$|^$", inspect.getdoc(module), re.MULTILINE)
    code = textwrap.dedent("\n".join(lines))
    assert code.strip(), "the docstring has no indented code"
    return code


def run_example(module, **names):
    """Run the example of a module's docstring; compare what its comments say; give its names."""
    code = read_example(module)
    names = {"__name__": "example", **names}
    said = re.findall(r"^(\S.*?)  # (.*)$", code, re.MULTILINE)
    exec(compile(code, module.__name__, "exec"), names)  # noqa: S102 - our own docstring
    for expression, value in said:
        assert repr(eval(expression, names)) == value, expression  # noqa: S307 - the same
    return names


PROGRAM = """
import socket
def refuse(*address, **_):
    print("tried to reach", address[-1])
    raise OSError("the network is not for tests")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
"""

QUIETENING = ("CI", "DEEPEVAL_", "DO_NOT_TRACK", "GITHUB_ACTIONS", "MLFLOW_", "PYTEST")
"""Beginnings of variables by which frameworks know that nobody is to be told of this."""


def silent_program(code, folder):
    """Run a program as a user does, with no test in sight; give what it said of the network."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(QUIETENING)
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("tried to reach")]
