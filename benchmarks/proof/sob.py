"""The Structured Output Benchmark: every published figure of every record."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from llmeval_integrations import JsonEquality, JsonFields, JsonSchema, JsonValidity
from proof.part import Part

ORIGIN = (
    "Outputs of models on the image part of JigsawStack/sob (MIT licence), with the benchmark's "
    "own figures: `sob/*.jsonl`."
)
FIGURES = (
    "json_parse_success",
    "schema_compliance",
    "type_precision",
    "required_key_recall",
    "hier_path_recall",
    "path_set_f1",
    "leaf_value_em",
    "strict_json_em",
)
VALID = JsonValidity(parsing="strict")
EQUAL = JsonEquality(parsing="strict")
FIELDS = JsonFields(
    schema=False, defaults={"order": "ordered"}, nulls="values", empty="absent", parsing="strict"
)
"""As the benchmark counts: by position, null as a value, whatever the schema says."""


def figures(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the benchmark's figures of a record, out of our results."""
    output, schema = record["output"], record["schema"]
    if not VALID(output).passed:
        return dict.fromkeys(FIGURES, 0.0)
    complies = JsonSchema(schema, parsing="strict", draft="7")(output).passed
    paths = [*_required(schema, json.loads(output))]
    found = dict.fromkeys(FIGURES, 0.0)
    found["json_parse_success"] = 1.0
    found["required_key_recall"] = fmean(paths) if paths else 1.0
    if not complies:
        return found
    metadata = FIELDS(output, record["reference"]).metadata
    kinds: Counter[str] = sum(map(Counter, metadata["fields"].values()), Counter())
    alone = sum("alone" in outcome for outcome in metadata["outcomes"])
    pairs = kinds["match"] + kinds["mismatch"] + kinds["wrong_type"] - alone
    path_f1 = 2 * pairs / (metadata["output_leaves"] + metadata["reference_leaves"])
    return found | {
        "schema_compliance": 1.0,
        "type_precision": 1.0,
        "hier_path_recall": pairs / metadata["reference_leaves"],
        "path_set_f1": path_f1,
        "leaf_value_em": metadata["recall"] * min(1.0, (path_f1 / 0.90) ** 2),
        "strict_json_em": float(EQUAL(output, record["reference"]).score or 0),
    }


def _required(schema: Mapping[str, Any], value: Any) -> Iterator[bool]:
    """Yield for each required path of objects within objects whether the value has it."""
    for name in schema.get("required", ()):
        has = isinstance(value, dict) and name in value
        yield has
        yield from _required(
            schema.get("properties", {}).get(name, {}), value[name] if has else None
        )


def run(folder: Path) -> Part:
    """Compare all figures of all records."""
    part = Part("Structured Output Benchmark", ORIGIN, ("model", "records", *FIGURES))
    paths = sorted(folder.glob("sob/*.jsonl"))
    if not paths:
        part.missing = f"no sob/*.jsonl in {folder.name}"
    for path in paths:
        ours = []
        records = [json.loads(line) for line in path.open(encoding="utf-8")]
        for record in records:
            ours.append(figures(record))
            for name, figure in ours[-1].items():
                part.records += 1
                published = record["published"][name]
                if not math.isclose(figure, published, rel_tol=1e-12):
                    part.exceptions.append(
                        f"{path.stem}, {record['id']}, {name}: {figure:g}, published {published:g}"
                        + ("; 1 and 1.0 are the same number in JSON" * (name == "strict_json_em"))
                    )
        means = [_beside(fmean(each[name] for each in ours), records, name) for name in FIGURES]
        part.rows.append((path.stem, str(len(records)), *means))
    return part


def _beside(ours: float, records: list[Any], name: str) -> str:
    published = fmean(record["published"][name] for record in records)
    return f"{100 * ours:.1f} ({100 * published:.1f})"
