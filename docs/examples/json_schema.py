from llmeval_integrations import JsonSchema

schema = JsonSchema({
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 18}},
    "required": ["name"],
})
result = schema('{"age": 17}')
print(result.score, result.label, round(result.metadata["schema_score"], 2))
#> 0.0 required 0.33
print(result.reason)
#> "name" is a required property at the root; and 1 more
schema.assert_passes('{"name": "Ann", "age": 30}')  # or an AssertionError
