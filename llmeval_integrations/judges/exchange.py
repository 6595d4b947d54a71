"""One question to a judge and its answer, asked once more if the answer cannot be read."""

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
from llmeval_integrations.judges.prompts.prompt import Prompt, as_text
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
    """A judge that asks one model and reads the answers in one form."""

    output: Output = field(default="auto", kw_only=True)
    """How the form of the reply is requested; "text" for models without structured output."""

    retries: int = field(default=1, kw_only=True)
    """How often the judge is shown an unreadable reply and asked for its verdict again."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self, "output", OUTPUTS)
        check_number(self, "retries", minimum=0, whole=True)

    def _set_prompt(self, template: Any) -> None:
        """Make a Prompt of a template; raises InvalidOptionError for one without the sample."""
        prompt = Prompt(template)
        if not {*prompt.variables} - {"question", "role", "fence"}:
            raise InvalidOptionError(
                f"{self.name}: the prompt shows the judge nothing of the sample; write {{output}} "
                "where the output belongs"
            )
        object.__setattr__(self, "prompt", prompt)

    async def exchange(
        self, ask: Ask, prompt: Prompt, form: Form[T], variables: Mapping[str, Any]
    ) -> T:
        """Send a prompt, after labelled samples, to the model, and read the answer."""
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
    """Ask, and up to `retries` times more for the verdict alone if the reply cannot be read.

    Raises UnreadableJudgementError for the last reply, and CutReplyError if the reply was cut
    before its verdict.
    """
    request = Request(tuple(messages), form.schema, form.name, output, fence=quotations.mark)
    asked = _ask_for(request, form.wording, form.schema, quotations.mark)
    before = ""
    while True:
        reply = await ask(asked, whole=form.schema is None)
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
            wording, schema = form.follow_up(error)
        said = reply.text.strip()
        if not said:  # some servers refuse an empty text in a conversation
            said = "(nothing)"
            wording, schema = "That reply is empty. Answer in the form asked for.", form.schema
        messages = (*asked.messages, Message("assistant", said))
        request = msgspec.structs.replace(asked, messages=messages)
        asked = _ask_for(request, wording, schema, quotations.mark)
        retries -= 1
        before = before or reply.text.replace(quotations.mark, "")


def _ask_for(request: Request, wording: str, schema: Schema | None, mark: str) -> Request:
    """Ask for a form at the end of a request, and for the mark unless the form has its own."""
    if mark and schema and "mark" not in schema.get("properties", ("mark",)):
        wording = f"{wording}\n{_MARK.format(mark=mark)}".strip()
        # The schema leaves the mark's value open, because vendors compile and cache each schema.
        properties = {**schema["properties"], "mark": {"type": "string"}}
        required = [*schema.get("required", ()), "mark"]
        schema = {**schema, "properties": properties, "required": required}
    *others, last = request.messages
    if wording and last.role != "user":
        others, last = [*others, last], Message("user", wording)
    elif wording:
        text = last.content
        whole = f"{text.rstrip()}\n\n{wording}" if isinstance(text, str) else (*text, wording)
        last = Message("user", whole)
    return msgspec.structs.replace(request, messages=(*others, last), schema=schema)
