"""How the time for a character grows with the output: `make bench` adds it to RESULTS.md.

Each evaluator sees texts of five sizes, in turns, so that all sizes meet the same machine.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

import documents
from measure import seconds

import llmeval_integrations as ours
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.text.tokenizers import load_tokenizer

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000, 5_000_000)

Texts: TypeAlias = Mapping[int, str]


def table() -> Iterator[str]:
    """Yield the part of RESULTS.md that is about growth, line by line."""
    yield "## Growth"
    yield ""
    yield "Nanoseconds per character of the output, as the least of five rounds."
    yield "The goal is at most 1.1 times the figure at 1 kB."
    yield ""
    yield from HEAD
    yield from of_text()
    yield from of_ngrams()
    yield from of_json()


HEAD: Final = (
    "| | 1 kB | 10 kB | 100 kB | 1 MB | 5 MB | most, times 1 kB | reached |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


def of_json() -> Iterator[str]:
    """Evaluate documents, with the same document written anew for a reference."""
    rng = random.Random(5)
    values = {size: documents.record(rng, size) for size in SIZES if size <= 100_000}
    for size in SIZES[len(values) :]:
        value = documents.record(rng, 100_000)
        value["lines"] = value["lines"] * (size // 100_000)
        value["notes"] = value["notes"] * (size // 100_000)
        values[size] = value
    texts = {size: json.dumps(value) for size, value in values.items()}
    references = {size: json.dumps(value, indent=1) for size, value in values.items()}
    cut = {size: text[:-9] for size, text in texts.items()}
    for evaluator, outputs, what in (
        (ours.JsonValidity(), texts, ""),
        (ours.JsonValidity(), cut, " cut short"),
        (ours.JsonEquality(), texts, ""),
        (ours.JsonMatch(), texts, ""),
        (ours.JsonMatch(strict_order=False), texts, ""),
        (ours.JsonSchema(schema=documents.SCHEMA), texts, ""),
        (ours.JsonEquality(parsing="lenient"), cut, " cut short"),
        (ours.JsonObject(), texts, ""),
    ):
        yield row(evaluator, outputs, references, what)


def of_text() -> Iterator[str]:
    """Evaluate prose and reasoning, with the same text for a reference."""
    plain = prose(random.Random(6))
    tool_call = '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
    thought = {size: f"<think>{text}</think>\n{tool_call}" for size, text in plain.items()}
    for evaluator, outputs in (
        (ours.LengthPenalty(), plain),
        (ours.ReasoningFormat(), thought),
        (ours.ReasoningToolCallFormat(), thought),
        (ours.PythonType("str"), plain),
        (ours.RegexMatch(pattern=r".*\bharbour\b", flags=re.DOTALL), plain),
        (ours.ExactMatch(), plain),
    ):
        yield row(evaluator, outputs, outputs)


def of_ngrams() -> Iterator[str]:
    """Count n-grams of texts that repeat themselves and of others, and in other letters."""
    rng = random.Random(7)
    simple = ours.NgramRepetitionPenalty()
    plain = prose(rng)
    yield row(simple, plain)
    for what, options in (
        (" where nothing is repeated", {}),
        (" in words of 14 letters", {"length": 14}),
        (" in Cyrillic", {"letters": documents.CYRILLIC}),
    ):
        outputs = {size: documents.varied(rng, size, **options) for size in SIZES}
        yield row(simple, outputs, what=what)
        if not options:
            yield row(ours.NgramRepetitionPenalty(n=7), outputs, what=what)
    try:
        load_tokenizer("tiktoken", "cl100k_base", False)
    except ours.MissingDependencyError:
        return
    yield row(ours.NgramRepetitionPenalty(tokenizer="tiktoken"), plain)


def prose(rng: random.Random) -> Texts:
    return {
        size: documents.prose(rng, min(size, 100_000)) * max(size // 100_000, 1) for size in SIZES
    }


def row(
    evaluator: Evaluator, outputs: Texts, references: Texts | None = None, what: str = ""
) -> str:
    """Measure one evaluator at all sizes, in turns."""
    calls: dict[int, Callable[[], object]] = {}
    for size in SIZES:
        reference: Any = ours.MISSING
        if evaluator.needs and references:
            reference = references[size]
        calls[size] = partial(evaluator, outputs[size], reference)
        calls[size]()  # to warm up, as where both sides are compared
    taken = dict.fromkeys(SIZES, math.inf)
    for _ in range(5):
        for size, call in calls.items():
            taken[size] = min(taken[size], seconds(call, 1, 0.05) / len(outputs[size]))
    cells = [f"{spent * 1e9:.2f}" for spent in taken.values()]
    most = max(taken.values()) / taken[SIZES[0]]
    met = "yes" if most <= 1.1 else "NO"
    name = repr(evaluator).replace(repr(documents.SCHEMA), "...")
    return f"| `{name}`{what} | {' | '.join(cells)} | {most:.2f} | {met} |"


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
