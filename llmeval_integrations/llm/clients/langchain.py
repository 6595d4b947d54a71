"""LangChain's chat models, of all vendors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any, Final

from llmeval_integrations.core.errors import ClientError, InvalidOptionError, JudgeError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply, Usage, text_or_calls
from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.sdks.dialects import finish_of, usage_of, value_of
from llmeval_integrations.llm.sdks.in_words import messages_in_words
from llmeval_integrations.llm.sdks.model_client import Asked, ModelClient, conversation
from llmeval_integrations.llm.sdks.sdk_client import SdkClient
from llmeval_integrations.llm.sdks.strict_schema import strict_schema
from llmeval_integrations.llm.steps import Steps

_METHODS: Final = {"json_schema": "json_schema", "tool": "function_calling"}
_REASONS: Final = ("finish_reason", "stop_reason", "done_reason", "stopReason", "status")


class LangChainClient(ModelClient):
    """A LangChain chat model, also one with arguments or a configuration bound to it.

    The form of an answer is asked for by the model's `with_structured_output`, first by a schema,
    then by a function; by words where the model has neither. Options are further arguments of
    `invoke`.
    """

    takes = "langchain_core"
    vendors = re.compile("langchain_(?!core)([a-z]+)")

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        from langchain_core.language_models import BaseLanguageModel

        model = _inside(thing)
        if not isinstance(model, BaseLanguageModel):
            raise InvalidOptionError(
                f"client={quote(thing)} cannot be asked; expected a chat model of LangChain"
            )
        name = value_of(model, "model_name", "model", "model_id", "deployment_name")
        return cls(cls.about(model, name, options), thing)

    @property
    def model(self) -> Any:
        return _inside(self.given)

    def replaced(self, model: Any) -> Any:
        return _with_inside(self.given, model)

    def with_config(self, config: Mapping[str, Any]) -> LangChainClient:
        """Return a client whose calls have this RunnableConfig: callbacks, tags, metadata."""
        return type(self)(self.config, self.given.with_config(config))

    def method(self, sdk: Asked, *, asynchronous: bool) -> Callable[..., Any]:
        return partial(self._invoke, sdk, "ainvoke" if asynchronous else "invoke")

    def _invoke(
        self,
        sdk: Asked,
        method: str,
        *,
        temperature: float | None,
        max_tokens: int | None,
        form: tuple[JudgeRequest, Output] | None,
        **arguments: Any,
    ) -> Any:
        model = sdk.model(temperature, max_tokens)
        asked = self.replaced(model if form is None else _formed(model, *form))
        return getattr(asked, method)(**arguments)

    def arguments(self, request: JudgeRequest, output: Output) -> dict[str, Any]:
        messages = messages_in_words(request) if output == "json" else request.messages
        has_form = request.schema is not None and output in _METHODS
        return {
            **self.settings(request),
            "form": (request, output) if has_form else None,
            "input": [_message(message) for message in conversation(messages)],
            **self.config.options,
        }

    def read(self, response: Any, output: Output) -> JudgeReply:
        message = response["raw"] if isinstance(response, dict) else response
        if isinstance(message, str):  # a model that completes text
            return JudgeReply(message, model=self.config.name, output=output)
        told = message.response_metadata
        reason = value_of(told.get("incomplete_details"), "reason") or value_of(told, *_REASONS)
        refusal = _refusal(message)
        calls = _calls(message) if output in _METHODS else []
        usage = message.usage_metadata
        return JudgeReply(
            text=text_or_calls(text_of(message) or refusal or "", calls),
            finish="refused" if refusal else finish_of(reason),
            usage=_usage(usage) if usage else usage_of(told.get("token_usage")),
            model=value_of(told, "model_name", "model", "model_id") or self.config.name,
            # some integrations ask for a call instead of the schema, and say so only thus
            output="tool" if calls else output,
        )

    def shaping(self) -> Any:
        return [self.model, _bound(self.given)]

    def _called(self, request: JudgeRequest, output: Output) -> Steps[JudgeReply]:
        try:
            return (yield from super()._called(request, output))
        except JudgeError as problem:
            # OpenAI's package raises for a reply that was cut where a schema was asked for.
            completion = getattr(problem.__cause__, "completion", None)
            if completion is None:
                raise
            choice = completion.choices[0]
            return JudgeReply(
                choice.message.content or "",
                finish_of(choice.finish_reason),
                usage_of(completion.usage),
                completion.model or self.config.name,
                output,
            )


def text_of(message: Any) -> str:
    """Return a message's text, its parts joined, whichever LangChain made it.

    A message's own `text` is a method before LangChain 1.0, and missing before 0.3.47.
    """
    content = message.content
    if isinstance(content, str):
        return content
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    return "".join(block.get("text") or "" for block in blocks if block.get("type") == "text")


def _inside(thing: Any) -> Any:
    """Return the model itself, out of the bindings around it."""
    while hasattr(type(thing), "model_fields") and "bound" in type(thing).model_fields:
        thing = thing.bound
    return thing


def _with_inside(thing: Any, model: Any) -> Any:
    """Put another model into the bindings, or none, around a model."""
    if thing is _inside(thing):
        return model
    return thing.model_copy(update={"bound": _with_inside(thing.bound, model)})


def _bound(thing: Any) -> dict[str, Any]:
    """Collect the arguments that are bound to a model; the outer ones win."""
    return {} if thing is _inside(thing) else {**_bound(thing.bound), **thing.kwargs}


def _formed(model: Any, request: JudgeRequest, output: Output) -> Any:
    """Make the model ask for the form; raises ClientError where it cannot."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableSequence

    inherited = type(model).with_structured_output is BaseChatModel.with_structured_output
    if inherited and output == "json_schema":  # it takes no notice of the method
        raise ClientError(f"{type(model).__name__} takes no schema", kind="bad_request")
    form: dict[str, Any] = {"method": _METHODS[output]}
    schema = request.schema
    if "strict" in signature(model.with_structured_output).parameters:
        strict = strict_schema(schema or {})
        schema, form["strict"] = strict or schema, strict is not None
    named = {**(schema or {}), "title": request.schema_name}
    try:
        formed = model.with_structured_output(named, **form)
        if isinstance(formed, RunnableSequence) and len(formed.steps) == 2:
            return formed.first  # the parser behind it takes longer than all else, and hides usage
        return model.with_structured_output(named, include_raw=True, **form)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ClientError(f"no structured output: {error}", kind="bad_request") from error


def _message(message: Message) -> Any:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    content: Any = message.content
    if not isinstance(content, str):
        content = [{"type": "text", "text": part} for part in content]
    return kinds[message.role](content)


def _calls(message: Any) -> list[str]:
    """Return the arguments of the functions' calls as JSON, unreadable ones as they are."""
    read = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    return [*read, *(call["args"] or "" for call in message.invalid_tool_calls)]


def _refusal(message: Any) -> str | None:
    """Find the words of a refusal; OpenAI's two interfaces have a place of their own for them."""
    blocks = message.content if isinstance(message.content, list) else []
    parts = [block for block in blocks if isinstance(block, dict) and block.get("refusal")]
    return message.additional_kwargs.get("refusal") or (parts[0]["refusal"] if parts else None)


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Read LangChain's account, which counts all vendors' tokens the same way."""
    return Usage(
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        cached_tokens=usage.get("input_token_details", {}).get("cache_read") or 0,
        reasoning_tokens=usage.get("output_token_details", {}).get("reasoning") or 0,
        written_tokens=usage.get("input_token_details", {}).get("cache_creation") or 0,
    )
