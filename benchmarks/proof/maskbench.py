"""MaskBench: every labelled instance."""

from __future__ import annotations

import json
from pathlib import Path

from llmeval_integrations import JsonSchema
from llmeval_integrations.core.errors import EvalError
from proof.part import Part

ORIGIN = (
    "Schemas with labelled instances of guidance-ai/jsonschemabench (MaskBench): "
    "`maskbench/*.jsonl`. Formats are checked."
)


def run(folder: Path) -> Part:
    """Compare JsonSchema with each label."""
    part = Part("MaskBench", ORIGIN, ("label", "instances", "as labelled"))
    paths = sorted(folder.glob("maskbench/*.jsonl"))
    if not paths:
        part.missing = f"no maskbench/*.jsonl in {folder.name}"
    counts = {True: [0, 0], False: [0, 0]}
    for path in paths:
        for line in path.open(encoding="utf-8"):
            record = json.loads(line)
            try:
                evaluator = JsonSchema(record["schema"], check_formats=True)
            except EvalError as error:
                part.records += len(record["tests"])
                part.exceptions += [f"{record['name']}: {error}"] * len(record["tests"])
                continue
            for place, case in enumerate(record["tests"]):
                part.records += 1
                counts[case["valid"]][0] += 1
                result = evaluator(json.dumps(case["data"]))
                counts[case["valid"]][1] += result.passed is case["valid"]
                if result.passed is not case["valid"]:
                    part.exceptions.append(
                        f"{record['name']}, instance {place}, labelled "
                        f"{'valid' if case['valid'] else 'invalid'}: {result.reason}"
                    )
    part.rows = [
        (name, f"{counts[valid][0]:,}", f"{counts[valid][1]:,}")
        for name, valid in (("valid", True), ("invalid", False))
    ]
    return part
