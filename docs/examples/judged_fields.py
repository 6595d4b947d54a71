from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import JudgedFields

# A scripted model; "openai:gpt-5-mini" asks a real one.
verdict = '{"reasoning": "Both say it is late.", "verdict": "Pass", "confidence": "High"}'
model = FakeListChatModel(responses=[f'{{"question_1": {verdict}}}'])
judge = JudgedFields(model, judged=["/summary"])

reference = {"order": 17, "summary": "The parcel is late."}
result = judge({"order": 71, "summary": "Delivery is delayed."}, reference)
print(result.score, result.reason)
#> 0.5 /order 71, expected 17
