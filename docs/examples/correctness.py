from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Correctness

# A scripted model; Correctness("openai:gpt-5-mini") asks a real one.
reply = (
    '{"reasoning": "Both give the year 1969.", '
    '"verdict": "Pass", "confidence": "High"}'
)
judge = Correctness(FakeListChatModel(responses=[reply]))

result = judge("It was in 1969.", reference="1969")
print(result.score, result.label, result.reason)
#> 1.0 Pass Both give the year 1969.
