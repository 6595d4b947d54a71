"""A middleware for agents of LangChain that asks the model again until its answer is accepted.

    from langchain.agents import create_agent
    from llmeval_integrations import ToolCallSchema
    from llmeval_integrations.frameworks.langchain.middleware import RetryMiddleware

    check = ToolCallSchema(tools)
    agent = create_agent(model, tools, middleware=[RetryMiddleware(check, on="tool_calls")])

The model receives the feedback on each call before a tool is run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, convert_to_messages

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.guards.retry import GuardResult, Retry, write_turns

with optional("langchain.agents.middleware", "langchain", "langchain-agents"):
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse


class RetryMiddleware(AgentMiddleware):  # type: ignore[misc]
    """Asks the model of an agent again, with the reason, until the evaluator accepts its answer.

    The model receives `result.feedback()`, for each tool call by its id, before a tool is run. If a
    judge could not decide, the answer is accepted. The agent's state contains only the accepted
    answer, or else the best one. Its `response_metadata["llmeval"]` lists the results of all tries.

    Args:
        evaluator: Checks each answer. A judge receives the user's last message as the input.
        on: The part to check: the final `text`, the `structured_response` of `response_format`, or
            messages with `tool_calls`. All other messages are passed on.
        tries: How often the model is asked at most.
        raises: Whether to raise RejectedAnswerError if the last try fails.
        name: The middleware's name, by default of the evaluator and `on`. An agent accepts each
            name once.
        fields: Further fields of the sample, such as `reference` and `contexts`.
    """

    name = "RetryMiddleware"  # LangChain's own attribute cannot be set

    def __init__(
        self,
        evaluator: Evaluator,
        on: str = "text",
        tries: int = 3,
        *,
        raises: bool = False,
        name: str | None = None,
        **fields: Any,
    ) -> None:
        super().__init__()
        self.on = on
        check_choice(self, "on", ["text", "structured_response", "tool_calls"])
        self._retry = Retry(evaluator, tries, raises, fields)
        self.name = name or f"{self.name}({evaluator.name}, {on})"

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Ask the model until its answer is accepted."""
        return _note(self._ask(request, handler))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Ask the model until its answer is accepted."""
        return _note(await self._ask(request, handler))

    def _ask(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        questions = [one.text for one in request.messages if isinstance(one, HumanMessage)]
        question = questions[-1] if questions else MISSING
        return self._retry.ask(handler, request, question, _add, self._find_answer)

    def _find_answer(self, response: ModelResponse) -> Any:
        """Return the part to check; MISSING if this response does not have it."""
        message = _message(response)
        if self.on == "tool_calls":
            # LangChain answers a call for a structured response itself, but runs tools beside it.
            answered = {one.tool_call_id for one in response.result if isinstance(one, ToolMessage)}
            calls = [call for call in message.tool_calls if call["id"] not in answered]
            is_called = calls or message.invalid_tool_calls
            return message.model_copy(update={"tool_calls": calls}) if is_called else MISSING
        if self.on == "structured_response" and response.structured_response is not None:
            return response.structured_response
        return MISSING if message.tool_calls else message


def _message(response: ModelResponse) -> AIMessage:
    return next(one for one in response.result if isinstance(one, AIMessage))


def _add(request: ModelRequest, response: ModelResponse, result: Result) -> ModelRequest:
    """Add the reply and the feedback, for each call by its id."""
    turns = convert_to_messages(write_turns(_message(response), result))
    return request.override(messages=[*request.messages, *turns])


def _note(done: GuardResult) -> ModelResponse:
    """Return the response, with the results of all tries in its message."""
    response: ModelResponse = done.output
    if not done.results:
        return response
    message = _message(response)
    tries = [
        {"score": one.score, "passed": one.passed, "label": one.label, "reason": one.reason}
        for one in done.results
    ]
    kept = message.response_metadata  # perhaps with the tries of another such middleware
    metadata = {**kept, "llmeval": [*kept.get("llmeval", ()), *tries]}
    noted = message.model_copy(update={"response_metadata": metadata})
    messages = [noted if one is message else one for one in response.result]
    return ModelResponse(messages, response.structured_response)
