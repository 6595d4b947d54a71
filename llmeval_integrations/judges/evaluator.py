"""The base classes of judges: evaluators that ask a model, and read its answer in a form."""

from __future__ import annotations

from abc import abstractmethod
from asyncio import ensure_future, gather, sleep
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, TypeVar

import msgspec
from msgspec import Meta

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    JudgeError,
    UnreadableJudgementError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import Finite, as_number, option_error
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.forms import Form, Schema, form_of
from llmeval_integrations.judges.material import material
from llmeval_integrations.judges.objects import Quotations
from llmeval_integrations.judges.prompt import Prompt, as_text
from llmeval_integrations.judges.reader import reasons_of
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.loop import join, start, wait
from llmeval_integrations.llm.messages import Image, Message, Request, take_images
from llmeval_integrations.llm.session import ACTIVE, Ask, Session, check_end

T = TypeVar("T")

_MARK: Final = (
    'Give the object one more key, the last one: "mark", with the text "{mark}". It shows that the '
    "object is yours."
)


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
        super().__post_init__()
        if "model" in getattr(self, "__dataclass_fields__", ()):
            object.__setattr__(self, "model", load_client(vars(self)["model"]))

    @abstractmethod
    async def judge(self, sample: Sample, ask: Ask) -> Result:
        """Judge one sample; the only method that a subclass must define."""

    async def result(self, sample: Sample, ask: Ask) -> Result:
        """Return the judge's result, unscored if it fails, with an account of its calls."""
        for need in self.needs:
            sample.require(need, self.name)
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
            last = own.replies[-1]
            account["reply"] = last.text.replace(last.fence, "")
        return msgspec.structs.replace(result, metadata={**result.metadata, "judge": account})

    def check(self, sample: Sample) -> Result:
        return self.check_many([sample])[0]

    async def acheck(self, sample: Sample) -> Result:
        return await join(self.result(sample, Ask(ACTIVE.get() or Session())))

    def check_many(self, samples: list[Sample]) -> list[Result]:
        """Judge many samples concurrently; a sample that lacks a field raises before any call."""
        return wait(start(self._judge_all(samples)))

    async def _judge_all(self, samples: list[Sample]) -> list[Result]:
        active = ACTIVE.get()
        session = active or Session()
        tasks = [ensure_future(self.result(sample, Ask(session))) for sample in samples]
        try:
            await sleep(0)  # each reaches its first question, which is sent a moment later
            for task in tasks:
                if task.done():
                    task.result()
            return await gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            if active is None:  # an active one serves others, too
                await session.close()
            raise


async def result_of(evaluator: Evaluator, sample: Sample, ask: Ask) -> Result:
    """Return the result of an evaluator, which may or may not ask a model."""
    if isinstance(evaluator, JudgedEvaluator):
        return await evaluator.result(sample, ask)
    return evaluator.check(sample)


async def results_of(evaluators: Sequence[Evaluator], sample: Sample, ask: Ask) -> list[Result]:
    """Return the results of evaluators that run concurrently."""
    return await gather(*(result_of(each, sample, ask) for each in evaluators))


@dataclass(frozen=True)
class ModelJudge(JudgedEvaluator):
    """A judge that asks one model and reads the answers in one form.

    A subclass has the field `model`, and `prompt` if callers may write their own.
    """

    retries: Annotated[int, Meta(ge=0)] = field(default=1, kw_only=True)
    """How often the judge is shown an unreadable reply and asked for its verdict again."""

    _shots = ""  # labelled samples, as text

    def __post_init__(self) -> None:
        super().__post_init__()
        if "prompt" in self.__dataclass_fields__:
            prompt = Prompt(vars(self)["prompt"])
            own = {"question", "role"} & {*self.__dataclass_fields__}  # options of the judge
            if not {*prompt.variables} - own - {"fence"}:
                raise InvalidOptionError(
                    f"{self.name}: the prompt shows the judge nothing of the sample; write "
                    "{output} where the output belongs"
                )
            object.__setattr__(self, "prompt", prompt)

    async def exchange(
        self, ask: Ask, prompt: Prompt, form: Form[T], variables: Mapping[str, Any]
    ) -> T:
        """Send a prompt, after labelled samples, to the model, and read the answer."""
        mark = str(variables.get("fence", ""))
        shown = [as_text(variables[name], name) for name in prompt.variables if name in variables]
        # its owner's words: the question, the labelled samples, the messages
        options = [option for option in vars(self).values() if isinstance(option, str)]
        own = [*options, *(message.text for message in prompt.messages)]
        quotations = Quotations([text for text in shown if text not in options], mark, own)
        messages = tuple(prompt.render(variables))
        request = Request(messages, schema_name=form.name, fence=mark)
        request = request.prepend([self._shots]) if self._shots else request
        return await ask_in_form(ask, request, form, quotations, self.retries)


