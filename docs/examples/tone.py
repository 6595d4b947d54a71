from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Tone

# A scripted model; Tone("openai:gpt-5-mini") asks a real one.
reply = (
    '{"reasoning": "Polite from the first line to the last.", '
    '"verdict": "Pass", "confidence": "High"}'
)
judge = Tone(FakeListChatModel(responses=[reply]))

result = judge("Thank you for asking.", input="Where is my parcel?")
print(result.score, result.label, result.reason)
#> 1.0 Pass Polite from the first line to the last.
