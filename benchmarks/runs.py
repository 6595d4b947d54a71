"""Runs over a file, beside the peers' runners: `make bench` adds it to RESULTS.md.

Four evaluations of the same rows of 1 kB, each peer with as much of its own as it has: OpenJudge
with graders of its own, and a schema's by jsonschema; the others, which have none for JSON, with
evaluators of ours. All get the rows in memory and keep the results there. Then the same where all
read the rows from a file, the peer's lines with `json`; ours then writes a journal to disk, too,
while the peer keeps its results in memory. Two tables without a goal say what the runners alone
cost: with the same evaluators of ours in each, those four and one that costs next to nothing. The
ratio is the median of the rounds' ratios. Then how the time for a row grows, what a second process
gains, what a table costs more than a list, how long the command takes to start, and how much
memory it needs.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import documents
from measure import Timing, seconds

from llmeval_integrations import (
    JsonFields,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    evaluate,
    evaluate_batch,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import Sample

ROWS = 20_000
GOAL = 10
"""How many times as many rows in a second as the fastest peer."""

SCHEMA = {
    "type": "object",
    "required": ["id", "customer", "lines", "total"],
    "properties": {
        "id": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "object", "required": ["sku", "price"]}},
        "total": {"type": "number"},
    },
}
EVALUATORS: dict[str, Evaluator] = {
    "json_validity": JsonValidity(),
    "json_match": JsonMatch(),
    "json_schema": JsonSchema(SCHEMA),
    "length_penalty": LengthPenalty(min_length=50, max_length=4000),
}


TRIVIAL = {"length_penalty": EVALUATORS["length_penalty"]}
"""An evaluator that takes half a microsecond, so that the runner's own cost is seen."""

Rows: TypeAlias = list[dict[str, str]]
Evaluators: TypeAlias = Mapping[str, Evaluator]


class Peer(NamedTuple):
    """A runner that gets rows and evaluators of ours, and gives what runs them."""

    name: str
    package: str
    make: Callable[[Rows, Evaluators], Callable[[], object]]

    rounds: int = 3


def rows(count: int) -> Iterator[dict[str, str]]:
    """Make rows of about 1 kB; a tenth of the outputs is not JSON, a fifth of the rest is wrong."""
    pairs = documents.pairs(2_000, sizes=(150, 650), defective=0.1, wrong=0.2, seed=11)
    for number in range(count):
        output, reference = pairs[number % len(pairs)]
        yield {"id": f"row-{number}", "output": output, "reference": reference}


def written(count: int, folder: Path) -> Path:
    """Write rows as JSON Lines."""
    path = folder / f"{count}.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows(count))
    return path


def openjudge(given: Rows, evaluators: Evaluators) -> Callable[[], object]:
    from openjudge.graders.function_grader import FunctionGrader
    from openjudge.graders.schema import GraderScore
    from openjudge.runner.grading_runner import GradingRunner

    def grader(name: str, evaluator: Evaluator) -> Any:
        async def grade(output: str, reference: str, **_: Any) -> Any:
            result = evaluator.evaluate(Sample(output, reference))
            return GraderScore(name=name, score=float(result.score or 0), reason=str(result.reason))

        return FunctionGrader(grade, name=name)

    graders = {name: grader(name, evaluator) for name, evaluator in evaluators.items()}
    runner = GradingRunner(graders, show_progress=False)
    return lambda: asyncio.run(runner.arun(given))


