from llmeval_integrations import RegexMatch

iso_date = RegexMatch(r"\d{4}-\d{2}-\d{2}", where="fullmatch")
for output in ("2024-02-29", "29 February 2024"):
    result = iso_date(output)
    print(result.score, result.reason)
#> 1.0 None
#> 0.0 Does not match '\\d{4}-\\d{2}-\\d{2}'
