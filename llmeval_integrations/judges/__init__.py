"""Evaluators that ask a model, with their prompts, verdicts and agreement with people."""

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.judges.claims import (
    AnswerRelevance,
    ClaimFaithfulness,
    ContextPrecision,
    ContextRecall,
)
from llmeval_integrations.judges.classification import Classification, Preference, Rubric
from llmeval_integrations.judges.ensembles import Cascade, Panel, Questionnaire, Vote
from llmeval_integrations.judges.evaluator import Judge, JudgedEvaluator
from llmeval_integrations.judges.generators import OutputGenerator, QuestionGenerator, aask, ask
from llmeval_integrations.judges.judged_fields import JudgedFields, JudgedToolCalls
from llmeval_integrations.judges.pass_fail import (
    Completeness,
    Correctness,
    Faithfulness,
    InstructionAdherence,
    PassFail,
    Relevance,
    Safety,
    ScoreTable,
    Tone,
)
from llmeval_integrations.judges.prompt import Prompt
from llmeval_integrations.judges.reader import parse_judgement
from llmeval_integrations.judges.trust import Calibration, Shift, calibrate, judge_bias
from llmeval_integrations.judges.vocabulary import Confidence, Judgement, Verdict
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.stats.judge_agreement import Agreement, agreement
from llmeval_integrations.stats.judged_rate import JudgedRate, labels_needed

__all__ = [
    "Agreement",
    "AnswerRelevance",
    "Calibration",
    "Cascade",
    "ClaimFaithfulness",
    "Classification",
    "Completeness",
    "Confidence",
    "ContextPrecision",
    "ContextRecall",
    "Correctness",
    "Faithfulness",
    "InstructionAdherence",
    "Judge",
    "JudgedEvaluator",
    "JudgedFields",
    "JudgedRate",
    "JudgedToolCalls",
    "Judgement",
    "Message",
    "OutputGenerator",
    "Panel",
    "PassFail",
    "Preference",
    "Prompt",
    "QuestionGenerator",
    "Questionnaire",
    "Relevance",
    "Request",
    "Rubric",
    "Safety",
    "ScoreTable",
    "Shift",
    "Tone",
    "UnreadableJudgementError",
    "Verdict",
    "Vote",
    "aask",
    "agreement",
    "ask",
    "calibrate",
    "judge_bias",
    "labels_needed",
    "load_client",
    "parse_judgement",
]
