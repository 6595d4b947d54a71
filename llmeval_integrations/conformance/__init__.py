"""Does an evaluator do what it claims? Hard cases to try it on.

`check_evaluator(evaluator, claims="json_equality")` gives findings; `llmeval check` prints them.
"""

from llmeval_integrations.conformance.checking import check_evaluator
from llmeval_integrations.conformance.finding import Finding, Findings
from llmeval_integrations.conformance.rules import list_claims

__all__ = ["Finding", "Findings", "check_evaluator", "list_claims"]
