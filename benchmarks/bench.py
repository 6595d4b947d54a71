"""Our evaluators beside their peers, in one process: `make bench` writes RESULTS.md.

Rows are outputs with references from `documents.py`. A peer is called the way its documentation
says, one row after another; a peer that only has a coroutine is awaited in one event loop, so
that no loop is started per row. "one call" is `evaluator(output, ...)`; "many" is
`evaluate_many` over samples, the making of the samples included.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import platform
import random
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import documents
import growth
from measure import compare

import llmeval_integrations as ours
from llmeval_integrations.frameworks.langchain.drop_ins import python_canonical

HERE = Path(__file__).parent
PEERS = ("langchain-classic", "py-openjudge", "autoevals", "openevals", "jsonschema")
METHOD = """\
Microseconds per row, as the median of 7 rounds in which both run in turns (3 for slow libraries).
The ratio is the median of the rounds' ratios, and the spread is the smallest and the largest."""
OWN = ("llmeval-integrations", "msgspec", "jsonschema-rs", "rapidfuzz", "tiktoken")


class Case(NamedTuple):
    """One line of the table: a name, our side, the peers' sides, and what we want to reach."""

    name: str
    rows: int
    run: Callable[[], object]
    peers: dict[str, Callable[[], object]]
    goal: float


def swallow(call: Callable[..., object], *args: Any, **kwargs: Any) -> None:
    """Call a peer that raises on a bad output, which is its way of saying no."""
    with contextlib.suppress(Exception):
        call(*args, **kwargs)


def langchain(evaluator: Any, rows: list[tuple[str, str]], *, reference: bool = True) -> Any:
    def run() -> None:
        for output, expected in rows:
            if reference:
                swallow(evaluator.evaluate_strings, prediction=output, reference=expected)
            else:
                swallow(evaluator.evaluate_strings, prediction=output)

    return run


def openjudge(grader: Any, calls: list[dict[str, Any]]) -> Any:
    loop = asyncio.new_event_loop()

    async def all_of_them() -> None:
        for call in calls:
            await grader.aevaluate(**call)

    return lambda: loop.run_until_complete(all_of_them())


def both_ways(
    name: str,
    evaluator: ours.Evaluator,
    rows: list[tuple[str, Any]],
    peers: dict[str, Any],
    goals: tuple[float, float],
    *,
    reference: bool = True,
) -> Iterator[Case]:
    def one_by_one() -> None:
        for output, expected in rows:
            if reference:
                evaluator(output, expected)
            else:
                evaluator(output)

    def many() -> None:
        if reference:
            evaluator.evaluate_many([ours.Sample(output, expected) for output, expected in rows])
        else:
            evaluator.evaluate_many([ours.Sample(output) for output, _ in rows])

    yield Case(f"{name}, one call", len(rows), one_by_one, peers, goals[0])
    yield Case(f"{name}, many", len(rows), many, peers, goals[1])


def json_cases() -> Iterator[Case]:
    import autoevals
    import langchain_classic.evaluation as theirs
    from openevals.exact import exact_match
    from openjudge.graders.format.json.json_match import JsonMatchGrader
    from openjudge.graders.format.json.json_validator import JsonValidatorGrader

    mixed = documents.pairs(300)
    clean = documents.pairs(300, defective=0)
    for label, rows, goals in (("mixed", mixed, (2.5, 3.0)), ("clean", clean, (4.0, 6.0))):
        validity = autoevals.ValidJSON()
        peers = {
            "LangChain": langchain(theirs.JsonValidityEvaluator(), rows, reference=False),
            "OpenJudge": openjudge(JsonValidatorGrader(), [{"response": o} for o, _ in rows]),
            "autoevals": lambda rows=rows, v=validity: [v.eval(output=o) for o, _ in rows],
        }
        evaluator = ours.JsonValidity()
        yield from both_ways(
            f"JsonValidity ({label})", evaluator, rows, peers, goals, reference=False
        )
    wrong = documents.pairs(300, wrong=0.3)
    clean_wrong = documents.pairs(300, wrong=0.3, defective=0)
    equality, match = theirs.JsonEqualityEvaluator(), JsonMatchGrader()
    for label, rows, goals in (
        ("rows that parse", clean, (2.5, 3.0)),
        ("rows that parse, 30 % of them wrong", clean_wrong, (0, 0)),
    ):
        peers = {
            "LangChain": langchain(equality, rows),
            "openevals": lambda rows=rows: [
                exact_match(outputs=json.loads(o), reference_outputs=json.loads(r)) for o, r in rows
            ],
        }
        yield from both_ways(f"JsonEquality ({label})", ours.JsonEquality(), rows, peers, goals)
    for label, rows, goals in (
        ("mixed", mixed, (2.5, 3.0)),
        ("mixed, 30 % of what parses wrong", wrong, (0, 0)),
    ):
        calls = [{"reference_response": r, "response": o} for o, r in rows]
        peers = {"OpenJudge": openjudge(match, calls)}
        yield from both_ways(f"JsonMatch ({label})", ours.JsonMatch(), rows, peers, goals)
    yield from both_ways(
        "JsonEditDistance, exact",
        ours.JsonEditDistance(),
        clean_wrong,
        {"LangChain": langchain(theirs.JsonEditDistanceEvaluator(), clean_wrong)},
        (1.2, 1.3),
    )
    yield from both_ways(
        "JsonEditDistance, exact, LangChain's text",
        ours.JsonEditDistance(canonicalize=python_canonical),
        clean_wrong,
        {"LangChain": langchain(theirs.JsonEditDistanceEvaluator(), clean_wrong)},
        (1.2, 1.3),
    )


