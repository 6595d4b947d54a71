"""Judging 500 outputs, 32 at a time, beside the peers: `make bench` adds it to RESULTS.md.

The server is a process of its own on this machine and answers each call after 50 ms, so that the
ideal is 500 / 32 × 50 ms. Every side uses the same SDK, openai, in the way that its documentation
has for many rows, and is timed from the making of its client (LangChain's is made once) to its last
result. A round is one pass of each side in turn. CPU is that of this process with all its threads.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import logging
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from slow_server import LATENCY, SlowServer

CALLS, AT_A_TIME = 500, 32
IDEAL = CALLS / AT_A_TIME * LATENCY
WALL_GOAL = 1.10
"""The most that we may take, by the bare loop's time."""
CPU_GOAL = 150
"""The most microseconds of CPU that we may add to the bare loop's, a call."""

QUESTION = "Does the text say where the harbour is?"
TEXT = "The harbour lies behind the old town, where the ferries to the islands leave. " * 12
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"type": "string", "enum": ["Pass", "Fail"]},
        "confidence": {"type": "string", "enum": ["High", "Medium", "Low"]},
    },
    "required": ["reasoning", "verdict", "confidence"],
    "additionalProperties": False,
}


class Side(NamedTuple):
    """One way to judge: it takes the server's address and outputs and gives its scores."""

    name: str
    packages: tuple[str, ...]
    """What it needs beside openai; left out of the table where that is not installed."""
    message: dict[str, Any]
    """What the server answers, which each library wants in a form of its own."""
    run: Callable[[str, list[str]], list[Any]]


def in_json(**values: Any) -> dict[str, Any]:
    return {"content": json.dumps(values)}


def as_call(name: str, **values: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(values)}
    return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


VERDICT = in_json(reasoning="It says where.", verdict="Pass", confidence="High")


async def limited(works: Iterator[Any]) -> list[Any]:
    """Await all, so many at a time, as is usually written down."""
    semaphore = asyncio.Semaphore(AT_A_TIME)

    async def one(work: Any) -> Any:
        async with semaphore:
            return await work

    return await asyncio.gather(*(one(work) for work in works))


def bare_loop(url: str, outputs: list[str]) -> list[Any]:
    """Ask the same with the SDK alone, by workers that share one iterator: the quickest loop."""
    import openai

    messages = asked("OUTPUT")
    form = {"name": "answer", "schema": SCHEMA, "strict": True}

    async def main() -> list[Any]:
        scores: list[Any] = [None] * len(outputs)
        rows = iter(enumerate(outputs))

        async def worker() -> None:
            for number, output in rows:
                reply = await client.chat.completions.create(
                    model="judge",
                    temperature=0,
                    messages=[
                        {"role": role, "content": text.replace("OUTPUT", output)}
                        for role, text in messages
                    ],
                    response_format={"type": "json_schema", "json_schema": form},
                )
                verdict = json.loads(reply.choices[0].message.content)["verdict"]
                scores[number] = float(verdict == "Pass")

        async with openai.AsyncOpenAI(api_key="-", base_url=url) as client:
            await asyncio.gather(*(worker() for _ in range(AT_A_TIME)))
        return scores

    return asyncio.run(main())


def asked(output: str) -> list[tuple[str, str]]:
    """Return the messages that our judge puts to its model, with their roles."""
    from llmeval_integrations import Sample
    from llmeval_integrations.llm.failures import ClientError
    from llmeval_integrations.llm.loop import start, wait
    from llmeval_integrations.llm.session import Ask, Session

    requests: list[Any] = []

    def keep(_: object, request: Any) -> NoReturn:
        requests.append(request)
        raise ClientError("nobody is asked", kind="not_cached")

    session = Session(count=keep)
    wait(start(judge("http://localhost/v1").result(Sample(output), Ask(session))))
    return [(message.role, message.text) for message in requests[0].messages]


def judge(url: str) -> Any:
    from llmeval_integrations import load_evaluator
    from llmeval_integrations.llm.client import load_client

    client = load_client("openai:judge", base_url=url)
    return load_evaluator("pass_fail", model=client, question=QUESTION)


def ours(url: str, outputs: list[str], **options: Any) -> list[Any]:
    from llmeval_integrations import evaluate

    samples = [{"output": output} for output in outputs]
    return [row.score for row in evaluate(samples, [judge(url)], **options).rows]


