from llmeval_integrations import NgramRepetitionPenalty

penalty = NgramRepetitionPenalty(n=2, penalty_threshold=0.3)
print(penalty("The invoice is due on Friday, and nobody has paid it.").score)
#> 0.0
result = penalty("I am sure. I am sure. I am sure. I am sure.")
print(round(result.score, 2), result.metadata["repetition_rate"])
#> -0.43 0.7272727272727273
