from llmeval_integrations import ExactMatch

print(ExactMatch()("Yes.", "yes").score)
#> 0.0
print(ExactMatch(ignore_case=True, ignore_punctuation=True)("Yes.", "yes").score)
#> 1.0
