"""The base class of all judges: an evaluator that asks a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from llmeval_integrations.core.errors import JudgeError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample, as_sample
from llmeval_integrations.llm.messages import Image, take_images

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask


class JudgedEvaluator(Evaluator):
    r"""An evaluator that asks a model.

    To write a judge of your own, define a field `model` and one method, which asks and reads:

        @dataclass(frozen=True)
        class Rhymes(JudgedEvaluator):
            model: Any

            async def judge(self, sample, ask):
                reply = await ask(f"Does this rhyme? Answer yes or no.\n{sample.output}")
                return Result(float(reply.text.strip().lower().startswith("yes")))

    `ask` accepts a text or a Request. A judge that calls other judges awaits
    `other.result(sample, ask)`, several at once with `asyncio.gather`. For a further draw it passes
    `ask.draw(number)`. If a judge fails, its result is unscored, with the label of the JudgeError.
    """

    is_judge = True

    shows: ClassVar[tuple[str, ...]] = ("input", "contexts", "output", "output_b")
    """The sample's fields whose images are sent to the model."""

    def __post_init__(self) -> None:
        """Make a Client of the field `model`, if there is one."""
        if "model" in getattr(self, "__dataclass_fields__", ()):
            from llmeval_integrations.llm.client import load_client

            object.__setattr__(self, "model", load_client(vars(self)["model"]))

    @abstractmethod
    async def judge(self, sample: Sample, ask: Ask) -> Result:
        """Judge one sample; the only method that a subclass must define."""

    async def result(self, sample: Sample, ask: Ask) -> Result:
        """Return the judge's result, unscored if it fails, with an account of its calls."""
        for field in self.needs:
            sample.require(field, self.name)
        images: list[Image] = []
        fields = {name: take_images(getattr(sample, name), images) for name in self.shows}
        own = ask.of(getattr(self, "model", None))
        if images:
            own, sample = own.show(images), msgspec.structs.replace(sample, **fields)
        try:
            result = await self.judge(sample, own)
        except JudgeError as error:
            result = Result.unscored(str(error), label=error.label)
        account = own.account()
        if own.replies and result.is_unscored:
            account["reply"] = own.replies[-1].text
        return msgspec.structs.replace(result, metadata={**result.metadata, "judge": account})

    def check(self, sample: Sample) -> Result:
        return self.check_many([sample])[0]

    async def aevaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        from llmeval_integrations.llm.loop import join
        from llmeval_integrations.llm.session import ACTIVE, Ask, Session

        return await join(self.result(as_sample(sample), Ask(ACTIVE.get() or Session())))

    def check_many(self, samples: list[Sample]) -> list[Result]:
        """Judge many samples concurrently; an invalid call raises before any request is sent."""
        from llmeval_integrations.llm.loop import start, wait

        return wait(start(self._judge_all(samples)))

    async def _judge_all(self, samples: list[Sample]) -> list[Result]:
        from asyncio import Event, ensure_future, gather, sleep

        from llmeval_integrations.llm.session import ACTIVE, Ask, Session

        ready = Event()
        session = ACTIVE.get() or Session(ready=ready)
        tasks = [ensure_future(self.result(sample, Ask(session))) for sample in samples]
        for _ in range(_DEEPEST):
            await sleep(0)  # each reaches its first question, and so do the judges within it
        if not any(task.done() and task.exception() for task in tasks):
            ready.set()
        try:
            return await gather(*tasks)
        except BaseException:
            await session.close()
            raise


_DEEPEST: Final = 10
"""How deeply judges may be nested so that an invalid call is found before any request is sent."""


async def result_of(evaluator: Evaluator, sample: Sample, ask: Ask) -> Result:
    """Return the result of an evaluator, which may or may not ask a model."""
    if isinstance(evaluator, JudgedEvaluator):
        return await evaluator.result(sample, ask)
    return evaluator.check(sample)


async def results_of(evaluators: Sequence[Evaluator], sample: Sample, ask: Ask) -> list[Result]:
    """Return the results of evaluators that run concurrently."""
    from asyncio import gather

    return await gather(*(result_of(each, sample, ask) for each in evaluators))
