from llmeval_integrations import ToolCallSchema

parameters = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
schema = ToolCallSchema([{"name": "weather", "parameters": parameters}])

output = '<tool_call>{"name": "weather", "arguments": {"days": "1"}}</tool_call>'
result = schema(output)
print(result.score, result.label, result.reason)
#> 0.0 type weather: "1" is not of type "integer" at /days; and 1 more
print(schema({"name": "weather", "arguments": {"city": "Oslo"}}).passed)
#> True
