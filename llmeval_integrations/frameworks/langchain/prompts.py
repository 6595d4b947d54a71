"""Prompts of LangChain as prompts of ours."""

from __future__ import annotations

from typing import Any, Final

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
    places for messages, images, examples, values that are given already.
    """
    from langchain_core.prompts import BasePromptTemplate, PromptTemplate

    if not isinstance(template, BasePromptTemplate):
        return template
    messages, syntaxes, given = [], set(), dict(template.partial_variables)
    for message in getattr(template, "messages", [template]):
        said = getattr(message, "prompt", message)
        templates = said if isinstance(said, list) else [said]
        role = _ROLES.get(type(message).__name__)
        if role is None or not all(isinstance(each, PromptTemplate) for each in templates):
            raise InvalidOptionError(
                f"prompt: {quote(message)} is no template of text; write a text, or a list of "
                "messages, which are written {'role': ..., 'content': ...}"
            )
        parts = [{"type": "text", "text": each.template} for each in templates]
        messages.append({"role": role, "content": parts[0]["text"] if len(parts) == 1 else parts})
        syntaxes |= {each.template_format for each in templates}
        given |= {
            name: value for each in templates for name, value in each.partial_variables.items()
        }
    if given:
        raise InvalidOptionError(
            f"prompt: {', '.join(given)} is filled in already; write it into the template, or give "
            "it as one of the sample's variables"
        )
    if len(syntaxes) > 1:
        raise InvalidOptionError(f"prompt: {quote(template)} has templates of several formats")
    return Prompt(messages, *syntaxes)
