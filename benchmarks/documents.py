"""Seeded documents to measure with: records of 0.2 to 4 kB as models write them, some broken."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

WORDS = [
    "invoice",
    "delivery",
    "steel",
    "cable",
    "winter",
    "panel",
    "amber",
    "report",
    "quarter",
    "margin",
    "service",
    "harbour",
    "payment",
    "order",
    "copper",
    "market",
    "train",
    "river",
    "garden",
    "office",
    "meeting",
    "result",
    "budget",
    "signal",
    "customer",
    "region",
    "estimate",
    "contract",
    "warehouse",
    "season",
    "figure",
    "supplier",
    "machine",
    "paper",
]

SCHEMA = {
    "type": "object",
    "required": ["id", "customer", "lines", "total", "paid"],
    "properties": {
        "id": {"type": "string", "pattern": "^R-[0-9]+$"},
        "customer": {
            "type": "object",
            "required": ["name", "email"],
            "properties": {"name": {"type": "string"}, "email": {"type": "string"}},
        },
        "lines": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["sku", "quantity", "price"],
                "properties": {
                    "sku": {"type": "string", "minLength": 3},
                    "text": {"type": "string"},
                    "quantity": {"type": "integer", "minimum": 1},
                    "price": {"type": "number", "exclusiveMinimum": 0},
                },
            },
        },
        "notes": {"type": "array", "items": {"type": "string"}},
        "total": {"type": "number"},
        "paid": {"type": "boolean"},
        "due": {"type": ["string", "null"]},
    },
}


def record(rng: random.Random, size: int) -> dict[str, Any]:
    """Make a record whose JSON text has about `size` characters."""

    def words(count: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(count))

    value: dict[str, Any] = {
        "id": f"R-{rng.randrange(10**6)}",
        "customer": {"name": words(2).title(), "email": f"{rng.choice(WORDS)}@example.org"},
        "lines": [],
        "notes": [],
        "total": round(rng.uniform(5, 9000), 2),
        "paid": rng.random() < 0.5,
        "due": rng.choice([None, "2026-03-31"]),
    }
    while len(json.dumps(value)) < size:
        value["lines"].append(
            {
                "sku": f"{rng.choice(WORDS)[:3].upper()}-{rng.randrange(1000)}",
                "text": words(rng.randrange(2, 9)),
                "quantity": rng.randrange(1, 40),
                "price": round(rng.uniform(1, 400), 2),
            }
        )
        if rng.random() < 0.4:
            value["notes"].append(words(rng.randrange(3, 15)))
    return value


def text(rng: random.Random, value: Any) -> str:
    """Write a value as models do: mostly indented."""
    return json.dumps(value, indent=rng.choice([None, 2, 2]), ensure_ascii=rng.random() < 0.5)


def broken(rng: random.Random, good: str) -> str:
    """Break a text in one of the ways of models."""
    cut = rng.randrange(len(good) // 2, len(good) - 1)
    return rng.choice(
        [
            good[:cut],
            good[:cut],
            good[:-1] + ",}",
            good.replace('"', "'"),
            f"Here is the record you asked for:\n{good}\nLet me know if anything is missing.",
            good.replace(": ", " ", 1),
            good.replace("false", "False").replace("true", "True").replace("null", "None"),
        ]
    )


def changed(rng: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    """Change one to three values of a record, as a model that misreads does."""
    value = copy.deepcopy(value)
    for _ in range(rng.randrange(1, 4)):
        what = rng.randrange(4)
        if what == 0:
            value["total"] = round(value["total"] + rng.choice([0.01, 10, -1]), 2)
        elif what == 1 and value["lines"]:
            line = rng.choice(value["lines"])
            line["text"] = line["text"].replace(rng.choice(WORDS), "thing")
            line["quantity"] += 1
        elif what == 2 and value["lines"]:
            value["lines"].pop(rng.randrange(len(value["lines"])))
        else:
            value["customer"]["name"] = value["customer"]["name"][::-1]
    return value


def pairs(
    count: int,
    *,
    sizes: tuple[int, int] = (200, 4000),
    defective: float = 0.3,
    wrong: float = 0.0,
    seed: int = 7,
) -> list[tuple[str, str]]:
    """Make outputs with references; a share is not JSON, a share of the rest is wrong.

    References are written on one line, two outputs in three are indented.
    """
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        # As many between 0.2 and 0.4 kB as between 2 and 4.
        reference = record(rng, round(sizes[0] * (sizes[1] / sizes[0]) ** rng.random()))
        value = changed(rng, reference) if rng.random() < wrong else reference
        output = text(rng, value)
        if rng.random() < defective:
            output = broken(rng, output)
        made.append((output, json.dumps(reference)))
    return made


def prose(rng: random.Random, size: int) -> str:
    """Write prose of about `size` characters, with some repetition."""
    sentences: list[str] = []
    while sum(map(len, sentences)) < size:
        again = sentences and rng.random() < 0.2
        words = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(4, 14)))
        sentences.append(rng.choice(sentences) if again else f"{words.capitalize()}. ")
    return "".join(sentences)


LATIN = "bcdfglmnprst", "aeiou"
CYRILLIC = "бвгдзлмнпрст", "аеиоу"


def varied(rng: random.Random, size: int, length: int = 6, letters: tuple[str, str] = LATIN) -> str:
    """Write about `size` characters of invented words, among which next to nothing is repeated."""
    syllables = [first + second for first in letters[0] for second in letters[1]]
    words = size // (length + 1)
    return " ".join("".join(rng.choices(syllables, k=length // 2)) for _ in range(words))


def reasoning(rng: random.Random, size: int, calls: int = 0) -> str:
    """Write thinking in tags of about `size` characters, then an answer or tool calls."""
    if not calls:
        return f"<think>{prose(rng, size - 200)}</think>\n<answer>{prose(rng, 100)}</answer>"
    made = [
        "<tool_call>\n"
        + json.dumps({"name": rng.choice(WORDS), "arguments": {"query": prose(rng, 60)}})
        + "\n</tool_call>"
        for _ in range(calls)
    ]
    return f"<think>{prose(rng, max(size - 140 * calls, 100))}</think>\n" + "\n".join(made)
