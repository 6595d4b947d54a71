"""What is installed decides the base class; what is missing is said in one wording.

Each case runs in a fresh interpreter in which some packages cannot be imported.
"""

import subprocess
import sys
from importlib.util import find_spec

import pytest

HAS_CORE = find_spec("langchain_core") is not None
NEEDS_CORE = pytest.mark.skipif(not HAS_CORE, reason="langchain_core is not installed")


def run(code, *, without=(), first=""):
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in without)
    program = f"import sys\n{first}\n{blocked}\n{code}"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or (done.stderr.strip().splitlines() or [""])[-1]


IMPORT = "from llmeval_integrations.frameworks.langchain import *\n"


@NEEDS_CORE
def test_langchain_core_alone_is_enough():
    code = """
from llmeval_integrations.frameworks.langchain import *
import asyncio
from langchain_core.language_models import FakeListChatModel
equal = load_evaluator("json_equality")
assert not [kind for kind in type(equal).__mro__ if kind.__module__.startswith("langchain_classic")]
assert equal.evaluate_strings(prediction="[1, 2]", reference="[2, 1]", callbacks=[]) == {"score": True}
assert asyncio.run(equal.aevaluate_strings(prediction="{}", reference="[]")) == {"score": False}
try:
    equal.evaluate_strings(prediction="{}")
except ValueError as error:
    print(error)
chain = FakeListChatModel(responses=["no"]) | load_evaluator("json_validity")
print(chain.invoke("go"))
criteria = load_evaluator("criteria", llm=FakeListChatModel(responses=["fine\\nY"]))
print(criteria.evaluate_strings(prediction="a", input="b"))
try:
    load_evaluator("criterion")
except LookupError as error:
    print("criteria" in str(error))
"""
    assert run(code, without=["langchain_classic", "langchain"]).splitlines() == [
        "JsonEqualityEvaluator requires a reference string.",
        "{'score': 0, 'reasoning': 'Expecting value: line 1 column 1 (char 0)'}",
        "{'reasoning': 'fine', 'value': 'Y', 'score': 1}",
        "True",
    ]


@NEEDS_CORE
def test_the_langchain_of_today_which_has_no_evaluation_is_none():
    pytest.importorskip("langchain", minversion="1.0")
    code = IMPORT + "print([kind.__module__ for kind in LangChainEvaluator.__mro__[1:4]])"
    said = run(code, without=["langchain_classic"])
    ours = "llmeval_integrations.frameworks"
    modules = [f"{ours}._base", f"{ours}.langchain.evaluator", "langchain_core.runnables.base"]
    assert said == str(modules)


@NEEDS_CORE
def test_the_evaluation_of_langchain_before_1_0_takes_ours():
    pytest.importorskip("langchain.evaluation")
    code = IMPORT + (
        "from langchain import evaluation as old\n"
        "print(issubclass(JsonValidityEvaluator, old.StringEvaluator), "
        "EvaluatorType is old.EvaluatorType)"
    )
    assert run(code, without=["langchain_classic"]) == "True True"


@NEEDS_CORE
def test_a_broken_install_is_not_taken_for_an_absent_one():
    pytest.importorskip("langchain_classic")
    said = run(IMPORT, without=["langchain_classic.chains"])
    assert said.startswith("ModuleNotFoundError: ")
    assert "langchain_classic.chains" in said
