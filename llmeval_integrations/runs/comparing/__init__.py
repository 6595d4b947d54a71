"""What is better in one run than in another, and what is worse."""

from llmeval_integrations.runs.comparing.compare import compare
from llmeval_integrations.runs.comparing.comparison import Comparison

__all__ = ["Comparison", "compare"]
