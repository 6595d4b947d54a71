from llmeval_integrations import JsonEquality

equality = JsonEquality()
print(equality('{"a": 1.0, "b": [1, 2]}', '{"b": [1, 2], "a": 1}').score)
#> 1.0
print(equality('{"a": true}', '{"a": 1}').score)
#> 0.0
print(equality("[2, 1]", "[1, 2]").score)
#> 0.0
print(JsonEquality(list_order="any")("[2, 1]", "[1, 2]").score)
#> 1.0
