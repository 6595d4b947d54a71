"""The message for a violation that LangChain's evaluator of schemas gives: that of `jsonschema`."""

from __future__ import annotations

import re
from typing import Final

from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_evaluator import read
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.json_values.limits import measure
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.schemas.parse import schema_text

_MOST_LEVELS: Final = 8
"""Levels of a value; in a recursive schema, each level may take `jsonschema` twice as long."""

_MOST_CHARACTERS: Final = 10_000
"""Size of a value; for `uniqueItems`, `jsonschema` compares each item with each."""


def best_message(evaluator: JsonSchema, sample: Sample) -> str | None:
    """Return the message of `jsonschema` for an output that does not conform.

    None if the package is not installed, fails, or could take very long.
    """
    try:
        import jsonschema
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        return None
    schemas = (evaluator.schema, sample.schema, sample.reference)
    given = next(schema for schema in schemas if schema is not None and schema is not MISSING)
    schema = parse(schema_text(given), "lenient" if evaluator.parsing == "lenient" else "markdown")
    value = read(sample, "output", evaluator.parsing)
    text = repr(schema)
    # Patterns would be matched by `re`, which may never end; numbers beyond a float are Decimals.
    if (
        measure(value).levels > _MOST_LEVELS
        or len(repr(value)) > _MOST_CHARACTERS
        or re.search("'pattern(Properties)?'", text)
        or "Decimal('" in repr(value) + text
    ):
        return None
    draft = f"Draft{str(evaluator.draft).replace('-', '')}Validator"
    kind = getattr(jsonschema, draft, None) or jsonschema.validators.validator_for(schema)
    if isinstance(schema, dict):
        # With `$schema`, a $ref to the root would switch to the keywords of that draft.
        schema = {key: part for key, part in schema.items() if key != "$schema"}
    formats = kind.FORMAT_CHECKER if evaluator.check_formats else None
    try:
        # Unlike the default, REGISTRY fetches nothing. It contains the metaschemas.
        validator = kind(schema, registry=REGISTRY, format_checker=formats)
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    except Exception:  # noqa: BLE001 - the verdict stands; jsonschema may raise anything
        return None
    return error and str(error.message)
