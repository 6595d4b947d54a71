from llmeval_integrations import StringDistance

print(round(StringDistance()("Harbor Ltd", "Harbour Ltd").score, 3))
#> 0.018
edits = StringDistance("levenshtein", normalize_score=False, threshold=2)
result = edits("Harbor Ltd", "Harbour Ltd")
print(result.score, result.passed)
#> 1.0 True
