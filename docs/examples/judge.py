from langchain_core.language_models import FakeListChatModel
from pydantic import BaseModel

from llmeval_integrations.judges import Judge


class Translation(BaseModel):
    errors: list[str]
    fluency: int


# A scripted model; "openai:gpt-5-mini" asks a real one.
model = FakeListChatModel(responses=['{"errors": ["left out: please"], "fluency": 4}'])
prompt = "List the errors of this translation and rate it, 1 to 5: {{output}}"
judge = Judge(model, prompt, result_type=Translation, score="fluency", threshold=4)

result = judge("Close the door.", input="Bitte schließen Sie die Tür.")
print(result.score, result.passed, result.metadata["answer"])
#> 4.0 True {'errors': ['left out: please'], 'fluency': 4}
