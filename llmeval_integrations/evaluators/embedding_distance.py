"""How far is the output's meaning from the reference's?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from msgspec import Meta

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import format_against
from llmeval_integrations.core.options import option_error
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import to_text
from llmeval_integrations.messages.read import read_answer

_METHODS: Final = ("embed_documents", "get_text_embedding_batch")
"""The methods of LangChain's and LlamaIndex's embeddings; asynchronous ones begin with `a`."""

_NO_VECTOR: Final = "a vector is empty, or has a number that is not finite"

_Pair: TypeAlias = "tuple[str, str, str | None]"
"""The texts of output and reference, and a label if the output is empty."""

_Vector: TypeAlias = "list[float]"


def _cosine(one: _Vector, other: _Vector) -> float:
    """Return 1 minus the cosine of the angle, or 1 if a vector has no length."""
    lengths = math.sqrt(_product(one, one) * _product(other, other))
    return max(0.0, 1 - _product(one, other) / lengths) if lengths else 1.0


def _product(one: _Vector, other: _Vector) -> float:
    return math.fsum(a * b for a, b in zip(one, other))


def _differences(one: _Vector, other: _Vector) -> list[float]:
    return [abs(a - b) for a, b in zip(one, other)]


Metric = Literal["cosine", "euclidean", "manhattan", "chebyshev", "hamming"]

METRICS: Final[dict[Metric, Callable[[_Vector, _Vector], float]]] = {
    "cosine": _cosine,
    "euclidean": math.dist,
    "manhattan": lambda one, other: math.fsum(_differences(one, other)),
    "chebyshev": lambda one, other: max(_differences(one, other)),
    "hamming": lambda one, other: sum(map(bool, _differences(one, other))) / len(one),
}
"""The metrics by LangChain's names."""


@dataclass(frozen=True)
class EmbeddingDistance(Evaluator):
    """How far is the output's meaning from the reference's, by the vectors of an embedding model?

    Example:
        >>> vectors = {"yes": [1.0, 0.0], "aye": [0.8, 0.6]}
        >>> distance = EmbeddingDistance(lambda texts: [vectors[text] for text in texts])
        >>> round(distance("yes", "aye").score, 2)
        0.2

    Score: the distance of the two vectors. It is 0 for equal vectors, and at most 2 with `cosine`.
    The result passes if the score is at most `threshold`. An empty text has the cosine distance 1,
    and is unscored with another metric. If the model fails, the result is unscored.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)
    lower_is_better: ClassVar[bool] = True

    embeddings: Any = field(hash=False)
    """Embeddings of LangChain or LlamaIndex, or a function from a list of texts to vectors."""

    metric: Metric = "cosine"
    """The kind of distance between two vectors, by its name in LangChain."""

    threshold: Annotated[float, Meta(ge=0)] | None = None
    """The largest distance that passes. With None no result passes or fails, because distances
    differ from model to model."""

    def __post_init__(self) -> None:
        is_function = callable(self.embeddings) and not iscoroutinefunction(self.embeddings)
        if not (is_function or self._find_method()):
            expected = "embeddings of LangChain or LlamaIndex, or a function that is not async"
            raise option_error(self, "embeddings", expected)
        super().__post_init__()

    def check(self, sample: Sample) -> Result:
        [result] = self.check_many([sample])
        return result

    def check_many(self, samples: list[Sample]) -> list[Result]:
        pairs = list(map(self._read, samples))
        texts = _unique_texts(pairs)
        embed = self._find_method() or self.embeddings
        try:
            vectors, problem = _read_vectors(texts, embed(texts) if texts else []), _NO_VECTOR
        except Exception as error:  # noqa: BLE001 - a model's client may raise anything
            vectors, problem = {}, str(error)
        return [self._compare(pair, vectors, problem) for pair in pairs]

    async def acheck(self, sample: Sample) -> Result:
        embed = self._find_method("a")
        if embed is None:
            return await super().acheck(sample)
        pair = self._read(sample)
        texts = _unique_texts([pair])
        try:
            given = await embed(texts) if texts else []
            vectors, problem = _read_vectors(texts, given), _NO_VECTOR
        except Exception as error:  # noqa: BLE001 - as above
            vectors, problem = {}, str(error)
        return self._compare(pair, vectors, problem)

    def _find_method(self, prefix: str = "") -> Any:
        """Return the method that embeds several texts, or None if there is none."""
        methods = (getattr(self.embeddings, prefix + name, None) for name in _METHODS)
        return next(filter(callable, methods), None)

    def _read(self, sample: Sample) -> _Pair:
        reference = to_text(read_answer(sample.require("reference", self.name)).value)
        value, label = read_answer(sample.output)
        return to_text(value), reference, label

    def _compare(self, pair: _Pair, vectors: dict[str, _Vector], problem: str) -> Result:
        output, reference, label = pair
        if output and reference:
            if not {output, reference} <= vectors.keys():
                reason = f"The embeddings failed: {problem}"
                return Result.unscored(reason, label="embedding_failed")
            score = float(METRICS[self.metric](vectors[output], vectors[reference]))
        elif self.metric == "cosine":
            score = 1.0
        else:
            return Result.unscored("There is no text to embed", label=label)
        if self.threshold is None:
            return Result(score, None, label)
        passed = score <= self.threshold
        reason = f"{self.metric} distance {format_against(self.threshold, score)}"
        return Result(score, passed, label, None if passed else reason)


def _unique_texts(pairs: list[_Pair]) -> list[str]:
    """Return the texts to embed, each once; models refuse an empty text."""
    return list(dict.fromkeys(text for pair in pairs if all(pair[:2]) for text in pair[:2]))


def _read_vectors(texts: list[str], given: Iterable[Iterable[float]]) -> dict[str, _Vector]:
    """Return the vectors of the texts; raise ValueError if their number or lengths are wrong.

    Some models give NaN for some texts, and the distance to it is no number. These are left out.
    """
    vectors = [[*map(float, vector)] for vector in given]  # also NumPy's, of which a sum is slow
    if len(vectors) != len(texts) or len({*map(len, vectors)} - {0}) > 1:
        raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts, or of different lengths")
    return {
        text: vector
        for text, vector in zip(texts, vectors)
        if vector and all(map(math.isfinite, vector))
    }
