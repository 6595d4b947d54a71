"""Does the output repeat itself?"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta

from llmeval_integrations.core.options import ZeroToOne, option_error
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import TextEvaluator
from llmeval_integrations.text.tokenizers import (
    EncodingName,
    Tokenizer,
    TokenizerError,
    TokenizerName,
    load_tokenizer,
)

Scope = Literal["full", "thought"]

_SHOWN: Final = 5


@dataclass(frozen=True)
class NgramRepetitionPenalty(TextEvaluator):
    """Does the output repeat itself?

    The repetition rate is the share of n-grams that occurred earlier in the text, from 0 to 1.

    Score: 0 or below. If the rate is above `penalty_threshold`, the score is
    `(penalty_threshold - rate) * penalty_rate`. A soft penalty falls evenly instead, from 0 at the
    rate `min_scaling` to `max_penalty` at the rate 1. The result passes if the score is 0. An empty
    output is unscored.

    Metadata: `repetition_rate`, `unique_ngrams`, `total_ngrams`, `token_count`, `penalty`,
    `penalty_mode`, the options `n`, `tokenizer` and `analyze_scope`, and `most_common_ngrams`: the
    five most frequent ones, if there is a penalty.
    """

    n: Annotated[int, Meta(ge=1, le=100)] = 3
    """The number of tokens in an n-gram, at most 100."""

    penalty_threshold: ZeroToOne = 0.3
    """The highest rate without a penalty; a soft penalty has `min_scaling` instead."""

    penalty_rate: Annotated[float, Meta(ge=0, le=1e100)] = 1.0
    """The factor of the rate beyond the threshold, unless the penalty is soft."""

    use_soft_penalty: bool = False
    """Whether the penalty is soft."""

    max_penalty: Annotated[float, Meta(ge=-1e100, le=0)] | None = None
    """The lowest possible score, which is at most 0. None means -1.0 for a soft penalty, and no
    limit otherwise."""

    min_scaling: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    """The highest rate without a soft penalty."""

    tokenizer: TokenizerName = "simple"
    """`simple` splits at white space, `tiktoken` into a model's tokens, and `jieba` into Chinese
    words. All but `jieba` ignore case."""

    encoding_name: EncodingName = "cl100k_base"
    """The vocabulary of tiktoken."""

    chinese_only: bool = False
    """Whether jieba keeps only Han characters."""

    analyze_scope: Scope = "full"
    """Whether to check the whole text (`full`), or only the text in `<think>` tags (`thought`)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chinese_only and self.tokenizer != "jieba":
            raise option_error(self, "chinese_only", "for a tokenizer other than jieba")
        if self.encoding_name != "cl100k_base" and self.tokenizer != "tiktoken":
            raise option_error(self, "encoding_name", "for a tokenizer other than tiktoken")
        self._tokenizer()

    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(self.tokenizer, self.encoding_name, self.chinese_only)

    def check_text(self, text: str, sample: Sample) -> Result:  # noqa: ARG002
        if not text:
            return Result.unscored("The output is empty")
        if self.analyze_scope == "thought":
            # No opening tag behind the last closing tag is searched to the end in vain.
            closed = text[: text.rfind("</think>") + len("</think>")]
            text = " ".join(re.findall("<think>(.*?)</think>", closed, re.DOTALL))
        tokenizer = self._tokenizer()
        try:
            tokens = tokenizer.split(text)
        except TokenizerError as error:
            return Result.unscored(str(error), label="tokenizer_error")
        ngrams = [*zip(*(tokens[start:] for start in range(self.n)))]
        total, unique = len(ngrams), len(set(ngrams))
        rate = (total - unique) / total if total else 0.0
        penalty = self._penalty(rate)
        mode = "soft" if self.use_soft_penalty else "hard"
        often = Counter(ngrams).most_common(_SHOWN) if penalty else []
        metadata = {
            "repetition_rate": rate,
            "unique_ngrams": unique,
            "total_ngrams": total,
            "token_count": len(tokens),
            "penalty": penalty,
            "penalty_mode": mode,
            "most_common_ngrams": [
                [tokenizer.join(each), count] for each, count in often if count > 1
            ],
            "n": self.n,
            "tokenizer": self.tokenizer,
            "analyze_scope": self.analyze_scope,
        }
        if total:
            reason = (
                f"{self.n}-gram repetition rate: {rate:.3f}, penalty: {penalty:.3f} ({mode} "
                f"penalty, {self.tokenizer} tokenizer, scope: {self.analyze_scope})"
            )
        elif text or self.analyze_scope == "full":
            reason = f"Text too short for {self.n}-gram analysis"
        else:
            reason = "No thought process found to analyze"
        return Result(penalty, penalty == 0, "repetitive" if penalty else None, reason, metadata)

    def _penalty(self, rate: float) -> float:
        if self.use_soft_penalty:
            steepest = -1.0 if self.max_penalty is None else self.max_penalty
            beyond = max(rate - self.min_scaling, 0.0)
            return beyond / (1 - self.min_scaling) * steepest + 0.0  # never -0.0
        penalty = min((self.penalty_threshold - rate) * self.penalty_rate, 0.0)
        return (penalty if self.max_penalty is None else max(penalty, self.max_penalty)) + 0.0
