from llmeval_integrations import JsonObject

for output in ('{"age": 30}', "[30]", '```json\n{"age": 30}\n```'):
    result = JsonObject()(output)
    print(result.score, result.label)
#> 1.0 None
#> 0.0 not_an_object
#> 0.0 code_fence
