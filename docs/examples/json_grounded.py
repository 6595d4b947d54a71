from llmeval_integrations import JsonGrounded

source = "Rechnung der Hafen Logistik GmbH vom 5. Januar 2024 über 1.250,50 €"
output = {"vendor": "Hafen Logistik", "date": "2024-01-05", "total": 1250.5, "net": 1050.84}
result = JsonGrounded()(output, input=source)
print(result.score, result.reason)
#> 0.75 not in the source: /net 1050.84
start, end = result.metadata["outcomes"][2]["place"]
print(source[start:end])
#> 1.250,50
print(JsonGrounded(fields={"/net": {"derived": True}})(output, input=source).score)
#> 1.0
