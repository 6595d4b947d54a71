"""Does the output match the reference, path by path? The rules of equality apply."""

from llmeval_integrations.conformance.claims.json_equality import CASES, GROWTHS

__all__ = ["CASES", "GROWTHS"]
