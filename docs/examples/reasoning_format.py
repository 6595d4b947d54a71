from llmeval_integrations import ReasoningFormat

print(ReasoningFormat()("<think>2 + 2</think><answer>4</answer>").score)
#> 1.0
result = ReasoningFormat(think_token="reasoning")("<reasoning>2 + 2</reasoning> 4")
print(result.score, result.reason)
#> 0.0 Missing <answer></answer> tags
