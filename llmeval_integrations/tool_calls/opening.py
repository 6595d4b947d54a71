"""Looking for calls in what is not JSON as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import parse

_LEVELS: Final = 16
"""How deep a call's arguments may stand in responses, messages and blocks, and some more."""


def opened(value: Any, levels: int = _LEVELS) -> Any:
    """Return lists and objects as JSON has them, whatever else is in them.

    An object whose keys are not all texts is a Defect. What is deeper stays as it is.
    """
    if hasattr(type(value), "model_dump"):
        value = _dumped(value)
    if not levels:
        return value
    if isinstance(value, (list, tuple)):
        return [opened(item, levels - 1) for item in value]
    if not isinstance(value, Mapping):
        return value
    if not all(isinstance(key, str) for key in value):
        return Defect("not_json", "Keys have to be texts")
    return {key: opened(item, levels - 1) for key, item in value.items()}


def _dumped(model: Any) -> Any:
    """Return what a Pydantic model dumps: as JSON, else with the objects that are in it."""
    dumped = parse(model)
    if not isinstance(dumped, Defect):
        return dumped
    for dump in (partial(model.model_dump, mode="json"), model.model_dump):
        with suppress(Exception):  # the model's own code may raise anything
            return dump()
    return vars(model)
