from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Cascade, PassFail

# Scripted models; "openai:gpt-5-nano" and "openai:gpt-5" ask real ones.
unsure = '{"reasoning": "It may be.", "verdict": "Pass", "confidence": "Low"}'
sure = '{"reasoning": "The text says 6K.", "verdict": "Fail", "confidence": "High"}'
question = "Does it name only features of the input? (Pass = it invents none)"
small = PassFail(FakeListChatModel(responses=[unsure]), question)
large = PassFail(FakeListChatModel(responses=[sure]), question)

result = Cascade([small, large])("A stunning 6K TV.", input="Describe a 4K TV.")
print(result.score, result.label, result.metadata["asked"])
#> 0.0 Fail ['pass_fail', 'pass_fail_2']
