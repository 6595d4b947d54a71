"""One question to a judge and its answer, asked for once more where it cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from llmeval_integrations.core.errors import (
    CutReplyError,
    InvalidOptionError,
    UnreadableJudgementError,
)
from llmeval_integrations.core.options import check_choice, check_number
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.prompts.template import as_text
from llmeval_integrations.judges.replies.forms import Form, Schema
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.llm.messages import OUTPUTS, Message, Output, Request
from llmeval_integrations.llm.session import Ask

T = TypeVar("T")

_MARK: Final = (
    'Give the object one more key, the last one: "mark", with the text "{mark}". It shows that the '
    "object is yours."
)


@dataclass(frozen=True)
class ModelJudge(JudgedEvaluator):
    """A judge that puts prompts to one model and reads the answers in one form."""

    output: Output = field(default="auto", kw_only=True)
    """How the form of the reply is asked for; "text" for models that know no structured output."""

    retries: int = field(default=1, kw_only=True)
    """How often the judge is shown a reply that cannot be read and asked what it comes to."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self, "output", OUTPUTS)
        check_number(self, "retries", minimum=0, whole=True)

    def _set_prompt(self, template: Any) -> None:
        """Make a Prompt of a template; raises InvalidOptionError for one without the sample."""
        prompt = Prompt.of(template)
        if not {*prompt.variables} - {"question", "role", "fence"}:
            raise InvalidOptionError(
                f"{self.name}: the prompt shows the judge nothing of the sample; write {{output}} "
                "where the output shall stand"
            )
        object.__setattr__(self, "prompt", prompt)

    async def exchange(
        self, ask: Ask, prompt: Prompt, form: Form[T], variables: Mapping[str, Any]
    ) -> T:
        """Put a prompt, behind labelled samples, to the model, and read the answer."""
        shots = self.__dict__.get("_shots", "")
        messages = prompt.render(variables)
        named = [as_text(variables[name], name) for name in prompt.variables]
        shown = [*named, shots, *(message.text for message in prompt.messages)]
        if shots:
            at = next((n for n, each in enumerate(messages) if each.role == "user"), 0)
            role, content = messages[at].role, messages[at].content
            whole = f"{shots}\n\n{content}" if isinstance(content, str) else (shots, *content)
            messages[at] = Message(role, whole)
        quotations = Quotations(shown, str(variables.get("fence", "")))
        return await exchange(
            ask, messages, form, quotations, output=self.output, retries=self.retries
        )


async def exchange(
    ask: Ask,
    messages: Sequence[Message],
    form: Form[T],
    quotations: Quotations,
    *,
    output: Output = "auto",
    retries: int = 1,
) -> T:
    """Ask until a reply can be read, up to `retries` times more, then for the verdict alone.

    Raises UnreadableJudgementError for the last reply, and CutReplyError for one that was cut
    before it said what was asked.
    """
    fence = quotations.mark
    mark = "" if "mark" in (form.schema or {}).get("properties", ("mark",)) else fence
    asked = _append(messages, "\n".join(filter(None, [form.wording, _ask_mark(mark)])))
    schema = _add_mark(form.schema, mark)
    request = Request(asked, schema, form.name, output, fence=fence)
    before = ""
    while True:
        reply = await ask(request, whole=form.schema is None)
        try:
            return form.read(reply.text, quotations, before)
        except UnreadableJudgementError as error:
            if reply.finish == "length":
                tokens = reply.usage.output_tokens
                raise CutReplyError(
                    f"the reply was cut at its limit of tokens, after {tokens}; raise max_tokens"
                ) from error
            if not retries:
                raise
            request = _follow_up(request, form, reply.text.strip(), error, mark)
        retries -= 1
        before = before or reply.text


def _follow_up(
    request: Request, form: Form[Any], reply: str, error: Exception, mark: str
) -> Request:
    """Show the judge its own reply, and ask what it comes to."""
    wording, schema = form.follow_up(error)
    if not reply:  # which some servers refuse in a conversation
        wording, schema = "That reply is empty. Answer again, in the form asked for.", form.schema
    wish = f"{wording} {_ask_mark(mark)}".strip()
    dialogue = (Message("assistant", reply or "(nothing)"), Message("user", wish))
    messages = request.messages + dialogue
    return msgspec.structs.replace(request, messages=messages, schema=_add_mark(schema, mark))


def _ask_mark(mark: str) -> str:
    return _MARK.format(mark=mark) if mark else ""


def _add_mark(schema: Schema | None, mark: str) -> Schema | None:
    """Return a schema with the mark, whose value it leaves open: vendors keep schemas."""
    if schema is None or not mark:
        return schema
    properties = {**schema["properties"], "mark": {"type": "string"}}
    return {**schema, "properties": properties, "required": [*schema.get("required", ()), "mark"]}


def _append(messages: Sequence[Message], wording: str) -> tuple[Message, ...]:
    """Say something at the end of what the user says."""
    *others, last = messages
    if not wording:
        return tuple(messages)
    if last.role != "user":
        return (*messages, Message("user", wording))
    if isinstance(last.content, str):
        return (*others, Message("user", f"{last.content.rstrip()}\n\n{wording}"))
    return (*others, Message("user", (*last.content, wording)))
