"""Answers of a model outside of any judge: texts, or instances of pydantic models."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.loop import join, start, wait
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import strip_reasoning
from llmeval_integrations.llm.session import Ask, Session


def ask(model: Any, prompt: Any, result_type: Any = str, **settings: Any) -> Any:
    """Ask a model once and return its answer: a text, or an instance of a pydantic model.

    Example:
        class Rating(pydantic.BaseModel):
            stars: int

        ask("openai:gpt-5-mini", "How many stars does the Ritz have?", Rating).stars

    Args:
        model: Whatever `load_client` accepts.
        prompt: A text or a list of messages, which may have images.
        result_type: `str`, or the class of a pydantic model.
        settings: Fields of Request, such as `temperature=0.5`.

    Raises:
        InvalidOptionError: For a wrong argument, and if the model needs a key and has none.
        JudgeError: If there is no answer of that type.
    """
    return wait(start(_answer(model, prompt, result_type, settings)))


async def aask(model: Any, prompt: Any, result_type: Any = str, **settings: Any) -> Any:
    """Ask as `ask` does, without blocking the event loop."""
    return await join(_answer(model, prompt, result_type, settings))


async def _answer(model: Any, prompt: Any, result_type: Any, settings: dict[str, Any]) -> Any:
    """Ask, and read the reply without the model's reasoning; a text is returned unchanged."""
    check_type(result_type)
    client = load_client(model)
    client.check()
    form = {"schema": schema_of(result_type), "schema_name": name_of(result_type)}
    reply = await Ask(Session(), client)(Request.of(prompt, **form, **settings))
    if result_type is str:
        return reply.text
    text = strip_reasoning(reply.text)
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
