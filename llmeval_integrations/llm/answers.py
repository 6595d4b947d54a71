"""Answers in a type of the caller's: text, or a pydantic model."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.llm.thoughts import strip_reasoning


def check_type(result_type: Any) -> None:
    """Raise InvalidOptionError unless answers can be of this type."""
    if result_type is not str and not hasattr(result_type, "model_json_schema"):
        raise InvalidOptionError(
            f"result_type={quote(result_type)} is neither str nor a pydantic model's class"
        )


def schema_of(result_type: Any) -> dict[str, Any] | None:
    """Return the JSON schema of a type; None for text."""
    return None if result_type is str else result_type.model_json_schema()


def name_of(result_type: Any) -> str:
    """Return the answer's name in the call: at most 64 letters, digits and underscores."""
    name = "".join(letter if letter.isalnum() else "_" for letter in result_type.__name__)
    return name.encode("ascii", "ignore").decode()[:64] or "answer"


def read_answer(result_type: Any, text: str) -> Any:
    """Read a reply as an object of the type.

    The model's reasoning is removed first, except from an answer of the type str, which is
    returned unchanged. Raises UnreadableJudgementError.
    """
    if result_type is str:
        return text
    text = strip_reasoning(text)
    value = json_text.parse(text)
    if isinstance(value, Defect):
        raise UnreadableJudgementError(
            f"the reply is not JSON ({value.name}): {value.reason}; it begins {quote(text)}"
        )
    from pydantic import ValidationError

    try:
        return result_type.model_validate(value)
    except ValidationError as error:
        findings = error.errors(include_url=False, include_context=False)
        words = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in findings)
        raise UnreadableJudgementError(
            f"the reply is not a valid {result_type.__name__}: {words}"
        ) from error
