"""A weighted sum of evaluators some of which ask a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.weighted_sum import WeightedSum
from llmeval_integrations.judges.evaluator import JudgedEvaluator, result_of

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask


class JudgedSum(WeightedSum, JudgedEvaluator):
    """What WeightedSum is where one of its parts is a judge."""

    name = "weighted_sum"
    check = JudgedEvaluator.check
    check_many = JudgedEvaluator.check_many

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        from asyncio import gather

        return self.combine(
            await gather(*(result_of(part, sample, ask) for part, _ in self.pairs()))
        )
