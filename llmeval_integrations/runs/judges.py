"""The judges of a run, which ask side by side and on one account."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import msgspec

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.llm.client import Client
from llmeval_integrations.runs.rows import Row

if TYPE_CHECKING:
    from llmeval_integrations.llm.budget import Budget, Spending
    from llmeval_integrations.llm.session import Session

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JudgingOptions:
    """How the judges of a run ask, as `JudgeOptions` says; raises InvalidOptionError."""

    concurrency: int = 32
    cache: str | PathLike[str] | None = None
    replies: str | PathLike[str] | None = None
    """The file of the run's own replies until it is done; its folder may be made later."""

    frozen: bool = False
    max_cost: float | None = None
    max_tokens: int | None = None

    batch: bool = False
    """Whether models are asked by batches; for clients that have them, and with `replies`."""

    def __post_init__(self) -> None:
        if (self.max_cost, self.max_tokens) != (None, None):
            from llmeval_integrations.llm.budget import Budget

            Budget(self.max_cost, self.max_tokens)  # which says what is wrong with them
        if type(self.concurrency) is not int or self.concurrency < 1:
            raise InvalidOptionError(
                f"concurrency={quote(self.concurrency)} is not a whole number of at least 1"
            )


class Judging:
    """Asks a run's judges, and counts what each of them takes."""

    def __init__(self, session: Session, spent: Mapping[str, Spending], concurrency: int) -> None:
        self.concurrency = concurrency
        """The most samples that are judged at a time."""
        self._session = session
        self._spent = spent
        self._sum = type(session.budget.spent)()

    def begin(
        self, judge: Evaluator, samples: Iterable[Sample]
    ) -> Callable[[], list[Result | Exception]]:
        """Begin to judge samples; gives what waits for the results, in order.

        What interrupts the waiting ends the asking: calls under way are waited for, and their
        replies kept, unless it is interrupted again.
        """
        from llmeval_integrations.llm.loop import start, wait

        future = start(_judge_all(judge, [*samples], self._session))

        def results() -> list[Result | Exception]:
            try:
                return wait(future)
            except KeyboardInterrupt:
                _log.warning("waiting for the calls under way; interrupt again to give them up")
                wait(start(self._session.drain()))
                raise

        return results

    def count(self, row: Row, *, elsewhere: bool = False) -> None:
        """Count in what a judge's row took, by its metadata; `elsewhere`, or from this pool."""
        account = row.metadata.get("judge")
        if row.evaluator not in self._spent or account is None:
            return  # not a judge, or one that was never asked
        for spending in (self._spent[row.evaluator], self._sum):
            spending.add_summary(account)
        if elsewhere:
            self._session.budget.spent.add_summary(account)

    def left(self, options: JudgingOptions) -> JudgingOptions:
        """Return the options for whoever asks the rest, with what the budget still has."""
        spent = self._session.budget.spent
        cost, tokens = options.max_cost, options.max_tokens
        return replace(
            options,
            replies=None,
            max_cost=None if cost is None else max(cost - spent.cost, 0.0),
            max_tokens=None if tokens is None else max(tokens - spent.tokens, 0),
        )

    def figures(self) -> dict[str, dict[str, Any]]:
        """Return what each judge took, by name."""
        return {name: spending.summary() for name, spending in self._spent.items()}

    def summary(self) -> dict[str, Any]:
        """Return what all took together, and which bound of the budget was reached."""
        return {**self._sum.summary(), "budget_reached": self._session.budget.reached}


