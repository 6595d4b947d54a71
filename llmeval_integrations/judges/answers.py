"""Answers of a model outside of any judge: texts, or instances of pydantic models."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.judges.evaluator import ask_in_form
from llmeval_integrations.judges.forms import form_of
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.loop import join, start, wait
from llmeval_integrations.llm.messages import Request
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
    form = form_of(result_type)
    client = load_client(model)
    client.check()
    request = Request.of(prompt, schema_name=form.name, **settings)
    return await ask_in_form(Ask(Session(), client), request, form, retries=0)
