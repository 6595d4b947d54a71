"""What is installed decides the base class of LangChain's evaluators.

Each case runs in a fresh interpreter in which some packages cannot be imported.
"""

import subprocess
import sys

import pytest

pytest.importorskip("langchain_core")

START = "from llmeval_integrations.frameworks.langchain import *\n"


def run(code, *without):
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in without)
    command = [sys.executable, "-c", f"import sys\n{blocked}{START}{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or (done.stderr.strip().splitlines() or [""])[-1]


def test_langchain_core_alone_is_enough():
    code = """
import asyncio
from langchain_core.language_models import FakeListChatModel
equal = load_evaluator("json_equality")
assert not [kind for kind in type(equal).__mro__ if kind.__module__.startswith("langchain_classic")]
assert equal.evaluate_strings(prediction="[1, 2]", reference="[2, 1]", callbacks=[]) == {"score": True}
assert asyncio.run(equal.aevaluate_strings(prediction="{}", reference="[]")) == {"score": False}
print((FakeListChatModel(responses=["no"]) | load_evaluator("json_validity")).invoke("go"))
criteria = load_evaluator("criteria", llm=FakeListChatModel(responses=["fine\\nY"]))
print(criteria.evaluate_strings(prediction="a", input="b"))
"""
    assert run(code, "langchain_classic", "langchain").splitlines() == [
        "{'score': 0, 'reasoning': 'Expecting value: line 1 column 1 (char 0)'}",
        "{'reasoning': 'fine', 'value': 'Y', 'score': 1}",
    ]


def test_the_evaluation_of_langchain_before_1_0_is_the_base():
    pytest.importorskip("langchain.evaluation")
    code = "from langchain import evaluation as old\n"
    code += "print(issubclass(JsonValidityEvaluator, old.StringEvaluator))"
    assert run(code, "langchain_classic") == "True"
