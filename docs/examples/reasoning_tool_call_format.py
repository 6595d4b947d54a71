from llmeval_integrations import ReasoningToolCallFormat

call = '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>'
result = ReasoningToolCallFormat()(f"<think>I need the weather.</think>{call}{call}")
print(result.score, result.metadata["tool_call_count"])
#> 1.0 2

result = ReasoningToolCallFormat()("<think>Hm.</think><tool_call>5</tool_call>")
print(result.score, result.reason)
#> 0.0 Invalid JSON format in <tool_call> tags
