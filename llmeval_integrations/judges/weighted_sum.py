"""A weighted sum of evaluators some of which ask a model."""

from __future__ import annotations

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.weighted_sum import WeightedSum
from llmeval_integrations.judges.evaluator import Conversation, JudgedEvaluator, sum_accounts
from llmeval_integrations.llm.steps import Steps, Together


class JudgedSum(WeightedSum, JudgedEvaluator):
    """What WeightedSum is where one of its parts is a judge."""

    name = "weighted_sum"
    check = JudgedEvaluator.check
    check_many = JudgedEvaluator.check_many

    def judge(self, sample: Sample) -> Conversation:
        results = yield Together([_steps(part, sample) for part, _ in self.pairs()])
        total = self.combine(results)
        total.metadata.update(sum_accounts(results))
        return total


def _steps(part: Evaluator, sample: Sample) -> Steps[Result]:
    """Work out what a part says, which asks somebody or not."""
    if isinstance(part, JudgedEvaluator):
        return (yield from part.steps(sample))
    return part.check(sample)
