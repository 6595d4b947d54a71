"""Made-up data: 60 invoices, and what two prompts extract from them, with models' mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_HERE = Path(__file__).parent

OUTPUTS: Final = _HERE / "outputs.jsonl"
"""A row per invoice: `id`, `input` (its text), `output` of the first prompt, `new_output` of the
new one, `reference`, and what was done to each output: `defect` and `new_defect`, or "none"."""

SCHEMA: Final = _HERE / "schema.json"
"""The JSON Schema, draft 2020-12, of an invoice."""

EVAL: Final = _HERE / "eval.yaml"
"""The evaluation of OUTPUTS, for `llmeval run`."""
