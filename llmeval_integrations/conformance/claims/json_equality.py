"""Is the output the same JSON as the reference?"""

from __future__ import annotations

from typing import Final

from llmeval_integrations.conformance import same_json

CASES: Final = same_json.CASES
GROWTHS: Final = same_json.GROWTHS
