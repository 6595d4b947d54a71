"""The words of the package `jsonschema` for what violates a schema, found in bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from itertools import count
from typing import Any, Final

from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.json_values.equality import bag
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.schemas.document import matches
from llmeval_integrations.schemas.reading import schema_text

_MAX_STEPS: Final = 20_000
_DECIMAL: Final = "Decimal('"
"""What shows a number beyond a float, which jsonschema takes for no integer and words like this."""

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_FRAMES: Final = 60
"""How deep a stack following a reference takes, amply."""

_steps: ContextVar[Iterator[int]] = ContextVar("steps")


def jsonschema_message(evaluator: JsonSchema, sample: Sample) -> str | None:
    """Ask `jsonschema` for the message of its best error; None where it has none to give."""
    try:
        import jsonschema
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        return None
    given = sample.reference if evaluator.schema is None else evaluator.schema
    lenient = evaluator.parsing == "lenient"
    schema = parse(schema_text(given), "lenient" if lenient else "markdown")
    shown = repr(schema)
    if "patternProperties" in shown or _DECIMAL in shown or shown.count("'$schema'") > 1:
        return None
    draft = f"Draft{str(evaluator.draft).replace('-', '')}Validator"
    kind = getattr(jsonschema, draft, None) or jsonschema.validators.validator_for(schema)
    if isinstance(schema, dict):
        # A $ref back to the root would else make jsonschema go on with its own keywords.
        schema = {key: part for key, part in schema.items() if key != "$schema"}
    formats = kind.FORMAT_CHECKER if evaluator.check_formats else None
    # REGISTRY holds the metaschemas and, unlike the default, fetches nothing.
    validator = _bounded(kind)(schema, registry=REGISTRY, format_checker=formats)
    token = _steps.set(count())
    try:
        value = parse(sample.output, evaluator.parsing)
        if _DECIMAL in repr(value):
            return None
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    except Exception:  # noqa: BLE001
        # The verdict stands. What jsonschema-rs can judge may be too deep, too long or too
        # unusual for jsonschema, which then fails in ways of its own.
        return None
    finally:
        _steps.reset(token)
    return error and str(error.message)


@cache
def _bounded(kind: Any) -> Any:
    """Make a validator class whose keywords take linear time at most, and which counts them."""
    import jsonschema

    keywords = {**kind.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique_items}

    def counted(name: str, keyword: Any) -> Any:
        def check(*arguments: Any) -> Any:
            if next(_steps.get()) >= _MAX_STEPS:
                raise TimeoutError(f"more than {_MAX_STEPS} steps")
            if name in _REFERENCES:
                _need_frames(_FRAMES)
            return keyword(*arguments)

        return check

    counting = {name: counted(name, keyword) for name, keyword in keywords.items()}
    return jsonschema.validators.extend(kind, counting)  # type: ignore[no-untyped-call]


def _need_frames(number: int) -> None:
    """Raise RecursionError where the stack has no room for so many, while that does no harm.

    The registry of references, where it meets one, panics and prints a trace.
    """
    if number:
        _need_frames(number - 1)


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    """Match by the engine that gave the verdict: Python's `re` could backtrack for ever."""
    from jsonschema import ValidationError

    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unique_items(validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """Count items by canonical text: jsonschema compares objects each with each."""
    from jsonschema import ValidationError

    if wanted and validator.is_type(instance, "array") and len(bag(instance)) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")
