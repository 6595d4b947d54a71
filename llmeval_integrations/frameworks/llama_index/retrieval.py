"""LlamaIndex's evaluators of retrieval and of meaning, and questions to evaluate a retriever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from llama_index.core import Settings
from llama_index.core.async_utils import run_jobs
from llama_index.core.evaluation import RetrievalEvalResult
from llama_index.core.evaluation import RetrieverEvaluator as BaseRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics_base import RetrievalMetricResult
from llama_index.core.ingestion import run_transformations
from llama_index.core.schema import BaseNode
from pydantic import BaseModel

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.options import check_count
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.embedding_distance import EmbeddingDistance
from llmeval_integrations.evaluators.retrieval import Retrieval
from llmeval_integrations.frameworks.llama_index.evaluator import LlamaIndexEvaluator
from llmeval_integrations.judges.evaluator import Judge

_PROMPT: Final = (
    "Write {count} questions that can be answered from this text alone, no two about the same "
    "thing. Each can be understood without the text.\n\n{output}"
)


class SemanticSimilarityEvaluator(LlamaIndexEvaluator):
    """How similar are the meanings of the response and the reference?

    The score is 1 minus their cosine distance. It passes if it is at least `similarity_threshold`.
    `embed_model` is `Settings.embed_model` by default.
    """

    def __init__(self, embed_model: Any = None, similarity_threshold: float = 0.8) -> None:
        model = Settings.embed_model if embed_model is None else embed_model
        super().__init__(EmbeddingDistance(model, threshold=round(1 - similarity_threshold, 9)))

    def _scale(self, score: float) -> float:
        return 1 - score

    def _feedback(self, result: Result) -> str | None:
        score = result.score
        return result.reason if score is None else f"Similarity score: {self._scale(score):.4g}"


class RetrieverEvaluator(BaseRetrieverEvaluator):  # type: ignore[misc]
    """Which of the expected documents does a retriever find? The metrics are those of Retrieval.

    Example:
        >>> metrics = RetrieverEvaluator.from_metric_names(
        ...     ["mrr", "ndcg"], retriever=retriever
        ... )  # doctest: +SKIP
    """

    async def aevaluate(
        self, query: str, expected_ids: list[str], expected_texts: Any = None, **_: Any
    ) -> RetrievalEvalResult:
        """Retrieve for a query, and compare the ids with the expected ones."""
        ids, texts = await self._aget_retrieved_ids_and_texts(query)
        figures = Retrieval()(None, retrieved=ids, relevant=expected_ids).metadata
        found = {
            metric.metric_name: RetrievalMetricResult(score=figures[metric.metric_name])
            if metric.metric_name in figures and metric == type(metric)()
            else metric.compute(query, expected_ids, ids, expected_texts, texts)  # with options
            for metric in self.metrics
        }
        result = {"expected_ids": expected_ids, "expected_texts": expected_texts}
        result |= {"retrieved_ids": ids, "retrieved_texts": texts}
        return RetrievalEvalResult(query=query, metric_dict=found, **result)

    async def aevaluate_dataset(
        self, dataset: Any, workers: int = 2, show_progress: bool = False
    ) -> list[RetrievalEvalResult]:
        """Evaluate each query of a QuestionDataset or of LlamaIndex's, several at a time."""
        queries = dataset.queries.items()
        jobs = [self.aevaluate(query, dataset.relevant_docs[key]) for key, query in queries]
        found: list[RetrievalEvalResult] = await run_jobs(jobs, show_progress, workers)
        return found


class Questions(BaseModel):
    """The reply of the model."""

    questions: list[str]


@dataclass(frozen=True)
class QuestionDataset:
    """Questions and the nodes that answer them, for `RetrieverEvaluator.aevaluate_dataset`."""

    queries: dict[str, str]
    """The questions by id."""

    corpus: dict[str, str]
    """The texts of the nodes by id."""

    relevant_docs: dict[str, list[str]]
    """For each id of a question, the ids of the nodes that answer it."""


class QuestionGenerator:
    """Writes questions about nodes, with the id of the node that answers each.

    Example:
        >>> dataset = QuestionGenerator.from_documents(documents, llm).generate()  # doctest: +SKIP
        >>> await evaluator.aevaluate_dataset(dataset)  # doctest: +SKIP
    """

    def __init__(
        self, nodes: Sequence[BaseNode], llm: Any = None, num_questions_per_chunk: int = 10
    ) -> None:
        check_count("num_questions_per_chunk", num_questions_per_chunk)
        self.nodes, self.count = list(nodes), num_questions_per_chunk
        self.judge = Judge(Settings.llm if llm is None else llm, _PROMPT, Questions)

    @classmethod
    def from_documents(cls, documents: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Build it from documents, which `Settings.transformations` split into nodes."""
        nodes = run_transformations(list(documents), Settings.transformations)
        return cls(nodes, *args, **kwargs)

    def generate(self) -> QuestionDataset:
        """Ask the model about each node, and return the questions and their nodes.

        A question that it repeats counts once. Raises UnreadableJudgementError for a reply that is
        no list of questions; an empty list is one.
        """
        corpus = {node.node_id: node.get_content() for node in self.nodes}
        variables = {"count": self.count}
        samples = [Sample(text, variables=variables) for text in corpus.values()]
        queries, relevant = {}, {}
        for node_id, result in zip(corpus, self.judge.evaluate_many(samples), strict=True):
            if "answer" not in result.metadata:
                raise UnreadableJudgementError(f"no questions of {node_id}: {result.reason}")
            questions = dict.fromkeys(map(str.strip, result.metadata["answer"]["questions"]))
            for question in [*filter(None, questions)][: self.count]:
                key = str(uuid4())
                queries[key], relevant[key] = question, [node_id]
        return QuestionDataset(queries, corpus, relevant)
