from llmeval_integrations import ToolCalls

expected = [
    {"name": "weather", "arguments": {"city": {"$any_of": ["NYC", "New York"]}}},
    {"name": "clock", "arguments": {}},
]
calls = [
    {"name": "clock", "arguments": {}},
    {"name": "weather", "arguments": '{"city": "Boston"}'},
]
result = ToolCalls()({"tool_calls": calls}, expected)
print(result.score, result.label, result.reason)
#> 0.75 wrong_arguments weather: /city "Boston", expected "NYC" or "New York"
print(ToolCalls(call_order="strict")({"tool_calls": calls}, expected).score)
#> 0.5
