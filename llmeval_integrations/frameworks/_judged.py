"""Judges behind the evaluators of LangChain and LlamaIndex that ask a model.

Each of these has a template of its own, which users replace, and reads one word or one number out
of a free reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample, as_sample
from llmeval_integrations.evaluators.text import to_text
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.judges.judge import Judge
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.replies.parse import parse_judgement
from llmeval_integrations.messages.reading import read_answer


class TemplateJudge(Evaluator):
    """What does a model answer to a template: one of some words, or a number on a scale?

    Score: what `words` gives the word, or the number. Label: the word. Reason: the reply without
    it. Metadata: `reply`. A reply that does not say one of them clearly leaves it unscored.
    """

    is_judge = True

    def __init__(
        self,
        model: Any,
        prompt: Any,
        *,
        words: Mapping[str, float] | None = None,
        scale: tuple[float, float] | None = None,
        threshold: float | None = None,
        name: str = "template_judge",
    ) -> None:
        self.judge: JudgedEvaluator = Judge(model, prompt)
        self.prompt: Prompt = self.judge.prompt
        self.words, self.scale, self.threshold, self.name = words, scale, threshold, name

    def __repr__(self) -> str:
        return f"TemplateJudge({self.judge!r}, words={self.words}, scale={self.scale})"

    def check(self, sample: Sample) -> Result:
        return self._read(self.judge.evaluate(sample), sample)

    async def aevaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        sample = as_sample(sample)
        return self._read(await self.judge.aevaluate(sample), sample)

    def _read(self, result: Result, sample: Sample) -> Result:
        reply = result.metadata.get("answer")
        if reply is None:
            return result  # the model gave none
        metadata = {**result.metadata, "reply": reply}
        fields = (sample.output, sample.reference, sample.input)
        quotable = [to_text(read_answer(each).value) for each in fields if each is not MISSING]
        variables = sample.variables if isinstance(sample.variables, Mapping) else {}
        quotable += [each for each in variables.values() if isinstance(each, str)]
        words = None if self.words is None else tuple(self.words)
        own = reply
        for text in quotable:
            own = own.replace(text, "...") if "[[" in text else own  # brackets may be quoted, too
        try:
            found = parse_judgement(
                own,
                words=words,
                scale=self.scale,
                ignoring=quotable,
                methods=[_first_word] if words else (),
            )
        except UnreadableJudgementError as error:
            return Result.unscored(str(error), label="unreadable", **metadata)
        verdict: Any = found.verdict
        score = float(verdict if self.words is None else self.words[verdict])
        passed = None if self.threshold is None else score >= self.threshold
        label = None if self.words is None else verdict
        return Result(score, passed, label, found.reasoning, metadata)


def _first_word(reply: str) -> dict[str, str]:
    """Read a reply such as "No, the context says otherwise." by its first word."""
    word, _, rest = reply.strip().partition(",")
    return {"verdict": word, "reasoning": rest.strip()}
