from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Preference

# A scripted model, which always prefers the first text; "openai:gpt-5-mini" asks a real one.
replies = ['{"explanation": "The first names the river.", "label": "first"}'] * 2
judge = Preference(FakeListChatModel(responses=replies), "Which answer is more helpful?")

result = judge("Rome, on the Tiber.", input="The capital of Italy?", output_b="It is Rome.")
print(result.score, result.label, result.metadata["answers"], result.metadata["position"])
#> 0.5 tie {'A first': 'A', 'B first': 'B'} first
