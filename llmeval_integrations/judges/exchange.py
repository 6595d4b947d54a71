"""One question to a judge and its answer, asked for once more where it cannot be read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from llmeval_integrations.core.errors import CutReplyError, UnreadableJudgementError
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.prompts.fence import new_fence
from llmeval_integrations.judges.prompts.material import examples, material, quotable
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.llm.messages import Message, Output, Request

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask

T = TypeVar("T")

_MARK: Final = (
    'Give the object one more key, the last one: "mark", with the text "{mark}". It shows that the '
    "object is yours."
)
_WHOLE: Final = "Answer again, in the form asked for."
_NOTHING: Final = "(nothing)"
"""Stands for a reply without text, which some servers refuse in a conversation."""


class Form(ABC, Generic[T]):
    """The form of the answers to one question, and how they are read."""

    name: str
    """What the answer is called on the wire."""

    schema: dict[str, Any] | None
    """The JSON Schema of the answer; None for free text."""

    wording: str = ""
    """What the prompt says of the form at its end."""

    @abstractmethod
    def read(self, reply: str, quotations: Quotations, mark: str, before: str | None) -> T:
        """Read a reply; raises UnreadableJudgementError.

        `before` is the reply that could not be read, where this one answers the second question.
        """

    def again(self, error: Exception) -> tuple[str, dict[str, Any] | None]:
        """Return what a judge is told that gave this error, and the schema of its next answer.

        A verdict is asked for alone: the judge sees its reasons in the reply that it is shown.
        """
        return f"That reply cannot be used: {error}. {_WHOLE}", self.schema


class Exchange(Generic[T]):
    """A prompt that is filled for one sample, and the form of its answer."""

    def __init__(
        self,
        prompt: Prompt,
        variables: Mapping[str, Any],
        form: Form[T],
        *,
        output: Output = "auto",
        temperature: float | None = None,
    ) -> None:
        fence = str(variables.get("fence", ""))
        self._form = form
        self._mark = fence if _takes_mark(form.schema) else ""
        self._quotations = Quotations([*quotable(prompt, variables), *examples(prompt, variables)])
        self._request = Request(
            _append(prompt.render(variables), [form.wording, self._wording()]),
            self._schema(form.schema),
            form.name,
            output,
            temperature,
            fence=fence,
        )

    async def ask(self, ask: Ask, retries: int) -> T:
        """Ask until a reply can be read, up to `retries` times more, then for the verdict alone.

        Raises UnreadableJudgementError for the last reply, and CutReplyError for one that was cut
        before it said what was asked.
        """
        request, before = self._request, None
        for left in range(retries, -1, -1):
            reply = await ask(request, whole=self._form.schema is None)
            try:
                return self._form.read(reply.text, self._quotations, self._mark, before)
            except UnreadableJudgementError as error:
                if reply.finish == "length":
                    raise CutReplyError(
                        "the reply was cut at its limit of tokens, after "
                        f"{reply.usage.output_tokens}; raise max_tokens"
                    ) from error
                if not left:
                    raise
                request = self._again(request, reply.text, error)
                before = reply.text if before is None else before
        raise AssertionError  # the last reply is read or raises

    def _again(self, request: Request, said: str, error: Exception) -> Request:
        """Show the judge its own reply, and ask what it comes to."""
        wording, schema = self._form.again(error)
        if not said.strip():
            said, wording, schema = _NOTHING, f"That reply is empty. {_WHOLE}", self._form.schema
        objection = f"{wording} {self._wording()}".strip()
        messages = (*request.messages, Message("assistant", said), Message("user", objection))
        return msgspec.structs.replace(request, messages=messages, schema=self._schema(schema))

    def _wording(self) -> str:
        return _MARK.format(mark=self._mark) if self._mark else ""

    def _schema(self, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return a schema with the mark, whose value it leaves open: vendors keep schemas."""
        if schema is None or not self._mark:
            return schema
        return {
            **schema,
            "properties": {**schema["properties"], "mark": {"type": "string"}},
            "required": [*schema.get("required", ()), "mark"],
        }


async def ask_judge(
    judge: Any, sample: Sample, ask: Ask, prompt: Prompt, form: Form[T], **background: Any
) -> T:
    """Ask a judge about one sample, by its options `output` and `retries`."""
    variables = {**material(sample, new_fence()), **background}
    exchange = Exchange(prompt, variables, form, output=judge.output)
    return await exchange.ask(ask, judge.retries)


def _takes_mark(schema: dict[str, Any] | None) -> bool:
    """Whether an answer has room for a mark; a form of the caller's may have a `mark` itself."""
    return schema is not None and "mark" not in schema.get("properties", {"mark": None})


def _append(messages: Sequence[Message], wordings: Iterable[str]) -> tuple[Message, ...]:
    """Say something at the end of what the user says."""
    wording = "\n".join(filter(None, wordings))
    *others, last = messages
    if not wording:
        return tuple(messages)
    if last.role != "user":
        return (*messages, Message("user", wording))
    if isinstance(last.content, str):
        return (*others, Message("user", f"{last.content.rstrip()}\n\n{wording}"))
    return (*others, Message("user", (*last.content, wording)))
