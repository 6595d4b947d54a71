import json

from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import ClaimFaithfulness

# A scripted model; "openai:gpt-5-mini" asks a real one.
claims = [
    {
        "claim": "It opens at nine.",
        "evidence": "open from 9",
        "documents": [1],
        "verdict": "supported",
    },
    {"claim": "Entry is free.", "evidence": "", "documents": [], "verdict": "unsupported"},
]
judge = ClaimFaithfulness(FakeListChatModel(responses=[json.dumps({"claims": claims})]))

result = judge("It opens at nine, and entry is free.", contexts=["We are open from 9 to 17."])
print(result.score, result.reason)
#> 0.5 1 of 2 claims are supported; unsupported: Entry is free.
print(result.metadata["claims"][0]["evidence"], result.metadata["claims"][0]["quoted"])
#> open from 9 True
