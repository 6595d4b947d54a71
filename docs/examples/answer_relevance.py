import json

from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import AnswerRelevance

# A scripted model; "openai:gpt-5-mini" asks a real one.
claims = [
    {"claim": "It opens at nine.", "evidence": "When", "documents": [], "verdict": "relevant"},
    {"claim": "The hall is old.", "evidence": "", "documents": [], "verdict": "irrelevant"},
]
judge = AnswerRelevance(FakeListChatModel(responses=[json.dumps({"claims": claims})]))

result = judge("It opens at nine. The hall is old.", input="When do you open?")
print(result.score, result.reason)
#> 0.5 1 of 2 claims are relevant; irrelevant: The hall is old.
