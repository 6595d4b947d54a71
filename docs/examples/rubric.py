from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Rubric

# A scripted model; "openai:gpt-5-mini" asks a real one.
model = FakeListChatModel(responses=['{"explanation": "It thanks and explains.", "label": "4"}'])
anchors = {1: "Rude, or no help.", 3: "Plain help.", 5: "Kind, and all that was asked for."}
examples = [{"output": "Read the manual.", "label": 1}]
judge = Rubric(model, anchors, "How kind is the reply?", threshold=0.5, examples=examples)

result = judge("Thank you for asking! It opens at nine.", input="When do you open?")
print(result.score, result.passed, result.label, result.reason)
#> 0.75 True 4 It thanks and explains.
