from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Completeness

# A scripted model; Completeness("openai:gpt-5-mini") asks a real one.
reply = (
    '{"reasoning": "The second question is left out.", '
    '"verdict": "Fail", "confidence": "High"}'
)
judge = Completeness(FakeListChatModel(responses=[reply]))

result = judge("It costs 12 euros.", input="What does it cost, and when is it here?")
print(result.score, result.label, result.reason)
#> 0.0 Fail The second question is left out.
