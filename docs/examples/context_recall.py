import json

from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import ContextRecall

# A scripted model; "openai:gpt-5-mini" asks a real one.
claims = [
    {
        "claim": "It opens at nine.",
        "evidence": "open from 9",
        "documents": [2],
        "verdict": "supported",
    },
    {"claim": "It is closed on Monday.", "evidence": "", "documents": [], "verdict": "unsupported"},
]
judge = ContextRecall(FakeListChatModel(responses=[json.dumps({"claims": claims})]))

reference = "It opens at nine and is closed on Monday."
result = judge("At nine.", reference, contexts=["Our history.", "We are open from 9 to 17."])
print(result.score, result.reason)
#> 0.5 1 of 2 claims are supported; unsupported: It is closed on Monday.
