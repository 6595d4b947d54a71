import json

from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import ContextPrecision

# A scripted model; "openai:gpt-5-mini" asks a real one.
claims = [
    {
        "claim": "It opens at nine.",
        "evidence": "open from 9",
        "documents": [2],
        "verdict": "supported",
    },
]
judge = ContextPrecision(FakeListChatModel(responses=[json.dumps({"claims": claims})]))

contexts = ["Our history.", "We are open from 9 to 17."]
result = judge("At nine.", "It opens at nine.", contexts=contexts)
print(result.score, result.metadata["claims"][0]["documents"])  # the second one is useful
#> 0.5 [2]
