"""The rows of the Structured Output Benchmark's table, from outputs of its models.

    llmeval run gpt-oss.jsonl -e json_validity:parsing=strict \
        -e 'json_fields:schema=false,parsing=strict,nulls=values,defaults={"order":"ordered"}' \
        -e json_schema:parsing=strict,draft=7 --out runs/gpt-oss
    python examples/structured_output_benchmark.py runs/*

A record has `id`, `output`, `reference` and its own `schema`. The benchmark counts a record only
where the output is JSON and complies with its schema, and multiplies the share of right values by
min(1, (F / 0.9)²), F being the F1 of the paths. Intervals are of 95 %: Wilson's for shares of
records, else of the mean (normal).
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from llmeval_integrations.stats.intervals import wilson

COLUMNS = ("hier_path_recall", "path_set_f1", "leaf_value_em")


def read_run(folder: Path) -> dict[Any, dict[str, dict[str, Any]]]:
    """Read a run's rows: `{sample: {evaluator: row}}`."""
    rows: defaultdict[Any, dict[str, dict[str, Any]]] = defaultdict(dict)
    with (folder / "results.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows[row["id"]][row["evaluator"]] = row
    return rows


def figures(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Give the benchmark's figures of one record."""
    if not (rows["json_validity"]["passed"] and rows["json_schema"]["passed"]):
        return dict.fromkeys(COLUMNS, 0.0)
    found = rows["json_fields"]["metadata"]
    kinds = sum(map(Counter, found["fields"].values()), Counter[str]())
    alone = sum("alone" in outcome for outcome in found["outcomes"])
    pairs = kinds["match"] + kinds["mismatch"] + kinds["wrong_type"] - alone
    output, reference = found["output_leaves"], found["reference_leaves"]
    path_f1 = 2 * pairs / (output + reference)
    covered = min(1.0, (path_f1 / 0.90) ** 2)
    return dict(zip(COLUMNS, (pairs / reference, path_f1, found["recall"] * covered)))


def mean_with_interval(values: list[float]) -> str:
    """Write a mean and its interval in per cent."""
    mean, half = fmean(values), 1.96 * stdev(values) / sqrt(len(values))
    return f"{100 * mean:.1f} ({100 * (mean - half):.1f} to {100 * (mean + half):.1f})"


def share_with_interval(values: list[bool]) -> str:
    """Write a share and its interval in per cent."""
    low, high = wilson(sum(values), len(values)) or (0.0, 0.0)
    return f"{100 * fmean(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def table(folders: Iterable[Path]) -> Iterable[str]:
    """Yield the rows of the table, one for each run."""
    names = ("json_parse_success", "schema_compliance", *COLUMNS, "perfect")
    yield "| " + " | ".join(["model", *names]) + " |"
    yield "| --- " * (len(names) + 1) + "|"
    for folder in folders:
        records = list(read_run(folder).values())
        measured = list(map(figures, records))
        cells = [
            share_with_interval([rows["json_validity"]["passed"] for rows in records]),
            share_with_interval([rows["json_schema"]["passed"] is True for rows in records]),
            *(mean_with_interval([one[name] for one in measured]) for name in COLUMNS),
            share_with_interval([rows["json_fields"]["metadata"]["perfect"] for rows in records]),
        ]
        yield "| " + " | ".join([folder.name, *cells]) + " |"


if __name__ == "__main__":
    for line in table(map(Path, sys.argv[1:])):
        sys.stdout.write(line + "\n")
