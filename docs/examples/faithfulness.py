from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Faithfulness

# A scripted model; Faithfulness("openai:gpt-5-mini") asks a real one.
reply = (
    '{"reasoning": "The text says 6K, the document 4K.", '
    '"verdict": "Fail", "confidence": "High"}'
)
judge = Faithfulness(FakeListChatModel(responses=[reply]))

result = judge("A stunning 6K TV.", contexts=["The TV has a 4K panel."])
print(result.score, result.label, result.reason)
#> 0.0 Fail The text says 6K, the document 4K.
