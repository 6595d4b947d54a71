"""Prompts of LlamaIndex, and ours."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.prompts.prompt import Prompt


def as_template(prompt: Prompt) -> BasePromptTemplate:
    """Write a prompt as LlamaIndex does."""
    if isinstance(prompt.template, str):
        return PromptTemplate(prompt.template)
    messages = [ChatMessage(role=message.role, content=message.text) for message in prompt.messages]
    return ChatPromptTemplate(messages)


def as_prompt(template: Any) -> Prompt:
    """Read a prompt of LlamaIndex's; anything else is what a Prompt is made of."""
    if isinstance(template, ChatPromptTemplate):
        given = template.message_templates
        return Prompt([{"role": each.role.value, "content": each.content or ""} for each in given])
    if isinstance(template, BasePromptTemplate):
        template = getattr(template, "template", None) or getattr(template, "template_str", None)
        if not isinstance(template, str):
            raise InvalidOptionError(f"{quote(template)} has no template to be read")
    return Prompt.of(template)
