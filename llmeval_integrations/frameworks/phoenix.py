"""Our evaluators for Phoenix: an `Evaluator` for phoenix-evals and for experiments.

    import pandas as pd
    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.phoenix import PhoenixEvaluator
    from phoenix.evals import bind_evaluator, evaluate_dataframe

    columns = {"output": "answer", "reference": "gold"}
    equal = bind_evaluator(evaluator=PhoenixEvaluator(JsonEquality()), input_mapping=columns)
    frame = pd.DataFrame({"answer": ["[1]"], "gold": ["[1.0]"]})
    scored = evaluate_dataframe(dataframe=frame, evaluators=[equal])
    scored["json_equality_score"][0]["score"]  # 1.0

An experiment accepts the same object. There, `reference` is the whole mapping of an example. To
select one value, bind {"reference": "reference.answer"}.
"""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

from llmeval_integrations.core.errors import EvalError
from llmeval_integrations.core.evaluator import Evaluator as OurEvaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.frameworks._base import FIELDS, Wrapper, make_sample, optional
from llmeval_integrations.json_values.parse import as_python

with optional("phoenix.evals", "arize-phoenix-evals", "phoenix"):
    import pandas as pd
    from phoenix.evals import Evaluator, Score
    from phoenix.evals.exceptions import PhoenixException
    from pydantic import BaseModel, create_model


class PhoenixCallError(EvalError, PhoenixException):  # type: ignore[misc]
    """A bad call, with our message. Phoenix would repeat the call ten times for other errors."""


class _Cells(BaseModel):
    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return the cells unchanged, since messages are models too and must stay messages."""
        return {name: getattr(self, name) for name in type(self).model_fields}


with catch_warnings():
    simplefilter("ignore", UserWarning)  # `schema` hides a method of BaseModel that nobody calls
    _fields: Any = {"output": (Any, MISSING), **dict.fromkeys(FIELDS, (Any, None))}
    PhoenixInput = create_model("PhoenixInput", __base__=_Cells, **_fields)
    """The columns or keys that are read. `bind_evaluator` can map other names to them."""


class PhoenixEvaluator(Wrapper, Evaluator):  # type: ignore[misc]
    """One of our evaluators for `evaluate_dataframe`, `async_evaluate_dataframe` and experiments.

    The metadata contain `passed`. An unscored result is a Score whose score is None. A bad call
    raises PhoenixCallError, and Phoenix stops unless `exit_on_error=False`. The fields of the
    sample are the columns with their names, or those that `bind_evaluator` maps to them. None and
    NaN mean an empty output, or the absence of any other field.
    """

    name = ""  # Phoenix's own attribute cannot be set

    def __init__(self, evaluator: OurEvaluator, *, name: str | None = None) -> None:
        Wrapper.__init__(self, evaluator, name=name)
        Evaluator.__init__(
            self,
            name=self.name,
            direction="minimize" if evaluator.lower_is_better else "maximize",
            kind="llm" if evaluator.is_judge else "code",
            input_schema=PhoenixInput,
        )

    def _evaluate(self, eval_input: dict[str, Any]) -> list[Score]:
        try:
            return [self._score(self.evaluator.evaluate(self._sample(eval_input)))]
        except EvalError as error:
            raise PhoenixCallError(str(error)) from error

    async def _async_evaluate(self, eval_input: dict[str, Any]) -> list[Score]:
        try:
            return [self._score(await self.evaluator.aevaluate(self._sample(eval_input)))]
        except EvalError as error:
            raise PhoenixCallError(str(error)) from error

    def _sample(self, cells: dict[str, Any]) -> Sample:
        absent = [
            name for name, cell in cells.items() if pd.api.types.is_scalar(cell) and pd.isna(cell)
        ]
        return make_sample(self.evaluator, **{**cells, **dict.fromkeys(absent)})

    def _score(self, result: Result) -> Score:
        return Score(
            name=self.name,
            score=None if result.score is None else float(result.score),
            label=result.label,
            explanation=result.reason,
            metadata={**result.metadata, "passed": as_python(result.passed)},
            kind=self.kind,
            direction=self.direction,
        )
