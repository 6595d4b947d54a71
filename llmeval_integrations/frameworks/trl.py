"""Our evaluators for TRL: a reward function of GRPOTrainer and RLOOTrainer.

    from llmeval_integrations import JsonEquality, LengthPenalty
    from llmeval_integrations.frameworks.trl import TrlReward
    from trl import GRPOConfig, GRPOTrainer

    equal = TrlReward(JsonEquality(), reference="solution")
    equal(["A list?", "A list?"], ["[1]", "1"], solution=["[1.0]", "[1.0]"])  # [1.0, 0.0]

    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[equal, TrlReward(LengthPenalty(max_length=80))],
        args=GRPOConfig(reward_weights=[1.0, 0.5], **options),
        train_dataset=dataset,
        processing_class=tokenizer,
    )
    trainer.train()

Nothing of TRL is imported: whatever calls a reward function in this way can be given one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any

from llmeval_integrations.core.errors import InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.frameworks._drop_ins import Wrapper
from llmeval_integrations.frameworks._samples import sample_of
from llmeval_integrations.messages.reading import Messages
from llmeval_integrations.messages.reply import Reply


class TrlReward(Wrapper):
    """One of our evaluators as a reward function, which evaluates a batch at once.

    The reward is the score; None where unscored. A bad call raises one of our errors, and training
    ends.

    TRL adds the rewards of several functions up, weighted by `reward_weights`, a negative weight
    where less is better, as with distances. It leaves a None out of that sum, so that such a
    completion is compared with others that had one reward more; a WeightedSum is None as a whole.
    A completion without any reward is left out of the step; before TRL 1.6 it counted as 0.

    TRL logs the share that was unscored as `NAME/unscored`, and in its table of completions the
    reasons as NAME_reason.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        name: str | None = None,
        value: str = "score",
        missing: str = "raise",
        messages: bool | None = None,
        reference: str = "reference",
        contexts: str = "contexts",
        schema: str = "schema",
    ) -> None:
        """Say what the reward is, and of which columns of the dataset.

        `name` is what TRL logs it as, the evaluator's own unless given; two rewards of one name are
        one in its logs. With `value="passed"` it is 1.0 or 0.0 whatever the score is. Where a row
        lacks what the evaluator needs, null being absent, `missing="unscored"` gives no reward
        instead of an error: so tasks of several kinds share a dataset. Of a completion in messages
        evaluators of tool calls see all, the others the text of the last one; a judge sees all
        where that text is empty and tools are called. With `messages=True` everybody sees the list
        of them, with `messages=False` the text. All columns are variables of a judge's prompt.
        """
        super().__init__(evaluator)
        for option, given, choices in (
            ("value", value, ("score", "passed")),
            ("missing", missing, ("raise", "unscored")),
        ):
            if given not in choices:
                raise InvalidOptionError(f"{option}={quote(given)} is not one of {choices}")
        self.value, self.missing, self.messages = value, missing, messages
        self.reference, self.contexts, self.schema = reference, contexts, schema
        self.__name__ = name or evaluator.name

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        completion_ids: Any = None,  # noqa: ARG002 - or it would be a column
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return the rewards of completions, in their order."""
        rows = self._rows(len(completions), columns)
        samples = list(map(self._sample, prompts, completions, rows))
        results = self._evaluate(samples)
        if log_extra is not None:
            log_extra(f"{self.__name__}_reason", [result.reason for result in results])
        if log_metric is not None and results:
            unscored = sum(not result.scored for result in results)
            log_metric(f"{self.__name__}/unscored", unscored / len(results))
        return [self._reward(result) for result in results]

    def _rows(self, count: int, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return each completion's cells; the trainer's state and such things are not columns."""
        lists = {name: cells for name, cells in columns.items() if isinstance(cells, (list, tuple))}
        for name, cells in lists.items():
            if len(cells) != count:
                raise InputError(f"column {name!r} has {len(cells)} rows for {count} completions")
        for field in ("reference", "contexts"):
            column = getattr(self, field)
            if field in self.evaluator.needs and column not in lists:
                raise InputError(
                    f"{self.evaluator.name} needs {field}, and there is no column {column!r}, "
                    f'only {quote(list(lists))}; name another with {field}="..."'
                )
        return [{name: cells[place] for name, cells in lists.items()} for place in range(count)]

    def _sample(self, prompt: Any, completion: Any, row: dict[str, Any]) -> Sample:
        output = completion if self.messages else _text(completion)
        if self.messages is None and not isinstance(completion, str):
            is_talk = len(completion) > 1 or any(one.get("tool_calls") for one in completion)
            output = Messages(Reply(output), tuple(completion)) if is_talk else output
        return sample_of(
            self.evaluator,
            output,
            reference=row.get(self.reference),
            input=_text(prompt) if isinstance(prompt, str) or len(prompt) == 1 else prompt,
            contexts=row.get(self.contexts),
            schema=row.get(self.schema),
            variables=row or None,
        )

    def _evaluate(self, samples: list[Sample]) -> list[Result]:
        needs = self.evaluator.needs
        fit = [all(getattr(one, field) is not MISSING for field in needs) for one in samples]
        if self.missing == "raise" and False in fit:
            place = fit.index(False)
            raise MissingFieldError(
                f"{self.evaluator.name} needs {' and '.join(needs)}, which the row of the prompt "
                f"{quote(samples[place].input)} lacks (completion {place + 1} of {len(fit)}); "
                "with missing='unscored' it would have no reward"
            )
        results = iter(self.evaluator.evaluate_many(compress(samples, fit)))
        lacking = Result.unscored(f"the row lacks {' or '.join(needs)}", label="missing")
        return [next(results) if one else lacking for one in fit]

    def _reward(self, result: Result) -> float | None:
        reward = getattr(result, self.value)
        return None if reward is None else float(reward)


def _text(messages: Any) -> str:
    """Return the text of the last message, what is a text as it is."""
    if isinstance(messages, str):
        return messages
    content = messages[-1].get("content") if messages else None
    if isinstance(content, list):
        # In a column of a dataset all parts have all keys, an image a text of None.
        return "".join(part.get("text") or "" for part in content)
    return content or ""
