from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import PassFail

# A scripted model; PassFail("openai:gpt-5-mini", ...) asks a real one.
replies = [
    '{"reasoning": "The text says 6K.", "verdict": "Fail", "confidence": "High"}',
    "Pass/Fail, who knows",
    "I still cannot say.",
]
question = "Does it name only features of the input? (Pass = it invents none)"
judge = PassFail(FakeListChatModel(responses=replies), question)

result = judge("A stunning 6K TV.", input="Describe a 4K TV.")
print(result.score, result.label, result.reason)
#> 0.0 Fail The text says 6K.
result = judge("A stunning 4K TV.", input="Describe a 4K TV.")
print(result.score, result.label, result.metadata["judge"]["calls"])  # asked once more
#> None unreadable 2
