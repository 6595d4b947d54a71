"""Our evaluators for Pydantic AI: validators of an agent's output, which have the model try again.

    from llmeval_integrations import JsonFields
    from llmeval_integrations.frameworks.pydantic_ai import validator
    from pydantic_ai import Agent

    agent = Agent("openai:gpt-5-mini", output_type=Receipt, retries=2)
    agent.output_validator(validator(TotalsAddUp()))
    agent.run_sync("Read the receipt.").output

`retries` of the agent, or `output_retries` of a run, say how often the model is asked again; after
them Pydantic AI raises UnexpectedModelBehavior.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.frameworks._base import optional

with optional("pydantic_ai", "pydantic-ai", "pydantic-ai"):
    from pydantic_ai import ModelRetry, RunContext


def validator(
    evaluator: Evaluator, **fields: Any
) -> Callable[[RunContext[Any], Any], Awaitable[Any]]:
    """Make a validator of outputs, for `agent.output_validator`.

    While the evaluator fails an output, the model is told `result.feedback()` by a ModelRetry, and
    answers again. A judge that could not tell fails nothing. Of a stream the whole output is
    looked at.

    Args:
        evaluator: Looks at each output: a text, or the object that Pydantic AI made. A judge is
            given the prompt of the run as its input.
        fields: Further fields of the sample, such as `reference` and `contexts`.
    """

    async def validate(context: RunContext[Any], output: Any) -> Any:
        if context.partial_output:
            return output
        asked = context.prompt if isinstance(context.prompt, str) else MISSING
        result = await evaluator.aevaluate(Sample(output, **{"input": asked, **fields}))
        if result.passed is False:
            raise ModelRetry(result.feedback())
        return output

    return validate
