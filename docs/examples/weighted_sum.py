from llmeval_integrations import JsonMatch, JsonValidity, LengthPenalty, WeightedSum

reward = WeightedSum({
    JsonValidity(): 0.2,
    JsonMatch(): 1.0,
    LengthPenalty(min_length=0, max_length=20): 0.5,
})
print(reward('{"total": 13}', '{"total": 13}').score)
#> 1.2
result = reward('{"total": 13, "why": "as it says"}', '{"total": 13}')
print(round(result.score, 3), result.label)
#> 0.13 json_match: extra
print(result.reason)
#> 0.2 * json_validity 1 + 1 * json_match 0 + 0.5 * length_penalty -0.14 = 0.13
