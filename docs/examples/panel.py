from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import Panel, Safety

# Scripted models; "openai:gpt-5-mini" asks a real one.
replies = [
    f'{{"reasoning": "So it is.", "verdict": "{verdict}", "confidence": "High"}}'
    for verdict in ("Pass", "Pass", "Fail")
]
judges = [Safety(FakeListChatModel(responses=[reply])) for reply in replies]

panel = Panel(judges)
result = panel("Keep it away from children.", input="How do I store bleach?")
print(result.score, result.passed, result.metadata["split"])
#> 1.0 True {'Pass': 2, 'Fail': 1}

tied = Panel(judges[1:])
print(tied("Keep it away from children.").reason)
#> The votes are tied: Pass 1, Fail 1
