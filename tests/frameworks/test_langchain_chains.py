"""Evaluators in chains: `chain | evaluator`, batches, async, callbacks, tracing."""

import asyncio
import warnings
from uuid import uuid4

import pytest

pytest.importorskip("langchain_core")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tracers import BaseTracer

from llmeval_integrations import JsonMatch, JsonObject, MissingFieldError
from llmeval_integrations.frameworks.langchain import (
    JsonEqualityEvaluator,
    JsonValidityEvaluator,
    LangChainEvaluator,
)

PROMPT = ChatPromptTemplate.from_template("Extract {what}")
VALID, BROKEN = {"score": 1}, {"score": 0, "reasoning": "Expecting value: line 1 column 1 (char 0)"}
PARTS = [{"type": "text", "text": '{"a"'}, {"type": "reasoning", "text": "no"}, ": 1}"]


class Tracer(BaseTracer):
    """Keeps the finished runs."""

    def __init__(self):
        super().__init__()
        self.finished = []

    def _persist_run(self, run):
        self.finished.append(run)


class Starts(BaseCallbackHandler):
    """Keeps the names of the chains that start."""

    def __init__(self):
        self.names = []

    def on_chain_start(self, _serialized, _inputs, *, name=None, **_kwargs):
        self.names.append(name)


@pytest.mark.parametrize(
    ("handed_on", "expected"),
    [
        ("[]", VALID),
        ("x", BROKEN),
        (AIMessage("[]"), VALID),
        (AIMessage(PARTS), VALID),
        ([], VALID),
        (None, BROKEN),
        ({"output": "x", "messages": 1, "reference": 2}, VALID),
    ],
)
def test_whatever_else_is_the_output_itself(handed_on, expected):
    assert JsonValidityEvaluator().invoke(handed_on) == expected


def test_batches_keep_their_order():
    evaluate = JsonValidityEvaluator()
    texts = ["{}", "no", "[]"] * 20
    expected = [VALID, BROKEN, VALID] * 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate.batch(texts, config={"max_concurrency": 4}) == expected
    assert asyncio.run(evaluate.abatch(texts)) == expected
    rows = [{"prediction": "{}", "reference": "{}"}, {"prediction": "{}"}]
    done, failed = JsonEqualityEvaluator().batch(rows, return_exceptions=True)
    assert done == {"score": True}
    assert isinstance(failed, MissingFieldError)


@pytest.mark.parametrize("awaited", [False, True])
def test_callbacks_and_tracers_see_the_evaluation_by_its_name(awaited):
    tracer, starts = Tracer(), Starts()
    chain = FakeListChatModel(responses=["{}"]) | LangChainEvaluator(JsonObject())
    config = {"callbacks": [tracer, starts], "tags": ["nightly"], "metadata": {"commit": "abc"}}
    if awaited:
        asyncio.run(chain.ainvoke("go", config))
    else:
        chain.invoke("go", config)
    assert starts.names == ["RunnableSequence", "json_object"]
    (root,) = tracer.finished
    run = root.child_runs[-1]
    assert (run.name, run.outputs, run.error) == ("json_object", {"score": 1}, None)
    assert "nightly" in run.tags
    assert run.extra["metadata"]["commit"] == "abc"


def test_langchains_own_dataset_evaluation_runs_our_evaluators():
    smith = pytest.importorskip("langchain_classic.smith")
    from langchain_classic.smith.evaluation import runner_utils

    config = smith.RunEvalConfig(
        evaluators=["json_validity"],
        custom_evaluators=[LangChainEvaluator(JsonMatch()), JsonEqualityEvaluator()],
        reference_key="expected",
    )
    evaluators = runner_utils._load_run_evaluators(
        config, "chain", "kv", ["expected"], ["question"], ["answer"]
    )
    # LangChain cannot report a `reasoning`, its own or ours: langsmith refuses the key.
    run, example = finished_run('{"total": 4}'), example_of('{"total": 4.0}')
    feedback = [each.evaluate_run(run, example) for each in evaluators]
    assert [(each.key, each.score, each.comment) for each in feedback] == [
        ("json_validity", 1, None),
        ("json_match", 1.0, None),
        ("json_equality", True, None),
    ]


def finished_run(answer):
    from langsmith.schemas import Run

    return Run(
        id=uuid4(),
        trace_id=uuid4(),
        name="chain",
        run_type="chain",
        start_time="2026-01-01T00:00:00",
        inputs={"question": "?"},
        outputs={"answer": answer},
    )


def example_of(expected):
    from langsmith.schemas import Example

    return Example(id=uuid4(), dataset_id=uuid4(), inputs={}, outputs={"expected": expected})
