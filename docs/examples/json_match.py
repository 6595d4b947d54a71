from llmeval_integrations import JsonMatch

reference = {"vendor": "Acme", "items": [{"sku": "A-1"}, {"sku": "B-2"}]}
output = '{"vendor": null, "items": [{"sku": "B-2"}, {"sku": "A-1"}], "note": ""}'

result = JsonMatch(strict_order=False)(output, reference)
print(result.score, result.label, result.reason)
#> 0.0 wrong_type /vendor null, expected "Acme"; /note extra
for difference in result.metadata["differences"]:
    print(difference)
#> {'pointer': '/vendor', 'kind': 'wrong_type', 'output': None, 'reference': 'Acme'}
#> {'pointer': '/note', 'kind': 'extra', 'output': ''}
print(JsonMatch(strict_order=False, ignore_extra_keys=True)(output, reference).reason)
#> /vendor null, expected "Acme"
