from llmeval_integrations import JsonEditDistance

distance = JsonEditDistance(threshold=0.1)
result = distance('{"b": 3, "a": 1}', '{"a": 1, "b": 2}')  # keys have no order
print(round(result.score, 3), result.passed)
#> 0.077 True
print(distance('{"a": 1', '{"a": 1}').label)
#> truncated
