"""What a judge is shown of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.judges.prompts.fence import fenced
from llmeval_integrations.judges.prompts.prompt import Prompt, parts_of
from llmeval_integrations.judges.prompts.values import as_text
from llmeval_integrations.messages.reading import find_messages, read_answer
from llmeval_integrations.tool_calls.read import read_calls

_MASK: Final = "\ufffc"
"""Stands for a text of the sample where the prompt's own text is wanted."""
FIELDS: Final = ("input", "reference", "contexts")
"""The sample's fields that prompts may name beside the output and the sample's own variables."""
_OURS: Final = frozenset(("question", "questions", "role", "fence"))
_FOREIGN: Final = (*FIELDS, "output", "fence", "instruction", "documents", "reference_text")


def check_names(name: str, prompt: Prompt) -> None:
    """Raise InvalidOptionError for a prompt that would say the same of every sample."""
    if not prompt.variables:
        raise InvalidOptionError(
            f"{name}: the prompt shows the judge nothing of the sample; write {{output}} where the "
            "output shall stand"
        )


def material(sample: Sample, fence: str) -> dict[str, Any]:
    """Return a prompt's variables: the sample's own, its fields, its output between marks."""
    variables = sample.variables
    if variables is MISSING or variables is None:
        variables = {}
    if not isinstance(variables, Mapping):
        raise InputError(f"variables={quote(variables)} is not a mapping from names to values")
    fields = {name: getattr(sample, name) for name in FIELDS}
    present = {name: value for name, value in fields.items() if value is not MISSING}
    output = fenced("output", output_text(sample), fence)
    return {**variables, **present, "output": output, "fence": fence}


def output_text(sample: Sample) -> str:
    """Return the output as a judge is shown it: its text, else the messages that call tools."""
    output = sample.output
    found = None if isinstance(output, str) else find_messages(output)
    if found is None:
        return as_text("" if output is None else output, "output")
    value = read_answer(found).value
    if value == "" and read_calls([*found.items]):
        return as_text([*found.items], "output")
    return as_text(value, "output")


def background(sample: Sample, instruction: str | None) -> dict[str, str]:
    """Return what the writer had, as our own prompts show it; the instruction stands for the input.

    What is absent is an empty text, and left out of the prompt. What is there and empty says so:
    a judge that is shown no documents would guess what they say.
    """
    told = documents = reference = ""
    asked = sample.input if instruction is None else instruction
    if asked is not MISSING and asked is not None:
        told = as_text(asked, "input") or "(empty)"
    if sample.contexts is not MISSING and sample.contexts is not None:
        documents = _numbered(sample.contexts) or "(none)"
    if sample.reference is not MISSING:
        reference = as_text(sample.reference, "reference") or "(empty)"
    return {"instruction": told, "documents": documents, "reference_text": reference}


def quotable(prompt: Prompt, variables: Mapping[str, Any]) -> list[str]:
    """Return the texts of others that a judge is shown, which its reply may quote."""
    foreign = {name: value for name, value in variables.items() if name not in _OURS}
    return [
        value if isinstance(value, str) else as_text(value, name)
        for name, value in foreign.items()
        if isinstance(value, str) or name in prompt.variables
    ]


def examples(prompt: Prompt, variables: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the prompt says by itself, the sample's fields left out where they are text."""
    left_out = {
        name: _MASK
        for name in _FOREIGN
        if isinstance(value := variables.get(name), str) and value.strip()
    }
    own = {**variables, **left_out}
    if all(isinstance(value, str) for value in own.values()):
        return _said_of_few(prompt, tuple(own.items()))
    return _said(prompt, tuple(own.items()))


def _said(prompt: Prompt, variables: tuple[tuple[str, Any], ...]) -> tuple[str, ...]:
    messages = prompt.render(dict(variables))
    return tuple(text for message in messages for text in parts_of(message))


_said_of_few = lru_cache(maxsize=32)(_said)  # the same few questions are put to all samples


def _numbered(contexts: Any) -> str:
    if isinstance(contexts, str) or not isinstance(contexts, Sequence):
        return as_text(contexts, "contexts")
    texts = (as_text(text, "contexts") for text in contexts)
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))
