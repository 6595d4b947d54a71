"""A weighted sum of evaluators some of which ask a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.weighted_sum import WeightedSum
from llmeval_integrations.judges.evaluator import JudgedEvaluator

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask


class JudgedSum(WeightedSum, JudgedEvaluator):
    """What WeightedSum is where one of its parts is a judge."""

    name = "weighted_sum"
    check = JudgedEvaluator.check
    check_many = JudgedEvaluator.check_many

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        from asyncio import gather

        async def result(part: Evaluator) -> Result:
            if isinstance(part, JudgedEvaluator):
                return await part.result(sample, ask)
            return part.check(sample)

        results = await gather(*(result(part) for part, _ in self.pairs()))
        return self.combine(results)
