"""Extractions field by field, beside the peers: `make bench` adds it to RESULTS.md.

Seeded records, parsed: nested ones of 0.2 to 4 kB, 30 % of them changed in one to three places, a
line left out among these, and flat ones of 10 fields, 30 % of them with one wrong value; every side
compares the same pairs, by position in lists where it can be told so. Pairs that are equal take us
less than others, so that both kinds of the nested ones stand by themselves, too. Where the shared
data is, what models really wrote: every tenth output of each in the Structured Output Benchmark.
The goal stands beside the peers that say of each field whether it is right: stickler-eval, and
openevals where all fields are top-level keys. Of nested records openevals says it of each top-level
key alone, whose value it compares as a whole, so it gets them once more with each leaf under a key
of its own, made before the clock runs. Microseconds a pair, medians of the rounds; the ratio is the
median of the rounds' ratios. Then what no peer is measured at: shuffled lists, and the cost of a
leaf.
"""

from __future__ import annotations

import asyncio
import json
import pathlib
import random
import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import documents
from measure import compare

from llmeval_integrations import JsonFields, JsonSimilarity

ROWS = 60
GOAL = 10
"""How many times faster than the fastest peer that says which field is wrong."""


class Pair(NamedTuple):
    """What is compared with what."""

    output: Any
    expected: Any
    schema: Any = None
    """The record's own, for who needs one; None where all records of a kind have the same."""


Compared = Callable[[list[Pair]], Callable[[], object]]


class Peer(NamedTuple):
    """One way to compare pairs."""

    name: str
    package: str
    says: str
    make: Compared
    by_field: bool = False
    """Whether it says of each field whether it is right."""


def stickler(pairs: list[Pair]) -> Callable[[], object]:
    from stickler import StructuredModel

    models = []
    for output, expected, schema in pairs:
        if schema is None:
            model = model_for(expected)
        else:
            model = StructuredModel.from_json_schema(compared_exactly(schema))
        models.append((model.from_json(output), model.from_json(expected)))
    return lambda: [expected.compare_with(output) for output, expected in models]


def compared_exactly(schema: dict[str, Any]) -> dict[str, Any]:
    """Have stickler compare all values of a schema as they are, as the other sides do."""
    exact = dict(schema)
    if "properties" in schema:
        parts = schema["properties"].items()
        exact["properties"] = {name: compared_exactly(part) for name, part in parts}
    elif schema.get("items", {}).get("type") in ("object", "array"):
        exact["items"] = compared_exactly(schema["items"])
    else:
        exact["x-aws-stickler-comparator"] = "ExactComparator"
        exact["x-aws-stickler-threshold"] = 1.0
    return exact


@cache
def models() -> tuple[Any, Any]:
    """Make the models of nested records and of flat ones."""
    from stickler import ComparableField, ExactComparator, StructuredModel

    def exact() -> Any:
        return ComparableField(comparator=ExactComparator(), threshold=1.0, default=None)

    class Customer(StructuredModel):  # type: ignore[misc]
        name: str | None = exact()
        email: str | None = exact()

    class Line(StructuredModel):  # type: ignore[misc]
        sku: str | None = exact()
        text: str | None = exact()
        quantity: int | None = exact()
        price: float | None = exact()

    class Flat(StructuredModel):  # type: ignore[misc]
        id: str | None = exact()
        name: str | None = exact()
        email: str | None = exact()
        sku: str | None = exact()
        text: str | None = exact()
        quantity: int | None = exact()
        price: float | None = exact()
        total: float | None = exact()
        paid: bool | None = exact()
        due: str | None = exact()

    class Record(StructuredModel):  # type: ignore[misc]
        id: str | None = exact()
        customer: Customer | None = None
        lines: list[Line] | None = None
        notes: list[str] | None = exact()
        total: float | None = exact()
        paid: bool | None = exact()
        due: str | None = exact()

    return Record, Flat


def model_for(record: Any) -> Any:
    nested, flat = models()
    return nested if "lines" in record else flat


def openevals(pairs: list[Pair]) -> Callable[[], object]:
    from openevals.json import create_json_match_evaluator

    evaluator = create_json_match_evaluator()
    return lambda: [
        evaluator(outputs=output, reference_outputs=expected) for output, expected, _ in pairs
    ]


def openevals_by_leaf(pairs: list[Pair]) -> Callable[[], object]:
    return openevals([Pair(leaves(output), leaves(expected)) for output, expected, _ in pairs])


