"""LangChain's chat models, of all vendors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, Final

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.chat_form import chat_message, strict_schema
from llmeval_integrations.llm.client import ClientConfig
from llmeval_integrations.llm.framework_client import FrameworkClient, set_model
from llmeval_integrations.llm.messages import Output, Request
from llmeval_integrations.llm.reply import value_of

_METHODS: Final = {"json_schema": "json_schema", "tool": "function_calling"}


class LangChainClient(FrameworkClient):
    """A LangChain chat model, also one with fallbacks or retries, bound, or piped into a parser.

    The form of an answer is requested by the model's `with_structured_output`: first by a schema,
    then by a function. If the model has neither, it is requested in words. A parser behind the
    model is skipped, because the reply is read here. Options are further arguments of `invoke`.
    """

    module = "langchain_core"
    accepted = "a chat model of LangChain"
    function = "invoke"

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, _map_models(given, lambda model: model))

    @classmethod
    def describe(cls, thing: Any) -> dict[str, Any] | None:
        from langchain_core.language_models import BaseLanguageModel

        models: list[Any] = []
        _map_models(thing, models.append)
        if not all(isinstance(model, BaseLanguageModel) for model in models):
            return None
        name = value_of(models[0], "model_name", "model", "model_id", "deployment_name")
        return cls.fields_of(models[0], name)

    def model(self, temperature: float | None, max_tokens: int | None) -> Any:
        set_so = partial(set_model, temperature=temperature, max_tokens=max_tokens)
        return _map_models(self.given, set_so)

    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        from langchain_core.language_models import BaseChatModel

        def prepare(model: Any) -> Any:
            self.check_images(request, is_chat=isinstance(model, BaseChatModel))
            return _ask_for_form(model, request, output) if output in _METHODS else model

        model = _map_models(self.model(request.temperature, request.max_tokens), prepare)
        messages = [*map(chat_message, request.messages)]
        return {"model": model, "input": messages, **self.config.options}

    async def call(self, arguments: dict[str, Any]) -> Any:
        try:
            return await super().call(arguments)
        except Exception as error:
            # OpenAI's package raises for a reply with a schema that was cut, and keeps the reply.
            if (completion := getattr(error, "completion", None)) is None:
                raise
            return completion


def _map_models(thing: Any, change: Callable[[Any], Any]) -> Any:
    """Return a runnable with its models changed: bound ones, fallbacks, or one before a parser."""
    fields = getattr(type(thing), "model_fields", ())
    if "fallbacks" in fields:
        own = _map_models(thing.runnable, change)
        others = [_map_models(each, change) for each in thing.fallbacks]
        return thing.model_copy(update={"runnable": own, "fallbacks": others})
    if "bound" in fields:
        return thing.model_copy(update={"bound": _map_models(thing.bound, change)})
    if "middle" in fields and "first" in fields:
        return _map_models(thing.first, change)
    return change(thing)


def _ask_for_form(model: Any, request: Request, output: Output) -> Any:
    """Return a model that requests the form; raises ClientError if it cannot."""
    from langchain_core.language_models import BaseChatModel

    inherited = type(model).with_structured_output is BaseChatModel.with_structured_output
    if inherited and output == "json_schema":  # the inherited one ignores the method
        raise ClientError(f"{type(model).__name__} accepts no schema", kind="bad_request")
    schema, form = request.schema or {}, dict[str, Any](method=_METHODS[output])
    if "strict" in signature(model.with_structured_output).parameters:
        schema, form["strict"] = strict_schema(schema)
    named = {**schema, "title": request.schema_name}
    try:
        # without the parser behind the model, which is slow and hides the usage
        return model.with_structured_output(named, **form).first
    except (AttributeError, LookupError, NotImplementedError, TypeError, ValueError) as error:
        raise ClientError(f"no structured output: {error}", kind="bad_request") from error
