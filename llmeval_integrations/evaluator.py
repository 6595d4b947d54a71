"""What every evaluator is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, ClassVar, Protocol, TypeAlias

import msgspec

from llmeval_integrations.asking.client import Ask, Client
from llmeval_integrations.asking.conversing import answered
from llmeval_integrations.asking.reply import JudgeReply, Usage
from llmeval_integrations.asking.request import JudgeRequest
from llmeval_integrations.asking.steps import Step, Steps, adrive, begun, drive, mapped
from llmeval_integrations.errors import JudgeError
from llmeval_integrations.fresh_stack import NoStackIsEnoughError, on_fresh_stack
from llmeval_integrations.result import Result
from llmeval_integrations.sample import MISSING, Sample, as_sample

_SUMMED = ("calls", "cached", "input_tokens", "output_tokens")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class SnakeName:
    """A class's name in snake case, unless the object sets its own."""

    def __get__(self, thing: object, kind: type) -> str:
        return _WORD_START.sub("_", kind.__name__).lower()


class Breakdown(Protocol):
    """Adds up, over a run, what an evaluator's metadata say in detail, such as of single fields."""

    def add(self, sample: Any, metadata: Mapping[str, Any], /) -> None:
        """Count one result in; `sample` is the sample's id."""

    def summary(self) -> dict[str, Any]:
        """Return the figures, by names that stand beside those of all evaluators."""


class Evaluator(ABC):
    """Turns a sample into a result.

    Subclasses are frozen dataclasses: their fields are their options, checked in
    `__post_init__`, and they write one method, `check`.
    """

    name: str = SnakeName()  # type: ignore[assignment]
    """The class name in snake case, which is also its name in the catalog."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Further names in the catalog."""

    needs: ClassVar[tuple[str, ...]] = ()
    """The sample's fields without which there is no answer, beside the output."""

    lower_is_better: ClassVar[bool] = False
    """Whether a lower score is a better one, as of a distance."""

    @abstractmethod
    def check(self, sample: Sample) -> Result:
        """Look at one sample; the one method that an evaluator writes."""

    def breakdown(self) -> Breakdown | None:
        """Make what adds up the details of a run's results, None where there is nothing to add."""
        return None

    def check_many(self, samples: list[Sample]) -> list[Result]:
        """Look at many samples; to be written anew where whole columns are faster."""
        check = self.check
        return [check(sample) for sample in samples]

    def evaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        """Evaluate one sample."""
        if type(sample) is not Sample:
            sample = as_sample(sample)
        try:
            return self.check(sample)
        except RecursionError:
            return self._check_deep(sample)

    def _check_deep(self, sample: Sample) -> Result:
        """Try again with an empty stack; what does not fit that is our limit, not the output's."""
        try:
            return on_fresh_stack(self.check, sample)
        except NoStackIsEnoughError:
            return Result.unscored("Nested too deeply to be compared", label="too_deep")

    async def aevaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        """Evaluate one sample without blocking the event loop for longer than the check itself."""
        return self.evaluate(sample)

    def evaluate_many(self, samples: Iterable[Sample | Mapping[str, Any]]) -> list[Result]:
        """Evaluate samples in order; the first bad call raises."""
        batch = [sample if type(sample) is Sample else as_sample(sample) for sample in samples]
        try:
            return self.check_many(batch)
        except RecursionError:
            return [self.evaluate(sample) for sample in batch]

    def __call__(
        self,
        output: Any,
        reference: Any = MISSING,
        input: Any = MISSING,
        *,
        contexts: Any = MISSING,
        variables: Any = MISSING,
        id: Any = MISSING,
    ) -> Result:
        """Evaluate one output given by itself."""
        return self.evaluate(Sample(output, reference, input, contexts, variables, id))

    def expect_pass(self, output: Any, reference: Any = MISSING, **fields: Any) -> Result:
        """Evaluate one output; raise AssertionError with the reason unless it passes."""
        return self(output, reference, **fields).expect_pass()


Conversation: TypeAlias = Generator[JudgeRequest | Step, Any, Result]
"""What a judge says: it yields requests, is sent replies, and returns its result."""


class JudgedEvaluator(Evaluator):
    """An evaluator that asks a model.

    Subclasses have a field `client`, unless others ask for them, of which `load_client` makes a
    Client in `__post_init__`, and write one method, `judge`, a generator that never does I/O:
    `reply = yield JudgeRequest(...)`, at the end `return Result(...)`. A judge that fails gives an
    unscored result whose label says how: the label of one of the JudgeErrors.
    """

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
        from llmeval_integrations.asking.pooling.pool import Pool

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
