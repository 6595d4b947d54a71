from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import InstructionAdherence

# A scripted model; InstructionAdherence("openai:gpt-5-mini") asks a real one.
reply = (
    '{"reasoning": "Three sentences where two were asked for.", '
    '"verdict": "Fail", "confidence": "High"}'
)
judge = InstructionAdherence(FakeListChatModel(responses=[reply]))

result = judge("One. Two. Three.", input="Answer in two sentences.")
print(result.score, result.label, result.reason)
#> 0.0 Fail Three sentences where two were asked for.