def leaves(value: Any, place: str = "") -> dict[str, Any]:
    """Put each leaf under its JSON Pointer; what is empty is one."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    found: dict[str, Any] = {}
    for name, part in parts:
        inner = isinstance(part, (dict, list)) and part
        found.update(leaves(part, f"{place}/{name}") if inner else {f"{place}/{name}": part})
    return found


def autoevals(pairs: list[Pair]) -> Callable[[], object]:
    from autoevals import JSONDiff

    evaluator = JSONDiff()
    return lambda: [evaluator(output, expected=expected) for output, expected, _ in pairs]


def openjudge(pairs: list[Pair]) -> Callable[[], object]:
    from openjudge.graders.format.json.json_match import JsonMatchGrader

    evaluator = JsonMatchGrader(strict_order=True)
    texts = [(json.dumps(output), json.dumps(expected)) for output, expected, _ in pairs]

    async def all_of_them() -> list[Any]:
        return [
            await evaluator.aevaluate(response=output, reference_response=expected)
            for output, expected in texts
        ]

    loop = asyncio.new_event_loop()
    return lambda: loop.run_until_complete(all_of_them())


PEERS = (
    Peer("stickler-eval", "stickler-eval", "each field's score", stickler, by_field=True),
    Peer("openevals, JSON match", "openevals", "each top-level key", openevals),
    Peer(
        "openevals, JSON match",
        "openevals",
        "each leaf, as a key",
        openevals_by_leaf,
        by_field=True,
    ),
    Peer("autoevals, JSONDiff", "autoevals", "one score", autoevals),
    Peer("py-openjudge, JSON match", "py-openjudge", "one score", openjudge),
)


def nested() -> list[Pair]:
    """Make pairs of records with an object and two lists in them."""
    texts = documents.pairs(ROWS, seed=5, defective=0.0, wrong=0.3)
    return [Pair(json.loads(output), json.loads(expected)) for output, expected in texts]


def flat() -> list[Pair]:
    """Make pairs of records of 10 fields, of which every third has a wrong one."""
    found = []
    for number, (output, expected, _) in enumerate(nested()):
        record = {**expected, **expected["customer"], **expected["lines"][0]}
        for name in ("customer", "lines", "notes"):
            del record[name]
        wrong = random.Random(number).choice(sorted(record))
        found.append(Pair({**record, wrong: None} if output != expected else dict(record), record))
    return found


def equal_ones() -> list[Pair]:
    """Return the nested pairs that are equal."""
    return [pair for pair in nested() if pair.output == pair.expected]


def the_others() -> list[Pair]:
    """Return the nested pairs that are not."""
    return [pair for pair in nested() if pair.output != pair.expected]


REAL = pathlib.Path(__file__).parents[2] / "shared/data/sob"


def real() -> list[Pair]:
    """Read what models wrote, every tenth record of each."""
    found = []
    for file in sorted(REAL.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines()[::10]:
            record = json.loads(line)
            try:
                output = json.loads(record["output"])
            except ValueError:
                continue
            if isinstance(output, dict):
                found.append(Pair(output, record["reference"], record["schema"]))
    return found


RECORDS = {
    "nested": nested,
    "nested, the equal ones": equal_ones,
    "nested, the others": the_others,
    "flat": flat,
    **({"real outputs": real} if REAL.is_dir() else {}),
}
PARTS = ("nested, the equal ones", "nested, the others")
OF_KEYS = ("stickler-eval", "openevals")
"""The peers that say more than one score."""


def sizes() -> str:
    """Say how many leaves and keys the records of each kind have, in the mean."""
    of_kinds = []
    for kind, make in RECORDS.items():
        expected = [pair.expected for pair in make()]
        fields = statistics.mean(len(leaves(record)) for record in expected)
        of_kinds.append(f"{kind} {fields:.1f} and {statistics.mean(map(len, expected)):.1f}")
    return f"Mean numbers of leaves and top-level keys of a record: {'; '.join(of_kinds)}."


def beside_the_peers(rounds: int) -> Iterator[str]:
    for kind, make in RECORDS.items():
        pairs = make()
        for evaluator in (JsonFields(), JsonSimilarity()):
            for peer in PEERS:
                says_more = type(evaluator) is JsonFields and peer.package in OF_KEYS
                if kind in PARTS and not says_more:
                    continue
                try:
                    version(peer.package)
                except PackageNotFoundError:
                    continue
                timing = compare(
                    lambda: [evaluator(output, expected) for output, expected, _ in pairs],  # noqa: B023
                    peer.make(pairs),
                    len(pairs),
                    rounds=rounds,
                )
                ours, theirs = statistics.median(timing.ours), statistics.median(timing.theirs)
                has_goal = says_more and peer.by_field
                met = "" if not has_goal else "yes" if timing.ratio >= GOAL else "NO"
                yield (
                    f"| {type(evaluator).__name__} | {kind} | {ours * 1e6:.1f} "
                    f"| {peer.name} ({peer.says}) | {theirs * 1e6:.1f} | {timing.ratio:.1f} "
                    f"| {min(timing.ratios):.1f} to {max(timing.ratios):.1f} "
                    f"| {GOAL if has_goal else ''} | {met} |"
                )


def once(run: Callable[[], object], rounds: int) -> float:
    """Return the median seconds of a call."""
    spent = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def shuffled_records(share: float) -> tuple[list[Any], list[Any]]:
    """Make 1,000 records of 10 fields, and the same shuffled, a share of them with 3 wrong ones."""
    choose = random.Random(1)
    reference = [
        {
            f"field {n}": choose.choice([choose.randrange(10**6), str(choose.random())])
            for n in range(10)
        }
        for _ in range(1_000)
    ]
    output = [dict(each) for each in reference]
    for each in output[: int(1_000 * share)]:
        for name in choose.sample(sorted(each), 3):
            each[name] = "changed"
    choose.shuffle(output)
    return output, reference


def shuffled(rounds: int) -> Iterator[str]:
    evaluator = JsonFields(fields={"": {"order": "any_order"}})
    for share, goal in ((0.0, 0.05), (0.1, 2.0)):
        output, reference = shuffled_records(share)
        taken = once(lambda: evaluator(output, reference), rounds)  # noqa: B023
        met = "yes" if taken < goal else "NO"
        figures = f"{taken * 1e3:.0f} | {goal * 1e3:.0f}"
        yield f"| {share:.0%} of the records differ | {figures} | {met} |"


def records(leaves: int) -> list[dict[str, int]]:
    """Make records of ten fields."""
    return [{f"field {n}": n for n in range(10)} for _ in range(leaves // 10)]


def own_names(leaves: int) -> dict[str, int]:
    """Make an object in which every leaf has a name of its own."""
    return {f"field {n}": n for n in range(leaves)}


def _other_values(document: Any) -> Any:
    return json.loads(json.dumps(document), parse_int=lambda digits: int(digits) + 1)


def _turned(document: dict[str, int]) -> Iterator[tuple[str, int]]:
    return reversed(document.items())


SIZES = (10, 100, 1_000, 10_000, 100_000)
DOCUMENTS: dict[str, tuple[Callable[[int], Any], Callable[[Any], Any]]] = {
    "records of 10 fields": (records, lambda document: document),
    "records, values at fault": (records, _other_values),
    "records as text": (records, json.dumps),
    "an object, each leaf with a name of its own": (own_names, lambda document: document),
    "such an object, values at fault": (own_names, _other_values),
    "such an object in another order": (own_names, lambda document: dict(_turned(document))),
    "such an object as text": (own_names, json.dumps),
}


def per_leaf(rounds: int) -> Iterator[str]:
    """Time documents of more and more leaves, all sizes in turns; the quickest of each counts."""
    for what, (make, other) in DOCUMENTS.items():
        calls = []
        for leaves in SIZES:
            document = make(leaves)
            output = other(document)
            reference = output if isinstance(output, str) else document
            output = output if isinstance(output, str) else json.loads(json.dumps(output))
            calls.append((leaves, partial(JsonFields(), output, reference)))
        taken: dict[int, list[float]] = {leaves: [] for leaves in SIZES}
        for number in range(2 * rounds + 1):
            for leaves, call in calls:
                passes = max(1, 5_000 // leaves)
                spent = once(lambda: [call() for _ in range(passes)], 1)  # noqa: B023
                if number:  # the first round is to warm up
                    taken[leaves].append(spent / passes / leaves)
        least = [min(each) * 1e9 for each in taken.values()]
        times = max(least[1:]) / least[0]
        cells = [f"{each:.0f}" for each in least]
        met = "yes" if times <= 1.1 else "NO"
        yield f"| {what} | {' | '.join(cells)} | {times:.2f} | {met} |"


def table(rounds: int = 7) -> Iterator[str]:
    """Yield the part of RESULTS.md that is about fields, line by line."""
    known = dict.fromkeys(peer.package for peer in PEERS)
    yield "## Fields of an extraction"
    yield ""
    yield ", ".join(f"{name} {version(name)}" for name in known) + "."
    yield sizes()
    yield ""
    columns = (
        "evaluator",
        "records",
        "ours, µs",
        "peer (what it says)",
        "peer, µs",
        "ratio",
        "spread",
    )
    yield "| " + " | ".join([*columns, "goal", "reached"]) + " |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    yield from beside_the_peers(rounds)
    yield ""
    yield "1,000 records of 10 fields, shuffled, compared in any order:"
    yield ""
    yield "| | ours, ms | goal, ms | reached |"
    yield "| --- | --- | --- | --- |"
    yield from shuffled(rounds)
    yield ""
    yield "Nanoseconds per leaf, by the number of leaves of the documents. The goal is at most"
    yield "1.1 times the figure of the smallest documents, which includes the call itself."
    yield ""
    yield f"| documents | {' | '.join(f'{size:,}' for size in SIZES)} | most, times 10 | reached |"
    yield f"| --- |{' --- |' * len(SIZES)} --- | --- |"
    yield from per_leaf(rounds)


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
