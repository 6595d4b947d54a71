"""Our evaluators for TRL: a reward function of GRPOTrainer and RLOOTrainer.

    from llmeval_integrations import JsonEquality, LengthPenalty
    from llmeval_integrations.frameworks.trl import TrlReward
    from trl import GRPOConfig, GRPOTrainer

    equal = TrlReward(JsonEquality(), reference="solution")
    equal(["A list?", "A list?"], ["[1]", "1"], solution=["[1.0]", "[1.0]"])  # [1.0, 0.0]

    rewards = [equal, TrlReward(LengthPenalty(max_length=80))]
    arguments = GRPOConfig(reward_weights=[1.0, 0.5], **options)
    trainer = GRPOTrainer(model, rewards, arguments, dataset, processing_class=tokenizer)
    trainer.train()

It also works in other trainers that call a reward function as TRL does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.frameworks._base import Wrapper, make_sample
from llmeval_integrations.messages.read import read_messages
from llmeval_integrations.messages.reply import text_of_blocks


class TrlReward(Wrapper):
    """One of our evaluators as a reward function, which evaluates a batch at once.

    The reward is the score, or else `unscored`. TRL leaves None out of the sum over several
    functions. A completion without any reward has no advantage. The share of unscored results is
    logged as `NAME/unscored`, and the reasons as NAME_reason. A bad call raises one of our errors,
    and training ends. All columns become variables of a judge's prompt.

    Args:
        missing: What to do if a row lacks a field that the evaluator needs: "raise", or "unscored"
            for no reward, so that different tasks can share a dataset.
        unscored: The reward of an unscored result. Set it if a penalty is in the sum: the model may
            learn to write nothing, as a penalty leaves an empty completion unscored.
        options: `name` is the name in TRL's log. `value` is "score", or "passed" for 1.0 or 0.0.
            `reference`, `contexts` and `schema` are names of columns, if they differ from these.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        missing: str = "raise",
        unscored: float | None = None,
        **options: str,
    ) -> None:
        self.columns = {
            field: options.pop(field, field) for field in ("reference", "contexts", "schema")
        }
        super().__init__(evaluator, **options)
        self.missing, self.unscored, self.__name__ = missing, unscored, self.name
        check_choice(self, "missing", ["raise", "unscored"])

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        completion_ids: Any = None,  # noqa: ARG002 - otherwise it would be a column
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return the rewards of completions, in their order."""
        # Other arguments, such as the trainer's state, are not columns.
        lists = {name: each for name, each in columns.items() if isinstance(each, (list, tuple))}
        lists = {name: each for name, each in lists.items() if len(each) == len(completions)}
        rows = [dict(zip(lists, row)) for row in zip(*lists.values())] or [{}] * len(completions)
        samples = list(map(self._sample, prompts, completions, rows))
        results = iter(self.evaluate_many([each for each in samples if each is not None]))
        absent = Result.unscored("the row lacks a field that the evaluator needs", label="missing")
        found = [absent if sample is None else next(results) for sample in samples]
        if log_extra is not None:
            log_extra(f"{self.name}_reason", [result.reason for result in found])
        if log_metric is not None and found:
            unscored = sum(not result.scored for result in found)
            log_metric(f"{self.name}/unscored", unscored / len(found))
        return [None if each is absent else self.number(each, self.unscored) for each in found]

    def _sample(self, prompt: Any, completion: Any, row: dict[str, Any]) -> Sample | None:
        # Evaluators of tool calls read all messages; the others read the last text.
        is_text = isinstance(completion, str)
        output = completion if is_text else read_messages(completion) or ""
        asked = prompt
        if not isinstance(prompt, str) and len(prompt) == 1:
            asked = text_of_blocks(prompt[0].get("content"))
        fields = {field: row.get(column) for field, column in self.columns.items()}
        try:
            return make_sample(self.evaluator, output, input=asked, variables=row or None, **fields)
        except MissingFieldError as error:
            if self.missing == "unscored":
                return None
            raise MissingFieldError(f"{error}; the columns are {list(row)}") from error
