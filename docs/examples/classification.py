from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Classification

# A scripted model; "openai:gpt-5-mini" asks a real one.
reply = '{"explanation": "It only apologises.", "label": "evasive"}'
model = FakeListChatModel(responses=[reply])
judge = Classification(
    "helpfulness",
    model,
    "How does the reply deal with the question?\n\n{{input}}\n\n{{output}}",
    choices={"helpful": 1, "partly": 0.5, "evasive": 0},
    threshold=0.5,
)
result = judge("We are sorry to hear that.", input="Where is my parcel?")
print(judge.name, result.score, result.passed, result.label, result.reason)
#> helpfulness 0.0 False evasive It only apologises.
