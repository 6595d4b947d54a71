"""Made-up outputs of an invoice-extraction prompt, 200 of them, with the defects models make."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_HERE = Path(__file__).parent

OUTPUTS: Final = _HERE / "outputs.jsonl"
"""A row per output: `id`, `input` (the prompt), `output`, `reference`, and `defect`, which says
what was done to the output, "none" where it is right."""

SCHEMA: Final = _HERE / "schema.json"
"""The JSON Schema, draft 2020-12, that the prompt asks for."""

EVAL: Final = _HERE / "eval.yaml"
"""The evaluation of OUTPUTS, for `llmeval run`."""
