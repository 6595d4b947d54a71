"""Prompts of LangChain as prompts of ours."""

from __future__ import annotations

from typing import Any, Final

from langchain_core.prompts import BasePromptTemplate, PromptTemplate

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.prompts.prompt import Prompt

_ROLES: Final = {
    "PromptTemplate": "user",
    "HumanMessagePromptTemplate": "user",
    "SystemMessagePromptTemplate": "system",
    "AIMessagePromptTemplate": "assistant",
}


def as_prompt(template: Any) -> Any:
    """Read a prompt of LangChain's; anything else is given back, for a Prompt to read.

    Raises InvalidOptionError for one that is more than templates of text: messages as they stand,
    places for messages, images, values that are given already.
    """
    if not isinstance(template, BasePromptTemplate):
        return template
    messages, syntaxes = [], set()
    for message in getattr(template, "messages", [template]):
        text, role = getattr(message, "prompt", message), _ROLES.get(type(message).__name__)
        if role is None or not isinstance(text, PromptTemplate):
            raise InvalidOptionError(
                f"prompt: {quote(message)} is no template of text; write a text, or a list of "
                "messages, which are written {'role': ..., 'content': ...}"
            )
        given = {**template.partial_variables, **text.partial_variables}
        if given:
            raise InvalidOptionError(
                f"prompt: {', '.join(given)} is filled in already; write it into the template, or "
                "give it as one of the sample's variables"
            )
        messages.append({"role": role, "content": text.template})
        syntaxes.add(text.template_format)
    return Prompt(messages, *syntaxes)