def openjudge_itself(given: Rows, _: Evaluators) -> Callable[[], object]:
    """Make its own graders do the work of our four, with jsonschema for what it has none."""
    from jsonschema import Draft202012Validator
    from openjudge.graders.format.json.json_match import JsonMatchGrader
    from openjudge.graders.format.json.json_validator import JsonValidatorGrader
    from openjudge.graders.format.length_penalty import LengthPenaltyGrader
    from openjudge.graders.function_grader import FunctionGrader
    from openjudge.graders.schema import GraderScore
    from openjudge.runner.grading_runner import GradingRunner

    errors = Draft202012Validator(SCHEMA).iter_errors

    async def conforms(response: str) -> Any:
        try:
            error = next(errors(json.loads(response)), None)
        except ValueError as invalid:
            return GraderScore(name="json_schema", score=0.0, reason=str(invalid))
        return GraderScore(name="json_schema", score=float(error is None), reason=str(error))

    alone = {"response": "output"}
    graders = {
        "json_validity": (JsonValidatorGrader(), alone),
        "json_match": (JsonMatchGrader(), {**alone, "reference_response": "reference"}),
        "json_schema": (FunctionGrader(conforms, name="json_schema"), alone),
        "length_penalty": (LengthPenaltyGrader(50, 4000), alone),
    }
    runner = GradingRunner(graders, show_progress=False)
    return lambda: asyncio.run(runner.arun(given))


def llama_index(given: Rows, evaluators: Evaluators) -> Callable[[], object]:
    from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult
    from llama_index.core.evaluation.base import BaseEvaluator

    class Wrapped(BaseEvaluator):  # type: ignore[misc]
        def __init__(self, evaluator: Evaluator) -> None:
            self.evaluator = evaluator

        def _get_prompts(self) -> Any:
            return {}

        def _update_prompts(self, prompts: Any) -> None:
            """There are none."""

        async def aevaluate(self, response: str = "", reference: str = "", **_: Any) -> Any:
            result = self.evaluator.evaluate(Sample(response, reference))
            return EvaluationResult(score=float(result.score or 0), feedback=result.reason)

    runner = BatchEvalRunner({name: Wrapped(each) for name, each in evaluators.items()}, workers=32)
    outputs = [row["output"] for row in given]
    references = [row["reference"] for row in given]
    return lambda: asyncio.run(
        runner.aevaluate_response_strs(response_strs=outputs, reference=references)
    )


def phoenix(given: Rows, evaluators: Evaluators) -> Callable[[], object]:
    import pandas as pd
    from phoenix.evals import create_evaluator, evaluate_dataframe

    def wrapped(name: str, evaluator: Evaluator) -> Any:
        @create_evaluator(name=name)
        def check(output: str, reference: str) -> float:
            return float(evaluator.evaluate(Sample(output, reference)).score or 0)

        return check

    checks = [wrapped(name, evaluator) for name, evaluator in evaluators.items()]
    frame = pd.DataFrame(given)
    return lambda: evaluate_dataframe(frame, checks, hide_tqdm_bar=True)


def pydantic_evals(given: Rows, evaluators: Evaluators) -> Callable[[], object]:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import Evaluator as TheirEvaluator
    from pydantic_evals.evaluators import EvaluatorContext

    @dataclass
    class Wrapped(TheirEvaluator):  # type: ignore[misc,type-arg]
        name: str

        def evaluate(self, context: EvaluatorContext) -> float:  # type: ignore[type-arg]
            sample = Sample(context.output, context.expected_output)
            return float(evaluators[self.name].evaluate(sample).score or 0)

    cases = [
        Case(name=row["id"], inputs=row["output"], expected_output=row["reference"])
        for row in given
    ]
    dataset = Dataset(name="rows", cases=cases, evaluators=[Wrapped(name) for name in evaluators])
    return lambda: dataset.evaluate_sync(lambda output: output, progress=False)


OPENJUDGE = Peer("OpenJudge, GradingRunner", "py-openjudge", openjudge, rounds=5)
OTHERS = (
    Peer("LlamaIndex, BatchEvalRunner", "llama-index-core", llama_index),
    Peer("phoenix-evals, evaluate_dataframe", "arize-phoenix-evals", phoenix),
    Peer("pydantic_evals, Dataset.evaluate_sync", "pydantic-evals", pydantic_evals),
)
PEERS = (
    Peer(
        "OpenJudge, GradingRunner with graders of its own",
        "py-openjudge",
        openjudge_itself,
        rounds=5,
    ),
    *OTHERS,
)
"""Each with as much of its own as it has."""


