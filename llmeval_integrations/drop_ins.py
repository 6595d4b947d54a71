"""What makes an evaluator give what LangChain's class of that job gives."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.catalog import load_evaluator
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.json_value import python_canonical

DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "json_validity": {},
    "json_equality": {"list_order": "top_level_any"},
    "json_edit_distance": {"canonicalize": python_canonical},
    "json_schema": {},
}
"""The options in which the drop-ins of any framework differ from the evaluator of that name."""


def load_drop_in(name: str, **options: Any) -> Evaluator:
    """Build an evaluator with LangChain's defaults; None stands for a default, as there.

    Raises InvalidOptionError for an option that it does not have.
    """
    given = {option: value for option, value in options.items() if value is not None}
    return load_evaluator(name, **{**DEFAULTS[name], **given})
