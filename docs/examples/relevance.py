from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Relevance

# A scripted model; Relevance("openai:gpt-5-mini") asks a real one.
reply = (
    '{"reasoning": "Asked for the price, told the colour.", '
    '"verdict": "Fail", "confidence": "High"}'
)
judge = Relevance(FakeListChatModel(responses=[reply]))

result = judge("It is blue.", input="What does it cost?")
print(result.score, result.label, result.reason)
#> 0.0 Fail Asked for the price, told the colour.
