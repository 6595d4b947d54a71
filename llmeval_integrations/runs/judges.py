"""Asks the judges of a run at the same time, with one budget."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_count
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.llm.client import Client
from llmeval_integrations.runs.data.source import CHUNK
from llmeval_integrations.runs.rows import Row

if TYPE_CHECKING:
    from llmeval_integrations.llm.budget import Spending
    from llmeval_integrations.llm.session import Session

_log = logging.getLogger(__name__)

_AHEAD: Final = 32
"""How many samples are started ahead for each one that is judged at a time. So a slow sample does
not delay the others."""


class Judging:
    """Asks the judges of a run, and counts their calls, tokens and costs."""

    def __init__(self, session: Session, spent: Mapping[str, Spending], concurrency: int) -> None:
        self.chunk = min(concurrency, CHUNK)
        """The most rows of a chunk."""
        self.ahead = _AHEAD * concurrency // self.chunk
        """The number of chunks that are started before the first is waited for."""
        self._session = session
        self._spent = spent

    def start(
        self, judge: Evaluator, samples: Iterable[Sample]
    ) -> Callable[[], list[Result | Exception]]:
        """Start to judge samples. The function that is returned waits for the results, in order.

        After an interrupt, calls under way end and their replies are kept, unless a second
        interrupt comes.
        """
        from llmeval_integrations.llm import loop

        future = loop.start(_judge_all(judge, [*samples], self._session))

        def results() -> list[Result | Exception]:
            try:
                return loop.wait(future)
            except KeyboardInterrupt:
                _log.warning("waiting for the calls under way; interrupt again to give them up")
                loop.wait(loop.start(self._session.drain()))
                raise

        return results

    def count(self, rows: Iterable[Row]) -> None:
        """Count the costs of rows."""
        for judge, account in self._accounts(rows):
            self._spent[judge].add_summary(account)

    def charge(self, rows: Iterable[Row]) -> None:
        """Charge the budget for rows that were paid before."""
        for _, account in self._accounts(rows):
            self._session.budget.spent.add_summary(account)

    def _accounts(self, rows: Iterable[Row]) -> Iterator[tuple[str, Any]]:
        for row in rows:
            account = row.metadata.get("judge")
            if row.evaluator in self._spent and account is not None:
                yield row.evaluator, account

    def figures(self) -> dict[str, dict[str, Any]]:
        """Return the costs of each judge."""
        return {name: spending.summary() for name, spending in self._spent.items()}

    def summary(self) -> dict[str, Any]:
        """Return the costs of all judges, and the bound of the budget that was reached."""
        found = _add_up(self.figures().values())
        return {**found, "budget_reached": self._session.budget.reached}


@contextmanager
def open_judges(
    evaluators: Mapping[str, Evaluator],
    options: Mapping[str, Any],
    replies: str | PathLike[str] | None = None,
) -> Iterator[Judging | None]:
    """Prepare to ask the judges among the evaluators; yield None if there are none.

    `options` has those of `JudgeOptions`, and `replies` keeps the run's own until it has ended.
    Raises InvalidOptionError if a judge has no key, or no known price that `max_cost` needs, and
    InputError for a cache that cannot be used.
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

    concurrency, batch = options.get("concurrency", 32), options.get("batch", False)
    file, frozen = options.get("cache"), options.get("frozen", False)
    budget = Budget(options.get("max_cost"), options.get("max_tokens"))
    _check_options(options, has_directory=replies is not None)
    for client in clients_of(evaluators):
        budget.price(client)
        _check_client(client, frozen=frozen, batch=batch)
    cache = None if file is None else Cache(file, frozen=frozen)
    own = None if frozen or replies is None else Cache(replies)
    if cache is not None:
        cache.open()  # an error comes before anything is asked
    with cache or nullcontext(), own or nullcontext():
        session = Session(concurrency, budget=budget, cache=cache, replies=own, batch=batch)
        spent = {name: Spending() for name in judges}
        try:
            yield Judging(session, spent, LARGEST if batch else concurrency)
        finally:
            wait(start(session.close()))


def _check_options(options: Mapping[str, Any], *, has_directory: bool) -> None:
    check_count("concurrency", options.get("concurrency", 32))
    frozen = options.get("frozen")
    if frozen and options.get("cache") is None:
        raise InputError("frozen takes replies from a cache, and none is given")
    if options.get("batch") and not has_directory and not frozen:
        raise InvalidOptionError(
            "batch: a batch takes up to a day, so the run needs a directory to be resumed from, "
            "with out=..."
        )


def _check_client(client: Client, *, frozen: bool, batch: bool) -> None:
    if not frozen:
        client.check()
    if batch and not client.has_batches:
        raise InvalidOptionError(
            f"batch: {client!r} has no batches; models of the platforms openai and anthropic have, "
            "and Azure's deployments for batches answer no single question"
        )


def clients_of(thing: Any) -> Iterator[Client]:
    """Yield the clients in the fields of evaluators, and of judges within them."""
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
    """Add the costs of the row that is replaced, because they were paid, too."""
    took, before = row.metadata.get("judge"), earlier.metadata.get("judge")
    if took is None or before is None:  # the judge was not asked again, or not before
        row.metadata |= {} if before is None else {"judge": before}
    else:
        row.metadata["judge"] = {**took, **_add_up([took, before]), "not_asked": took["not_asked"]}


def _add_up(accounts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    from llmeval_integrations.llm.budget import Spending

    found = Spending()
    for each in accounts:
        found.add_summary(each)
    return found.summary()


async def _judge_all(
    judge: Any, samples: list[Sample], session: Session
) -> list[Result | Exception]:
    from asyncio import gather

    from llmeval_integrations.llm.session import Ask

    async def result(sample: Sample) -> Result | Exception:
        ask = Ask(session)
        try:
            found: Result = await judge.result(sample, ask)
        except RecursionError:
            reason = "Nested too deeply to be put to a judge"
            found = Result.unscored(reason, label="too_deep", judge=ask.spending.summary())
        except Exception as error:  # noqa: BLE001 - it becomes the error of the row
            return ChargedError(error, ask.spending.summary())
        return found

    return await gather(*map(result, samples))


class ChargedError(Exception):
    """The exception of a judge, and its costs until then."""

    def __init__(self, error: Exception, account: dict[str, Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.account = account
