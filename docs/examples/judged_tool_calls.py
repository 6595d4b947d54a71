from langchain_core.language_models import FakeListChatModel

from llmeval_integrations.judges import JudgedToolCalls

# A scripted model; "openai:gpt-5-mini" asks a real one.
verdict = '{"reasoning": "Both say it is late.", "verdict": "Pass", "confidence": "High"}'
model = FakeListChatModel(responses=[f'{{"question_1": {verdict}}}'])
judge = JudgedToolCalls(model, judged=["send_mail/body"])

call = {"name": "send_mail", "arguments": {"to": "ann@example.org", "body": "Delivery is delayed."}}
expected = {"name": "send_mail", "arguments": {"to": "bob@example.org", "body": "It is late."}}
result = judge(call, expected)
print(result.score, result.reason)
#> 0.6666666666666666 send_mail: /to "ann@example.org", expected "bob@example.org"
