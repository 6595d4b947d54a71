"""Our evaluators for Pydantic AI: output validators that make the model try again.

    from llmeval_integrations import JsonFields
    from llmeval_integrations.frameworks.pydantic_ai import validator
    from pydantic_ai import Agent

    agent = Agent("openai:gpt-5-mini", output_type=Receipt, retries=2)
    agent.output_validator(validator(TotalsAddUp()))
    agent.run_sync("Read the receipt.").output

`retries` of the agent, or `output_retries` of a run, limits how often the model is asked again.
Then Pydantic AI raises UnexpectedModelBehavior.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.frameworks._base import Wrapper, optional

with optional("pydantic_ai", "pydantic-ai", "pydantic-ai"):
    from pydantic_ai import ModelRetry, RunContext


def validator(
    evaluator: Evaluator, **fields: Any
) -> Callable[[RunContext[Any], Any], Awaitable[Any]]:
    """Make a validator of outputs, for `agent.output_validator`.

    If the evaluator fails an output, a ModelRetry sends `result.feedback()` to the model, which
    answers again. If a judge could not decide, the output is accepted. A streamed output is checked
    once it is complete.

    Args:
        evaluator: Checks each output: a text, or the object that Pydantic AI made. A judge receives
            the prompt of the run as the sample's input.
        fields: Further fields of the sample, such as `reference` and `contexts`.

    Raises:
        InvalidOptionError: This is not an evaluator.
    """
    Wrapper(evaluator)
    Sample(MISSING, **fields)  # a misspelt field raises here, before a model is asked

    async def validate(context: RunContext[Any], output: Any) -> Any:
        if context.partial_output:
            return output
        asked = context.prompt if isinstance(context.prompt, str) else MISSING
        result = await evaluator.aevaluate(Sample(output, **{"input": asked, **fields}))
        if result.passed is False:
            raise ModelRetry(result.feedback())
        return output

    return validate
