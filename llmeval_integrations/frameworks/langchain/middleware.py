"""A middleware for agents of LangChain: the model is asked again while its answer fails.

    from langchain.agents import create_agent
    from llmeval_integrations import ToolCallSchema
    from llmeval_integrations.frameworks.langchain.middleware import RetryMiddleware

    check = ToolCallSchema(tools)
    agent = create_agent(model, tools, middleware=[RetryMiddleware(check, on="tool_calls")])

The model is told what is wrong with each call before a tool is run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.guards.prompt import word_calls
from llmeval_integrations.guards.retry import Retry, Steps

with optional("langchain.agents.middleware", "langchain", "langchain-agents"):
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse


class RetryMiddleware(AgentMiddleware):  # type: ignore[misc]
    """Has the model of an agent answer again, with the reason, while the evaluator fails it.

    It is told `result.feedback()`, for each tool call by its id, before a tool is run. A judge that
    could not tell fails nothing. Only the accepted answer, or the best, stands in the agent's
    state; its `response_metadata` say under `llmeval` what the evaluator says of each try.

    Args:
        evaluator: Looks at each answer. A judge is given the user's last message as its input.
        on: What is looked at: the final `text`, the `structured_response` that `response_format`
            asks for, or messages with `tool_calls`; others are passed on.
        tries: How often the model is asked at most.
        raises: Whether RejectedAnswerError is raised where the last try fails, too.
        fields: Further fields of the sample, such as `reference` and `contexts`.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        on: str = "text",
        tries: int = 3,
        *,
        raises: bool = False,
        **fields: Any,
    ) -> None:
        super().__init__()
        self.on = on
        check_choice(self, "on", ["text", "structured_response", "tool_calls"])
        self._retry = Retry(evaluator, tries, raises, fields)

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Ask the model as often as it takes."""
        return self._retry.drive(self._run(request), handler)

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Ask the model as often as it takes."""
        return await self._retry.drive(self._run(request), handler)

    def _run(self, request: ModelRequest) -> Steps:
        questions = [one.text for one in request.messages if isinstance(one, HumanMessage)]
        question = questions[-1] if questions else MISSING
        done = yield from self._retry.run(request, question, _add, self._find_answer)
        return _note(done.output, done.results)

    def _find_answer(self, response: ModelResponse) -> Any:
        """Return what the evaluator looks at; MISSING where this response is something else."""
        message = _message(response)
        if response.structured_response is not None:
            return response.structured_response if self.on == "structured_response" else MISSING
        if (self.on == "tool_calls") != bool(message.tool_calls):
            return MISSING
        return message


def _message(response: ModelResponse) -> AIMessage:
    return next(one for one in response.result if isinstance(one, AIMessage))


def _add(request: ModelRequest, response: ModelResponse, result: Result) -> ModelRequest:
    """Add what the model said, and what is wrong with it, for each call by its id."""
    message = _message(response)
    feedback = [
        ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")
        for call, text in word_calls(message.tool_calls, result)
    ]
    turns = [message, *(feedback or [HumanMessage(result.feedback())])]
    return request.override(messages=[*request.messages, *turns])


def _note(response: ModelResponse, results: list[Result]) -> ModelResponse:
    """Note in a response's message what the evaluator says of each try."""
    if not results:
        return response
    message = _message(response)
    tries = [
        {"score": one.score, "passed": one.passed, "label": one.label, "reason": one.reason}
        for one in results
    ]
    noted = message.model_copy(
        update={"response_metadata": {**message.response_metadata, "llmeval": tries}}
    )
    messages = [noted if one is message else one for one in response.result]
    return ModelResponse(messages, response.structured_response)