def schema_cases() -> Iterator[Case]:
    import langchain_classic.evaluation as theirs
    from jsonschema import Draft202012Validator

    rows = [(o, json.dumps(documents.SCHEMA)) for o, _ in documents.pairs(60, defective=0)]
    peer = theirs.JsonSchemaEvaluator()
    validator = Draft202012Validator(documents.SCHEMA)
    peers = {
        "LangChain": langchain(peer, rows),
        "jsonschema, built once": lambda: [validator.is_valid(json.loads(o)) for o, _ in rows],
    }
    yield from both_ways("JsonSchema", ours.JsonSchema(), rows, peers, (400, 500))


def shuffled_case() -> Iterator[Case]:
    from openjudge.graders.format.json.json_match import JsonMatchGrader

    rng = random.Random(3)
    items = [{"id": n, "name": rng.choice(documents.WORDS), "qty": n % 7} for n in range(1000)]
    rows = [(json.dumps(rng.sample(items, len(items))), json.dumps(items)) for _ in range(2)]
    calls = [{"reference_response": r, "response": o} for o, r in rows]
    peer = openjudge(JsonMatchGrader(strict_order=False), calls)
    yield from both_ways(
        "JsonMatch, 1,000 shuffled items",
        ours.JsonMatch(strict_order=False),
        rows,
        {"OpenJudge": peer},
        (40, 40),
    )


def lenient_cases() -> Iterator[Case]:
    import langchain_classic.evaluation as theirs

    for size, count, wrong, goal in (
        (1000, 60, 0.0, 40),
        (1000, 60, 0.3, 0),
        (10_000, 10, 0.0, 500),
        (10_000, 10, 0.3, 0),
    ):
        rows = documents.pairs(count, sizes=(size, size), seed=size, wrong=wrong)
        schemas = [(output, json.dumps(documents.SCHEMA)) for output, _ in rows]
        label = f"lenient, {size // 1000} kB" + (", 30 % of what parses wrong" if wrong else "")
        for name, evaluator, peer, used in (
            (
                "JsonEquality",
                ours.JsonEquality(parsing="lenient"),
                theirs.JsonEqualityEvaluator(),
                rows,
            ),
            (
                "JsonEditDistance",
                ours.JsonEditDistance(parsing="lenient"),
                theirs.JsonEditDistanceEvaluator(),
                rows,
            ),
            (
                "JsonSchema",
                ours.JsonSchema(parsing="lenient"),
                theirs.JsonSchemaEvaluator(),
                schemas,
            ),
        ):
            if wrong and used is schemas:
                continue  # to a schema a wrong value is like any other
            peers = {"LangChain": langchain(peer, used)}
            yield from both_ways(f"{name} ({label})", evaluator, used, peers, (goal, goal))


def format_cases() -> Iterator[Case]:
    import os

    from openjudge.graders.format.length_penalty import LengthPenaltyGrader
    from openjudge.graders.format.ngram_repetition_penalty import NgramRepetitionPenaltyGrader
    from openjudge.graders.format.reasoning_format import ReasoningFormatGrader
    from openjudge.graders.format.reasoning_tool_format import ReasoningToolCallFormatGrader

    from llmeval_integrations.text.tokenizers import bundled_folder

    # Their tokenizer would download its vocabulary; show it LlamaIndex's copy.
    os.environ["TIKTOKEN_CACHE_DIR"] = bundled_folder("cl100k_base") or ""
    rng = random.Random(11)
    short = [(documents.prose(rng, rng.randrange(100, 3000)), None) for _ in range(200)]
    long = [(documents.reasoning(rng, 10_000), None) for _ in range(40)]
    called = [(documents.reasoning(rng, 10_000, 3), None) for _ in range(40)]
    many_calls = [(documents.reasoning(rng, 10_000, 24), None) for _ in range(40)]

    def grade(grader: Any, rows: list[tuple[str, None]]) -> dict[str, Any]:
        return {"OpenJudge": openjudge(grader, [{"response": text} for text, _ in rows])}

    simple = NgramRepetitionPenaltyGrader(tokenizer_type="simple")
    for name, evaluator, grader, rows, goals in (
        ("LengthPenalty", ours.LengthPenalty(), LengthPenaltyGrader(), short, (2, 4)),
        (
            "ReasoningFormat, 10 kB",
            ours.ReasoningFormat(),
            ReasoningFormatGrader(),
            long,
            (5, 7),
        ),
        (
            "ReasoningToolCallFormat, 10 kB",
            ours.ReasoningToolCallFormat(),
            ReasoningToolCallFormatGrader(),
            called,
            (10, 15),
        ),
        (
            "ReasoningToolCallFormat, 10 kB, 24 calls",
            ours.ReasoningToolCallFormat(),
            ReasoningToolCallFormatGrader(),
            many_calls,
            (0, 0),  # the goal is under 1 ms
        ),
        (
            "NgramRepetitionPenalty, simple",
            ours.NgramRepetitionPenalty(),
            simple,
            short,
            (1.5, 1.7),
        ),
        (
            "NgramRepetitionPenalty, tiktoken",
            ours.NgramRepetitionPenalty(tokenizer="tiktoken"),
            NgramRepetitionPenaltyGrader(),
            short,
            (3, 3.5),
        ),
    ):
        peers = grade(grader, rows)
        yield from both_ways(name, evaluator, rows, peers, goals, reference=False)


