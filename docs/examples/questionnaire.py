from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Questionnaire

# A scripted model; "openai:gpt-5-mini" asks a real one.
replies = [
    '{"reasoning": "It gives the price.", "verdict": "Pass", "confidence": "High"}',
    '{"reasoning": "No date of delivery.", "verdict": "Fail", "confidence": "Medium"}',
]
questions = ["Does it say what it costs?", "Does it say when it comes?"]
judge = Questionnaire(FakeListChatModel(responses=replies), questions)

result = judge("It costs 12 euros.")
print(round(result.score, 3), result.passed, result.metadata["pass_rate"])
#> 0.575 True 0.5
for answer in result.metadata["questions"]:
    print(answer["label"], answer["reason"])
#> Pass It gives the price.
#> Fail No date of delivery.