def beside_the_peers(
    folder: Path,
    evaluators: Evaluators,
    peers: Iterable[Peer],
    *,
    from_file: bool = False,
    goal: int | None = None,
) -> Iterator[str]:
    given = written(ROWS, folder) if from_file else list(rows(ROWS))
    for peer in peers:
        try:
            version(peer.package)
        except PackageNotFoundError:
            continue
        timing = Timing([], [])
        theirs = (
            partial(_read_and_run, peer, given, evaluators)
            if isinstance(given, Path)
            else peer.make(given, evaluators)
        )
        for _ in range(peer.rounds):  # the garbage collector at work, as for whoever runs this
            timing.ours.append(once(given, folder, evaluators) / ROWS)
            timing.theirs.append(seconds(theirs, ROWS, at_least=0))
            gc.collect()
        taken = statistics.median(timing.ours), statistics.median(timing.theirs)
        met = "" if goal is None else "yes" if timing.ratio >= goal else "NO"
        yield (
            f"| {taken[0] * 1e6:.1f} | {peer.name} | {taken[1] * 1e6:.0f} | {timing.ratio:.1f} "
            f"| {min(timing.ratios):.1f} to {max(timing.ratios):.1f} | {goal or ''} | {met} |"
        )


def _read_and_run(peer: Peer, path: Path, evaluators: Evaluators) -> None:
    with path.open(encoding="utf-8") as lines:
        given = [json.loads(line) for line in lines]
    peer.make(given, evaluators)()


def growth(folder: Path) -> Iterator[str]:
    """Time runs of many rows, each in a process of its own; each size twice, the quicker counts."""
    first = None
    for count in (10_000, 100_000, 1_000_000):
        path = written(count, folder)
        taken = min(alone(path, folder) for _ in range(2)) / count
        path.unlink()
        first = first or taken
        met = "yes" if taken <= 1.1 * first else "NO"
        yield f"| {count:,} | {taken * 1e6:.1f} | {taken / first:.2f} | {met} |"


def alone(path: Path, folder: Path) -> float:
    """Time a run in a process that has nothing else in it."""
    code = f"from runs import *; print(once(Path({str(path)!r}), Path({str(folder)!r})))"
    here = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, check=True)
    return float(done.stdout)


def once(
    given: Rows | Path, folder: Path, evaluators: Evaluators = EVALUATORS, workers: int = 1
) -> float:
    shutil.rmtree(folder / "run", ignore_errors=True)
    out = folder / "run" if isinstance(given, Path) else None
    began = time.perf_counter()
    evaluate(given, evaluators, out=out, workers=workers)
    return time.perf_counter() - began


def processes(folder: Path, rounds: int) -> Iterator[str]:
    """Time two processes and one in turns over 100,000 rows."""
    path = written(100_000, folder)
    evaluators: Evaluators
    for evaluators in (EVALUATORS, {"json_fields": JsonFields()}):
        ratios = []
        for _ in range(rounds):
            one = once(path, folder, evaluators)
            ratios.append(one / once(path, folder, evaluators, workers=2))
        median = statistics.median(ratios)
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        met = "yes" if median >= 1.6 else "NO"
        what = f"two processes, times as fast as one, {' and '.join(evaluators)}"
        yield f"| {what} ({spread}) | {median:.2f} | 1.6 | {met} |"


def tables(rounds: int) -> Iterator[str]:
    """Time `evaluate_batch` and `evaluate_many` in turns over the same rows."""
    import pyarrow as pa

    given = list(rows(ROWS))
    table = pa.Table.from_pylist(given)
    samples = [{"output": row["output"], "reference": row["reference"]} for row in given]
    for evaluator in (*EVALUATORS.values(), JsonFields()):
        ratios = []
        for _ in range(rounds):  # the garbage collector at work, as for whoever runs this
            many = seconds(partial(evaluator.evaluate_many, samples), ROWS, at_least=0)
            ratios.append(seconds(partial(evaluate_batch, table, evaluator), ROWS, 0) / many)
        median = statistics.median(ratios)
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        met = "yes" if median <= 1.2 else "NO"
        what = f"`evaluate_batch`, times `evaluate_many`, {evaluator.name}"
        yield f"| {what} ({spread}) | {median:.2f} | 1.2 | {met} |"