def awaited() -> Iterator[str]:
    """Compare an awaited call with a plain one, ours and LangChain's."""
    import langchain_classic.evaluation as theirs

    rows = documents.pairs(200)
    loop = asyncio.new_event_loop()

    def plainly(call: Callable[[str], object]) -> Callable[[], object]:
        return lambda: [call(output) for output, _ in rows]

    def awaiting(call: Callable[[str], Any]) -> Callable[[], object]:
        async def run() -> None:
            for output, _ in rows:
                await call(output)

        return lambda: loop.run_until_complete(run())

    samples = {output: ours.Sample(output) for output, _ in rows}
    evaluator = ours.JsonValidity()
    peer = theirs.JsonValidityEvaluator()
    for name, plain, coroutine, goal in (
        (
            "llmeval-integrations",
            lambda text: evaluator.evaluate(samples[text]),
            lambda text: evaluator.aevaluate(samples[text]),
            "at most 1.5",
        ),
        (
            "LangChain",
            lambda text: peer.evaluate_strings(prediction=text),
            lambda text: peer.aevaluate_strings(prediction=text),
            "",
        ),
    ):
        timing = compare(plainly(plain), awaiting(coroutine), len(rows))
        yield (
            f"| JsonValidity, {name} | {microseconds(timing.ours)} | {microseconds(timing.theirs)} "
            f"| {timing.ratio:.2f} | {goal} |"
        )


def microseconds(figures: list[float]) -> str:
    return f"{statistics.median(figures) * 1e6:.2f}"


def measure(case: Case) -> str:
    """Measure against each peer; the first is the one that the goal is about."""
    slow = case.goal >= 40 or "lenient" in case.name
    timings = {
        name: compare(
            case.run, peer, case.rows, rounds=3 if slow else 7, at_least=0.02 if slow else 0.05
        )
        for name, peer in case.peers.items()
    }
    rows = []
    for name, timing in timings.items():
        goal = case.goal if name == next(iter(timings)) else None
        reached = "" if not goal else "yes" if timing.ratio >= goal else "NO"
        rows.append(
            f"| {case.name} | {microseconds(timing.ours)} | {name} {microseconds(timing.theirs)} "
            f"| {timing.ratio:.1f} | {min(timing.ratios):.1f} to {max(timing.ratios):.1f} "
            f"| {goal or ''} | {reached} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Measure everything, or the cases whose name holds `--only`, which writes no file."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", help="a part of the names of the cases to run")
    only = arguments.parse_args().only
    logging.disable(logging.CRITICAL)  # LangChain logs each broken output
    warnings.simplefilter("ignore")
    groups = (json_cases, schema_cases, shuffled_case, lenient_cases, format_cases)
    lines = [
        "# Benchmark results",
        "",
        "`make bench` writes this page. `bench.py` begins with the method.",
        "",
        f"Python {platform.python_version()} on {platform.machine()}; "
        + ", ".join(f"{name} {version(name)}" for name in (*OWN, *PEERS))
        + ".",
        "",
        "## Compared with other libraries",
        "",
        METHOD,
        "",
        "| evaluator | ours, µs | peer, µs | ratio | spread | goal | reached |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for group in groups:
        for case in group():
            if only is None or only in case.name:
                row = measure(case)
                print(row, flush=True)
                lines.append(row)
    if only is not None:
        return
    lines += ["", "## An awaited call", "", "| | plain, µs | awaited, µs | ratio | goal |"]
    lines += ["| --- | --- | --- | --- | --- |", *shown(awaited())]
    lines += ["", *shown(growth.table())]
    (HERE / "RESULTS.md").write_text("\n".join(lines) + "\n")


def shown(rows: Iterator[str]) -> Iterator[str]:
    for row in rows:
        print(row, flush=True)
        yield row


if __name__ == "__main__":
    sys.exit(main())
