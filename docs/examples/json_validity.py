from llmeval_integrations import JsonValidity

result = JsonValidity()('{"name": "John", "age": 30,}')
print(result.score, result.label, result.metadata["offset"])
#> 0 trailing_comma 27
print(result.reason)
#> Expecting property name enclosed in double quotes: line 1 column 28 (char 27)

fenced = 'Sure!\n```json\n{"age": 30}\n```'
print(JsonValidity()(fenced).label, JsonValidity(parsing="lenient")(fenced).passed)
#> prose_around True
