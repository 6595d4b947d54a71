"""Answers in a type of the caller's: text, or a pydantic model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.llm.messages import OUTPUTS, Request, as_messages
from llmeval_integrations.llm.thinking import without_thinking

if TYPE_CHECKING:
    from llmeval_integrations.llm.client import Client


async def answer(client: Client, prompt: Any, result_type: Any, **settings: Any) -> Any:
    """Ask once and give the answer in the type asked for; text is given whole, thinking and all.

    Settings are fields of Request. Raises InvalidOptionError, and UnreadableJudgementError for an
    answer of another form.
    """
    from llmeval_integrations.llm.session import Ask, Session

    check_type(result_type)
    messages = as_messages(prompt)
    request = Request(messages, schema_of(result_type), name_of(result_type), **settings)
    _check_settings(request)
    reply = await Ask(Session(), client)(request)
    return read_answer(result_type, reply.text)


def _check_settings(request: Request) -> None:
    """Raise for what no server takes, so that the mistake is named where it is made."""
    output, temperature, limit = request.output, request.temperature, request.max_tokens
    if output not in OUTPUTS:
        raise InvalidOptionError(f"output={quote(output)} is not one of {', '.join(OUTPUTS)}")
    if temperature is not None and not (is_number(temperature) and 0 <= temperature <= 2):
        raise InvalidOptionError(
            f"temperature={quote(temperature)} is not a number from 0 to 2, or None"
        )
    if limit is not None and not (isinstance(limit, int) and is_number(limit) and limit >= 1):
        raise InvalidOptionError(f"max_tokens={quote(limit)} is not a whole number from 1, or None")


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
    """Return what the answer is called on the wire: letters, digits and lines, at most 64."""
    name = "".join(letter if letter.isalnum() else "_" for letter in result_type.__name__)
    return name.encode("ascii", "ignore").decode()[:64] or "answer"


def read_answer(result_type: Any, text: str) -> Any:
    """Read a reply as an object of the type, behind the model's thinking; text is given whole.

    Raises UnreadableJudgementError.
    """
    if result_type is str:
        return text
    text = without_thinking(text)
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
            f"the reply is no {result_type.__name__}: {words}"
        ) from error
