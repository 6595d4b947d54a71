"""The schema of the demo's invoices, and how their outputs are evaluated."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string", "minLength": 1}
_DATE = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
_AMOUNT = {"type": "number", "minimum": 0}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Invoice",
    **_object(
        {
            "invoice_number": _TEXT,
            "date": _DATE,
            "due_date": _DATE,
            "vendor": _object({"name": _TEXT, "address": _TEXT}),
            "purchase_order": {"type": ["string", "null"]},
            "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "line_items": {
                "type": "array",
                "minItems": 1,
                "items": _object(
                    {
                        "description": _TEXT,
                        "quantity": {"type": "number", "exclusiveMinimum": 0},
                        "unit_price": _AMOUNT,
                        "amount": _AMOUNT,
                    }
                ),
            },
            "subtotal": _AMOUNT,
            "tax": _AMOUNT,
            "total": _AMOUNT,
            "paid": {"type": "boolean"},
        }
    ),
}

EVAL = """\
# llmeval run eval.yaml
# Paths are relative to this file; @file stands for what the file holds.
data: outputs.jsonl

evaluators:
  json_validity: {}
  json_schema: {schema: "@schema.json"}
  json_fields: {schema: "@schema.json", fields: {/line_items: {order: any_order}}}
"""
