"""What does the first of several evaluators say that can tell?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_flag, option_error
from llmeval_integrations.core.quoting import free_name, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.evaluator import JudgedEvaluator, result_of

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask


@dataclass(frozen=True)
class Cascade(JudgedEvaluator):
    """What does the first of several evaluators say that can tell?

    The result is that of the first evaluator that gives one; cheap evaluators come first, and the
    next is asked only where the one before is unscored or, with `doubt`, says that its confidence
    is low. Metadata: `asked`, the evaluators in their order, the last of which decided. A run has
    `asked` as well, how often each was.

    Example:
        >>> from llmeval_integrations import JsonFields
        >>> from llmeval_integrations.judges import Correctness
        >>> Cascade([ExactMatch(), Correctness("openai:gpt-5-mini")])  # doctest: +SKIP
    """

    evaluators: Sequence[Evaluator]
    """The evaluators, the cheapest first. In YAML a list of names with options."""

    doubt: bool = True
    """Whether a low confidence is put to the next, too."""

    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        given = self.evaluators
        if not isinstance(given, Sequence) or isinstance(given, str) or not given:
            raise option_error(self, "evaluators", "a list of evaluators")
        for each in given:
            if not isinstance(each, Evaluator):
                raise InvalidOptionError(f"{self.name}: {quote(each)} is not an evaluator")
        check_flag(self, "doubt")
        names: list[str] = []
        for each in given:
            names.append(free_name(each.name, names))
        object.__setattr__(self, "evaluators", tuple(given))
        is_lower = all(each.lower_is_better for each in given)
        self.__dict__.update(_names=names, needs=given[0].needs, lower_is_better=is_lower)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        asked: list[str] = []
        result = Result.unscored("nothing was asked", label="unscored")
        for name, each in zip(self.__dict__["_names"], self.evaluators):
            asked.append(name)
            result = await result_of(each, sample, ask)
            if not self._is_open(result):
                break
        return msgspec.structs.replace(result, metadata={**result.metadata, "asked": asked})

    def _is_open(self, result: Result) -> bool:
        is_low = str(result.metadata.get("confidence")).casefold() == "low"
        return result.is_unscored or (self.doubt and is_low)

    def breakdown(self) -> _Account:
        return _Account()


class _Account:
    """How often each evaluator of a cascade was asked."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def add(self, sample: Any, metadata: Mapping[str, Any], /) -> None:  # noqa: ARG002
        """Count one result in."""
        self._asked.update(metadata.get("asked", ()))

    def summary(self) -> dict[str, Any]:
        """Return how often each was asked."""
        return {"asked": dict(self._asked)}
