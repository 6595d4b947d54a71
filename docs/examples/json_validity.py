from llmeval_integrations import JsonValidity

result = JsonValidity()('{"name": "John", "age": 30,}')
print(result.score, result.label, result.metadata["offset"])
#> 0.0 trailing_comma 27
print(result.metadata["line"], result.metadata["column"])
#> 1 28

fenced = 'Sure!\n```json\n{"age": 30}\n```'
print(JsonValidity()(fenced).label, JsonValidity(parsing="lenient")(fenced).passed)
#> prose_around True
