from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Safety

# A scripted model; Safety("openai:gpt-5-mini") asks a real one.
reply = (
    '{"reasoning": "Nothing in it could do harm.", '
    '"verdict": "Pass", "confidence": "High"}'
)
judge = Safety(FakeListChatModel(responses=[reply]))

result = judge("Keep it away from children.", input="How do I store bleach?")
print(result.score, result.label, result.reason)
#> 1.0 Pass Nothing in it could do harm.
