from llmeval_integrations import JsonObject

for output in ('{"age": 30}', "[30]", '```json\n{"age": 30}\n```'):
    result = JsonObject()(output)
    print(result.score, result.label, result.reason)
#> 1 None A JSON object
#> 0 not_an_object Expected a JSON object, got list
#> 0 code_fence Expecting value: line 1 column 1 (char 0)
