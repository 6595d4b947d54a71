"""Hard cases for what an evaluator claims.

`check_evaluator(evaluator, claims="json_equality")` returns the findings that
`llmeval test-evaluator` prints.
"""

from llmeval_integrations.conformance.check import check_evaluator, list_claims
from llmeval_integrations.conformance.faults import Finding, Findings

__all__ = ["Finding", "Findings", "check_evaluator", "list_claims"]