def start(folder: Path) -> Iterator[str]:
    """Time the command on ten rows."""
    path = written(10, folder)
    command = [sys.executable, "-m", "llmeval_integrations", "run", str(path), "-q"]
    command += [f"-e{name}" for name in ("json_validity", "json_match", "length_penalty")]
    taken = []
    for _ in range(9):
        began = time.perf_counter()
        subprocess.run(command, check=True)
        taken.append(time.perf_counter() - began)
    median = statistics.median(taken)
    met = "yes" if median < 0.4 else "NO"
    yield f"| `llmeval run` on 10 rows, s | {median:.2f} | 0.4 | {met} |"


def memory(folder: Path) -> Iterator[str]:
    """Run five million short rows in a process of its own, and ask for its largest size."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    lines, parquet = folder / "five million.jsonl", folder / "five million.parquet"
    columns = pa.schema([("id", pa.int64()), ("output", pa.string())])
    with lines.open("w", encoding="utf-8") as file, ParquetWriter(parquet, columns) as writer:
        for first in range(0, 5_000_000, 500_000):
            ids = range(first, first + 500_000)
            outputs = [f'{{"a": {number % 97}}}' for number in ids]
            file.writelines(
                json.dumps({"id": number, "output": output}) + "\n"
                for number, output in zip(ids, outputs)
            )
            writer.write_table(pa.table([list(ids), outputs], schema=columns))
    for path in (lines, parquet):
        yield resident(path, folder)


def resident(path: Path, folder: Path) -> str:
    """Ask the process itself: what `wait` tells of a child contains the size of who started it."""
    options = ["run", str(path), "-q", "-e", "json_validity", "--out", str(folder / "long")]
    code = f"""
from llmeval_integrations.cli.main import main
assert main({[*options, "--overwrite"]!r}) == 0
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    taken = time.perf_counter() - began
    megabytes = int(done.stdout) / 1024
    met = "yes" if megabytes < 600 else "NO"
    what = f"5,000,000 rows of {path.suffix[1:]}, MB resident ({taken:.0f} s)"
    return f"| {what} | {megabytes:.0f} | 600 | {met} |"


def table() -> Iterator[str]:
    """Yield the part of RESULTS.md that is about runs, line by line."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    known = ", ".join(f"{peer.package} {version(peer.package)}" for peer in PEERS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = written(ROWS, folder).stat().st_size / ROWS
        yield "## Runs"
        yield ""
        yield f"{known}. {ROWS:,} rows, lines of {size:,.0f} bytes on average."
        yield ""
        four = ", ".join(EVALUATORS)
        one = ", ".join(TRIVIAL)
        own = partial(beside_the_peers, folder, EVALUATORS)
        for what, lines in (
            (f"{four}: OpenJudge uses its own, except for the schema.", own(PEERS, goal=GOAL)),
            (
                "The same from a file. Ours also writes a journal to disk.",
                own(PEERS[:1], from_file=True, goal=GOAL),
            ),
            ("The cost of the runners alone, with our four evaluators in each.", own([OPENJUDGE])),
            (
                f"The cost of the runners alone, with one of our evaluators in each: {one}.",
                beside_the_peers(folder, TRIVIAL, [OPENJUDGE, *OTHERS]),
            ),
        ):
            yield what
            yield ""
            yield "| ours, µs a row | peer | peer, µs a row | ratio | spread | goal | reached |"
            yield "| --- | --- | --- | --- | --- | --- | --- |"
            yield from lines
            yield ""
        yield "The same evaluators with more rows. The goal is at most 1.1 times the first figure."
        yield ""
        yield "| rows | ours, µs a row | times the first | reached |"
        yield "| --- | --- | --- | --- |"
        yield from growth(folder)
        yield ""
        yield "| | ours | goal | reached |"
        yield "| --- | --- | --- | --- |"
        yield from processes(folder, rounds=7)
        yield from tables(rounds=15)
        yield from start(folder)
        yield from memory(folder)


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