def ours_with_a_cache(url: str, outputs: list[str]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        return ours(url, outputs, cache=Path(folder) / "replies.sqlite")


def ours_by_the_evaluator(url: str, outputs: list[str]) -> list[Any]:
    from llmeval_integrations import Sample

    return [result.score for result in judge(url).evaluate_many(map(Sample, outputs))]


def with_openevals(url: str, outputs: list[str]) -> list[Any]:
    import openai
    from openevals.llm import create_async_llm_as_judge

    async def main() -> list[Any]:
        async with openai.AsyncOpenAI(api_key="-", base_url=url) as client:
            evaluator = create_async_llm_as_judge(
                prompt=f"{QUESTION}\n{{outputs}}", judge=client, model="judge"
            )
            results = await limited(evaluator(outputs=output) for output in outputs)
        return [result["score"] for result in results]

    return asyncio.run(main())


def with_autoevals(url: str, outputs: list[str]) -> list[Any]:
    import openai
    from autoevals import LLMClassifier

    async def main() -> list[Any]:
        async with openai.AsyncOpenAI(api_key="-", base_url=url) as client:
            classifier = LLMClassifier(
                name="harbour",
                prompt_template=f"{QUESTION}\n{{{{output}}}}",
                choice_scores={"Pass": 1, "Fail": 0},
                model="judge",
                client=client,
            )
            results = await limited(classifier.eval_async(output=output) for output in outputs)
        return [result.score for result in results]

    return asyncio.run(main())


def with_openjudge(url: str, outputs: list[str]) -> list[Any]:
    from openjudge.graders.llm_grader import LLMGrader
    from openjudge.models.openai_chat_model import OpenAIChatModel
    from openjudge.runner.grading_runner import GradingRunner

    async def main() -> list[Any]:
        model = OpenAIChatModel(model="judge", api_key="-", base_url=url)
        template = f"{QUESTION}\n{{response}}\nReply as JSON with score and reason."
        grader = LLMGrader(model=model, name="harbour", template=template)
        runner = GradingRunner({"harbour": grader}, AT_A_TIME, show_progress=False)
        results = await runner.arun([{"response": output} for output in outputs])
        return [getattr(result, "score", None) for result in results["harbour"]]

    return asyncio.run(main())


@cache
def langchain_model(url: str) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="judge", api_key="-", base_url=url, temperature=0)


@cache
def langchain_loop() -> asyncio.AbstractEventLoop:
    """Return one loop for all rounds: models share connections, which cannot change the loop."""
    return asyncio.new_event_loop()


def with_langchain(url: str, outputs: list[str]) -> list[Any]:
    async def main() -> list[Any]:
        chain = langchain_model(url).with_structured_output(
            {"title": "answer", **SCHEMA}, method="json_schema"
        )
        prompts = [f"{QUESTION}\n{output}" for output in outputs]
        replies = await chain.abatch(prompts, {"max_concurrency": AT_A_TIME})
        return [float(reply["verdict"] == "Pass") for reply in replies]

    return langchain_loop().run_until_complete(main())


def with_phoenix(url: str, outputs: list[str], **options: Any) -> list[Any]:
    import pandas as pd
    from phoenix.evals import LLM, async_evaluate_dataframe, create_classifier

    async def main() -> list[Any]:
        llm = LLM(provider="openai", model="judge", api_key="-", base_url=url, **options)
        classifier = create_classifier(
            name="harbour",
            prompt_template=f"{QUESTION}\n{{output}}",
            llm=llm,
            choices={"Pass": 1, "Fail": 0},
        )
        rows = pd.DataFrame({"output": outputs})
        table = await async_evaluate_dataframe(
            rows, [classifier], concurrency=AT_A_TIME, hide_tqdm_bar=True
        )
        return [score["score"] if score else None for score in table["harbour_score"]]

    return asyncio.run(main())


def with_phoenix_unlimited(url: str, outputs: list[str]) -> list[Any]:
    return with_phoenix(url, outputs, initial_per_second_request_rate=1_000_000)


BARE = "bare openai loop"
SIDES = (
    Side(BARE, (), VERDICT, bare_loop),
    Side("ours", (), VERDICT, ours),
    Side("ours, by the evaluator alone", (), VERDICT, ours_by_the_evaluator),
    Side("ours, replies kept in a new cache", (), VERDICT, ours_with_a_cache),
    Side("openevals", ("openevals",), in_json(reasoning="It says.", score=True), with_openevals),
    Side(
        "autoevals",
        ("autoevals",),
        as_call("select_choice", reasons="It says where.", choice="Pass"),
        with_autoevals,
    ),
    Side(
        "py-openjudge, its runner",
        ("py-openjudge",),
        in_json(reason="It says where.", score=1),
        with_openjudge,
    ),
    Side("langchain-openai, abatch", ("langchain-openai",), VERDICT, with_langchain),
    Side(
        "phoenix-evals, no limit of its own",
        ("arize-phoenix-evals",),
        in_json(explanation="It says where.", label="Pass"),
        with_phoenix_unlimited,
    ),
)
"""llama-index is not among them: its package for OpenAI takes no openai of version 3."""