@contextmanager
def open_judges(
    evaluators: Mapping[str, Evaluator], options: JudgingOptions
) -> Iterator[Judging | None]:
    """Make ready to ask the judges among the evaluators; gives None where there are none.

    Raises InvalidOptionError for a judge whose price is not known where `max_cost` needs it, and
    for one whose key is not there; InputError for a cache.
    """
    judges = {name: each for name, each in evaluators.items() if each.is_judge}
    if not judges:
        yield None
        return
    from llmeval_integrations.llm.batches import LARGEST
    from llmeval_integrations.llm.budget import Budget, Spending
    from llmeval_integrations.llm.cache import Cache
    from llmeval_integrations.llm.loop import start, wait
    from llmeval_integrations.llm.session import Session

    budget = Budget(options.max_cost, options.max_tokens)
    _check_clients(evaluators, options, budget)
    replies = None if options.replies is None else Cache(options.replies)
    cache = None if options.cache is None else Cache(options.cache, frozen=options.frozen)
    if cache is not None:
        cache.open()  # what is wrong with it is said before anything is asked
    with cache or nullcontext(), replies or nullcontext():
        session = Session(
            options.concurrency,
            cache=cache,
            replies=replies,
            budget=budget,
            batch=options.batch,
            shared=len(judges) > 1,
        )
        concurrency = LARGEST if options.batch else options.concurrency
        try:
            yield Judging(session, {name: Spending() for name in judges}, concurrency)
        finally:
            wait(start(session.close()))


def _check_clients(
    evaluators: Mapping[str, Evaluator], options: JudgingOptions, budget: Budget
) -> None:
    for client in clients_of(evaluators):
        budget.price(client)
        if not options.frozen:
            client.check()
        if options.batch:
            _check_batch(client, options)
    if options.frozen and options.cache is None:
        raise InputError("frozen takes replies from a cache, and none is given")


def _check_batch(client: Client, options: JudgingOptions) -> None:
    """Raise InvalidOptionError where a run cannot ask this model by batches."""
    if not client.has_batches:
        raise InvalidOptionError(
            f"batch: {client!r} has no batches; models of the platforms openai and anthropic have, "
            "and Azure's deployments for batches answer no single question"
        )
    if options.replies is None and not options.frozen:
        raise InvalidOptionError(
            "batch: a batch takes up to a day, and a run in a directory can be gone on with; "
            "say which, with out=..."
        )


def clients_of(thing: Any) -> Iterator[Client]:
    """Find the clients that evaluators ask, in their fields and in those of judges within them."""
    if isinstance(thing, Client):
        yield thing
    elif isinstance(thing, Mapping):
        yield from clients_of([*thing.values()])
    elif isinstance(thing, (list, tuple)):
        for each in thing:
            yield from clients_of(each)
    elif isinstance(thing, Evaluator) and thing.is_judge and is_dataclass(thing):
        yield from clients_of([getattr(thing, field.name) for field in fields(thing)])


def add_earlier(row: Row, earlier: Row) -> None:
    """Add to what a row took what the one in its place had taken, for that was paid as well."""
    took, before = row.metadata.get("judge"), earlier.metadata.get("judge")
    if before is None:
        return
    if took is None:  # it could not even be asked about
        row.metadata["judge"] = before
        return
    for name in ("calls", "cached", "failed", "input_tokens", "output_tokens"):
        took[name] += before[name]
    known = took["cost"] is not None and before["cost"] is not None
    took["cost"] = took["cost"] + before["cost"] if known else None


async def _judge_all(
    judge: Any, samples: list[Sample], session: Session
) -> list[Result | Exception]:
    from asyncio import gather

    from llmeval_integrations.llm.session import Ask

    async def result(sample: Sample) -> Result | Exception:
        ask = Ask(session)
        try:
            result: Result = await judge.result(sample, ask)
        except RecursionError:
            reason = "Nested too deeply to be put to a judge"
            result = Result.unscored(reason, label="too_deep")
        except Exception as error:  # noqa: BLE001 - one sample's failure is no other's
            return Charged(error, ask.spending.summary())
        said = {**result.metadata.get("judge", {}), **ask.spending.summary()}
        return msgspec.structs.replace(result, metadata={**result.metadata, "judge": said})

    return await gather(*map(result, samples))


class Charged(Exception):  # noqa: N818 - it carries one
    """What a judge raised, and what it took until then."""

    def __init__(self, error: Exception, account: dict[str, Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.account = account
