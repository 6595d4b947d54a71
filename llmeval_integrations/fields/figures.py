"""What a comparison comes to."""

from __future__ import annotations

from collections import Counter
from typing import Any

from llmeval_integrations.fields.comparison import Comparison
from llmeval_integrations.fields.outcome import Kind


def figures(comparison: Comparison) -> dict[str, Any]:
    """Give the figures of one sample by name, all from 0 to 1, None where there is nothing to take.

    With the values of the output O and of the reference R, paired where they have the same path:
    `precision` is matches / O, `recall` matches / R, `f1` their harmonic mean; `path_precision`,
    `path_recall` and `path_f1` are the same of pairs, whatever their values; `value_accuracy` is
    matches / pairs, `type_accuracy` the share of pairs with the same JSON type. A value is a text,
    number, boolean or null; empty objects and arrays are none, and no weight counts.
    """
    kinds: Counter[Kind] = Counter([outcome.kind for outcome in comparison.outcomes])
    kinds["match"] += sum(comparison.matches.values())
    if comparison.empty:
        kinds.subtract(comparison.empty)
    alone = comparison.one_valued
    match, same_type = kinds["match"], kinds["match"] + kinds["mismatch"]
    pairs = same_type + kinds["wrong_type"] - sum(alone.values())
    output = pairs + kinds["extra"] + alone["output"]
    reference = pairs + kinds["missing"] + alone["reference"]
    return {
        "precision": _share(match, output),
        "recall": _share(match, reference),
        "f1": _share(2 * match, output + reference),
        "path_precision": _share(pairs, output),
        "path_recall": _share(pairs, reference),
        "path_f1": _share(2 * pairs, output + reference),
        "value_accuracy": _share(match, pairs),
        "type_accuracy": _share(same_type, pairs),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
