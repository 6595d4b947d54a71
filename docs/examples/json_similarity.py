from llmeval_integrations import JsonSimilarity

reference = {"vendor": "Harbour Ltd", "total": "12.50"}
similarity = JsonSimilarity(threshold=0.9)
result = similarity({"vendor": "Harbor Ltd", "total": "12.50"}, reference)
print(round(result.score, 3), result.passed)
#> 0.955 True
print(similarity({"vendor": "Acme", "total": "12.50"}, reference).score)
#> 0.5
