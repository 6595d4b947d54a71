"""What every judge is: an evaluator that asks a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import JudgeError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample, as_sample
from llmeval_integrations.llm.client import Ask, Client
from llmeval_integrations.llm.conversing import answered
from llmeval_integrations.llm.reply import JudgeReply, Usage
from llmeval_integrations.llm.request import JudgeRequest
from llmeval_integrations.llm.steps import Step, Steps, adrive, begun, drive, mapped

_SUMMED: Final = ("calls", "cached", "input_tokens", "output_tokens")

Conversation: TypeAlias = Generator[JudgeRequest | Step, Any, Result]
"""What a judge says: it yields requests, is sent replies, and returns its result."""


class JudgedEvaluator(Evaluator):
    """An evaluator that asks a model.

    Subclasses have a field `client`, unless others ask for them, of which `load_client` makes a
    Client in `__post_init__`, and write one method, `judge`, a generator that never does I/O:
    `reply = yield JudgeRequest(...)`, at the end `return Result(...)`. A judge that fails gives an
    unscored result whose label says how: the label of one of the JudgeErrors.
    """

    is_judge = True

    @abstractmethod
    def judge(self, sample: Sample) -> Conversation:
        """Ask about one sample; the one method that a judge writes."""

    def steps(self, sample: Sample) -> Steps[Result]:
        """Work out the result, whoever performs the steps."""
        for field in self.needs:
            sample.require(field, self.name)
        replies: list[JudgeReply] = []
        client: Any = getattr(self, "client", None)  # a vote has judges, and no client of its own
        try:
            result = yield from answered(client, self.judge(sample), replies.append)
        except JudgeError as error:
            result = Result.unscored(str(error), label=error.label)
        return _with_account(result, replies)

    def with_clients(self, change: Callable[[Client], Client]) -> JudgedEvaluator:
        """Return the same judge, each of whose clients is what `change` makes of it."""
        return _WithClients(self, change)

    def check(self, sample: Sample) -> Result:
        return drive(self.steps(sample))

    async def aevaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        return await adrive(self.steps(as_sample(sample)))

    def check_many(self, samples: list[Sample]) -> list[Result]:
        """Ask about many samples side by side; a bad call raises before anything is asked."""
        from llmeval_integrations.llm.pooling.pool import Pool

        works = [begun(self.steps(sample)) for sample in samples]
        results: list[Result] = []
        with Pool() as pool:
            for result in pool.all(works):
                if isinstance(result, Exception):
                    raise result
                results.append(result)
        return results


class _WithClients(JudgedEvaluator):
    """A judge, or one made of judges, that reaches its models otherwise."""

    def __init__(self, judge: JudgedEvaluator, change: Callable[[Client], Client]) -> None:
        self.name = judge.name
        vars(self).update(needs=judge.needs, lower_is_better=judge.lower_is_better)
        self._judge = judge
        self._change = change

    def judge(self, sample: Sample) -> Conversation:
        return self._judge.judge(sample)

    def steps(self, sample: Sample) -> Steps[Result]:
        return mapped(self._judge.steps(sample), self._changed)

    def _changed(self, step: Step) -> Step:
        return Ask(self._change(step.client), step.request) if isinstance(step, Ask) else step

    def __repr__(self) -> str:
        return repr(self._judge)


def _with_account(result: Result, replies: list[JudgeReply]) -> Result:
    """Add to the metadata what the judge took, and its reply where that gave no score."""
    if "judge" in result.metadata:
        return result
    usage = Usage.sum(reply.usage for reply in replies)
    account: dict[str, Any] = {
        "model": replies[-1].model if replies else None,
        "output": replies[-1].output if replies else None,
        "calls": len(replies),
        "cached": sum(reply.cached for reply in replies),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }
    if replies and result.is_unscored:
        account["reply"] = replies[-1].text
    return msgspec.structs.replace(result, metadata={**result.metadata, "judge": account})


def sum_accounts(results: Iterable[Result]) -> dict[str, Any]:
    """Add up what the judges of several results took, as metadata of the one made of them."""
    accounts = [result.metadata["judge"] for result in results if "judge" in result.metadata]
    if not accounts:
        return {}  # they come from the same call
    sums = {key: sum(account[key] for account in accounts) for key in _SUMMED}
    models = dict.fromkeys(account["model"] for account in accounts if account["model"])
    ways = dict.fromkeys(account["output"] for account in accounts if account["output"])
    named = {"model": ", ".join(models) or None, "output": ", ".join(ways) or None}
    return {"judge": {**named, **sums}}