async def ask_in_form(
    ask: Ask,
    request: Request,
    form: Form[T],
    quotations: Quotations = Quotations(),  # noqa: B008 - it is never changed
    retries: int = 1,
) -> T:
    """Ask, and up to `retries` times more for the verdict alone if the reply cannot be read.

    Raises UnreadableJudgementError for the last reply, and CutReplyError if the reply was cut
    before its verdict.
    """
    wording, schema, first = form.wording, form.schema, ""
    while True:
        request = _ask_for(request, wording, schema)
        reply = await ask(request, whole=form.schema is None)
        try:
            return form.read(reply.text, quotations, first)
        except UnreadableJudgementError as error:
            check_end(reply, whole=True)
            if not retries:
                problem = f"Unreadable {form.name}, {error}: {quote(reply.text)}"
                raise UnreadableJudgementError(problem.replace(request.fence, "")) from None
            wording, schema = form.follow_up(error)
        said = reply.text.strip()
        if not said:  # some servers refuse an empty text in a conversation
            said = "(nothing)"
            wording, schema = "That reply is empty. Answer in the form asked for.", form.schema
        messages = (*request.messages, Message("assistant", said))
        request = msgspec.structs.replace(request, messages=messages)
        retries -= 1
        first = first or reply.text.replace(request.fence, "")


def _ask_for(request: Request, wording: str, schema: Schema | None) -> Request:
    """Ask for a form at the end of a request, and for the mark unless the form has its own."""
    if request.fence and schema and "mark" not in schema["properties"]:
        wording = f"{wording}\n{_MARK.format(mark=request.fence)}".strip()
        # The schema leaves the mark's value open, because vendors compile and cache each schema.
        properties = {**schema["properties"], "mark": {"type": "string"}}
        required = [*schema.get("required", ()), "mark"]
        schema = {**schema, "properties": properties, "required": required}
    *others, last = request.messages
    if wording and last.role != "user":
        others, last = [*others, last], Message("user", wording)
    else:
        last = last.extend(after=wording)
    return msgspec.structs.replace(request, messages=(*others, last), schema=schema)


@dataclass(frozen=True)
class Judge(ModelJudge):
    """What does a model answer to your own prompt, in your own type?

    Score: the field or the function `score` of the answer. Without one, the result has the answer
    and no score. Passed: whether the score is at least `threshold`. Metadata: `answer`.
    """

    model: Any
    """The model: whatever `load_client` accepts."""

    prompt: Any
    """A Prompt, or the text or messages to make one of. It may name `output`, `input`, `reference`,
    `contexts`, the sample's variables, and `fence`, the mark around the output."""

    result_type: Any = str
    """The type of the answer: str for the raw text, or a pydantic model's class."""

    score: str | Callable[[Any], float] | None = None
    """A field's name, or a function from the answer to a number or True/False. The result is
    unscored, with the label `no_score`, if the function raises or the number is not finite."""

    threshold: Finite | None = None
    """The lowest score that passes. With None, only scores that are True or False pass or fail."""

    _form: Form[Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        form = form_of(self.result_type, repeats=self.score is None)
        object.__setattr__(self, "_form", form)
        names = getattr(self.result_type, "model_fields", {})
        if not (self.score is None or self.score in names or callable(self.score)):
            known = ", ".join(map(repr, names)) or "no field"
            raise option_error(self, "score", f"a function, or a field of the answer ({known})")

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        score = self.score
        answer = await self.exchange(ask, self.prompt, self._form, material(sample))
        plain = answer if isinstance(answer, str) else answer.model_dump(mode="json")
        metadata = {"answer": plain}
        if score is None:
            reason = answer if isinstance(answer, str) else "the judge has no score"
            return Result(None, None, None, reason, metadata, answered=True)
        try:
            given = getattr(answer, score) if isinstance(score, str) else score(answer)
            figure = as_number(self, "score", given)
        except Exception as error:  # noqa: BLE001 - a function of the caller's
            reason = f"no score for the answer {quote(answer)}: {type(error).__name__}: {error}"
            return Result.unscored(reason, label="no_score", **metadata)
        passed = figure if isinstance(figure, bool) else None
        if self.threshold is not None:
            passed = figure >= self.threshold
        reason = reasons_of(plain) if isinstance(plain, dict) else str(plain)
        return Result(float(figure), passed, None, reason or None, metadata)