class Pass(NamedTuple):
    """What one pass of one side took."""

    wall: float
    cpu: float


def timed(side: Side, url: str, outputs: list[str]) -> Pass:
    wall, cpu = time.perf_counter(), time.process_time()
    scores = side.run(url, outputs)
    taken = Pass(time.perf_counter() - wall, time.process_time() - cpu)
    if scores != [1] * len(outputs):
        raise AssertionError(f"{side.name}: wrong scores, such as {scores[:3]}")
    return taken


def standing(side: Side, url: str) -> int:
    """Count the results that are there when ten calls fail for good."""
    outputs = [f"{number}: {'FAIL' if number % 50 == 7 else TEXT}" for number in range(CALLS)]
    try:
        return sum(score == 1 for score in side.run(url, outputs))
    except Exception:  # noqa: BLE001 - then there are none
        return 0


def installed(side: Side) -> bool:
    try:
        return all(version(package) for package in ("openai", *side.packages))
    except PackageNotFoundError:
        return False


def measured(sides: list[Side], rounds: int) -> Iterator[str]:
    """Run all sides in turns and yield the rows of the table."""
    outputs = [f"{number}: {TEXT}" for number in range(CALLS)]
    passes: dict[str, list[Pass]] = {side.name: [] for side in sides}
    address = {side.name: str(number) for number, side in enumerate(sides)}
    messages = {address[side.name]: side.message for side in sides}
    # what some peers leave open is told on stderr, at times of the garbage collector's choice
    with SlowServer(messages) as server, contextlib.redirect_stderr(io.StringIO()):
        for _ in range(rounds + 1):  # the first is to warm up
            for side in sides:
                passes[side.name].append(timed(side, server.url(address[side.name]), outputs))
        for side in sides:
            kept = standing(side, server.url(address[side.name]))
            yield row(side.name, passes[side.name][1:], passes[BARE][1:], kept)


def row(name: str, passes: list[Pass], bare: list[Pass], kept: int) -> str:
    """Write one side's figures, each round beside the bare loop of the same round."""
    by_bare = [one.wall / base.wall for one, base in zip(passes, bare)]
    added = [(one.cpu - base.cpu) / CALLS * 1e6 for one, base in zip(passes, bare)]
    wall, cpu = statistics.median(by_bare), statistics.median(added)
    goal = "" if name != "ours" else reached(wall <= WALL_GOAL and cpu <= CPU_GOAL)
    return (
        f"| {name} | {statistics.median(one.wall for one in passes) / IDEAL:.2f} "
        f"| {wall:.2f} | {min(by_bare):.2f} to {max(by_bare):.2f} "
        f"| {statistics.median(one.cpu for one in passes) / CALLS * 1e6:.0f} "
        f"| {cpu:+.0f} | {min(added):+.0f} to {max(added):+.0f} | {kept} | {goal} |"
    )


def reached(fulfilled: bool) -> str:
    return "yes" if fulfilled else "NO"


def table(rounds: int = 7, only: str = "") -> Iterator[str]:
    """Yield the part of RESULTS.md that is about judging, line by line."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    sides = [side for side in SIDES if installed(side) and (side.name == BARE or only in side.name)]
    if not sides:
        yield "openai is not installed."
        return
    packages = ["openai", *dict.fromkeys(name for side in sides for name in side.packages)]
    yield "## Judging many"
    yield ""
    yield f"{CALLS} calls, {AT_A_TIME} at a time, to a local server that answers after 50 ms."
    yield f"The ideal is {IDEAL:.2f} s. Medians of {rounds} rounds in turns. The goals beside"
    yield f"the bare loop: {WALL_GOAL:.2f} times its time, {CPU_GOAL} µs more CPU per call."
    yield "`stand` is the number of results that remain if 10 of the 500 calls fail for good."
    yield ""
    yield ", ".join(f"{name} {version(name)}" for name in packages) + "."
    yield ""
    yield "| | wall / ideal | by bare | spread | CPU, µs | added | spread | stand | goals |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    yield from measured(sides, rounds)


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--only", default="", help="a part of the names of the sides to run")
    given = arguments.parse_args()
    results = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # where a peer tells of its retries
        for line in table(given.rounds, given.only):
            print(line, file=results, flush=True)


if __name__ == "__main__":
    main()
